"""masking.py"""

import json
from typing import Any
from urllib.parse import quote

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.records.log.masking import MASKED, MAX_DEPTH, MAX_MEMBERS, MAX_TEXT_LENGTH, Mask


def masking(*secrets: str) -> Mask:
    mask = Mask(lambda: secrets)
    mask.refresh()
    return mask


@pytest.mark.parametrize(
    ("secret", "text"),
    [
        ("s3cret", "token s3cret!"),
        ('a"b\\c\nd', json.dumps({"token": 'a"b\\c\nd'})),
        ("pässwörd", json.dumps("pässwörd")),
        ("pässwörd", json.dumps("pässwörd", ensure_ascii=False)),
        ("密码密码", json.dumps("密码密码")),
        ("a/b+c==", "https://host/?key=" + quote("a/b+c==", safe="")),
        ("a/b+c==", "https://host/" + quote("a/b+c==")),
        ("it's\ttabbed", repr({"k": "it's\ttabbed"})),
        ("half\ud800", "half\ud800"),
    ],
)
def test_a_secret_is_masked_also_where_it_stands_escaped(secret: str, text: str) -> None:
    masked = masking(secret).text(text)
    assert MASKED in masked
    assert secret not in masked
    assert json.dumps(secret)[1:-1] not in masked


def test_a_secret_within_a_secret_does_not_leave_the_rest_of_the_longer_one() -> None:
    assert masking("abcd", "abcd-efgh", "efgh").text("abcd-efgh abcd") == "*** ***"


def test_values_too_short_to_be_secrets_are_left_alone() -> None:
    assert masking("", "1", "abc").text("1 abc 1") == "1 abc 1"


def test_a_secret_is_masked_before_the_text_is_cut() -> None:
    text = masking("secret").text("x" * (MAX_TEXT_LENGTH - 3) + "secret")
    assert "sec" not in text
    assert len(text) <= MAX_TEXT_LENGTH + 1


def test_long_texts_are_cut_also_when_the_only_secret_is_longer() -> None:
    assert len(masking("s" * 10_000).text("x" * 8000)) == MAX_TEXT_LENGTH + 1


def test_values_become_plain_bounded_json_values() -> None:
    class Number(int):
        pass

    mask = masking("secret")
    assert mask.value({"a": [1, 2.5, True, None, ("secret",), {"x"}], 7: Number(8), "secret": b"secret"}) == {
        "a": [1, 2.5, True, None, ["***"], ["x"]],
        "7": "8",
        "***": "b'***'",
    }
    assert len(mask.value(list(range(1000)))) == MAX_MEMBERS
    assert len(mask.value({str(number): number for number in range(1000)})) == MAX_MEMBERS


def test_deep_values_end_at_a_bound() -> None:
    value: Any = "bottom"
    for _ in range(5000):
        value = [value]
    assert json.dumps(masking().value(value)).count("[") == MAX_DEPTH


def test_a_text_can_be_masked_by_what_is_known_at_this_moment() -> None:
    known: set[str] = set()
    mask = Mask(lambda: known)
    known.add("s3cret-value")
    text = "s3cret-value " + "x" * MAX_TEXT_LENGTH
    assert mask.masked(text) == mask.masked_whole(text)[:MAX_TEXT_LENGTH] + "…"
    assert mask.masked_whole(text) == "*** " + "x" * MAX_TEXT_LENGTH


def test_secrets_are_asked_for_at_every_refresh_and_kept_when_they_cannot_be_told() -> None:
    known: list[str] = []

    def secrets() -> list[str]:
        if not known:
            raise OSError("locked")
        return known

    mask = Mask(secrets)
    mask.refresh()
    assert mask.text("first") == "first"
    known.append("first")
    mask.refresh()
    assert mask.text("first") == MASKED
    known.clear()
    mask.refresh()
    assert mask.text("first") == MASKED


@given(st.text(st.characters(), min_size=4), st.text(st.characters()), st.text(st.characters()))
def test_no_text_keeps_a_secret(secret: str, before: str, after: str) -> None:
    mask = masking(secret)
    kept = mask.text(before + secret + after).replace(MASKED, "\0")
    assert secret not in kept or "\0" in secret
