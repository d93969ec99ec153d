"""Arguments and results that are kept whole have no known secret in them, however it is spelled."""

import json

import pytest
from msgspec import Raw
from tests.fakes.journals import SECRET, large

from tooltray.protocol.envelope import NOTHING, dump
from tooltray.records.activity.masking import Mask
from tooltray.records.journal.kept_contents import LARGEST_BYTES, beginning, masked_json


def mask(*secrets: str) -> Mask:
    made = Mask(lambda: secrets)
    made.refresh()
    return made


def test_without_secrets_the_text_is_as_it_came() -> None:
    assert masked_json(Raw(b'{ "a": [1.50, null] }'), mask()) == ('{ "a": [1.50, null] }', False)
    assert masked_json(NOTHING, mask()) == ("", False)


def test_a_secret_is_masked_in_values_and_names_however_it_is_spelled() -> None:
    spelled = "".join(f"\\u{ord(sign):04x}" for sign in SECRET)
    raw = Raw(f'{{"a": ["{spelled}", {{"x{SECRET}": "{SECRET}"}}], "n": 123456, "f": true, "m": null}}'.encode())
    text, is_cut = masked_json(raw, mask(SECRET, "123456"))
    assert json.loads(text) == {"a": ["***", {"x***": "***"}], "n": "***", "f": True, "m": None}
    assert not is_cut


@pytest.mark.parametrize("raw", [b'{"a": "' + SECRET.encode() + b'", ', b"\xff" + SECRET.encode(), b"[" * 2000 + SECRET.encode()])
def test_what_is_no_json_is_masked_as_text(raw: bytes) -> None:
    text, _ = masked_json(Raw(raw), mask(SECRET))
    assert SECRET not in text
    assert "***" in text


def test_what_is_too_large_is_cut_and_leaves_no_half_of_a_secret() -> None:
    raw = Raw(b'{"a": "' + b"x" * (LARGEST_BYTES - 12) + SECRET.encode() + b"y" * LARGEST_BYTES + b'"}')
    for given in (raw, beginning(raw)):
        text, is_cut = masked_json(given, mask(SECRET))
        assert is_cut
        assert len(text.encode()) <= LARGEST_BYTES
        assert SECRET[:4] not in text


def test_a_cut_leaves_whole_characters() -> None:
    text, is_cut = masked_json(dump({"a": "€" * LARGEST_BYTES}), mask())
    assert (text[-1], is_cut) == ("€", True)
    assert masked_json(large(10), mask())[1] is False
