"""pages.py: a page is as much as fits, ends behind a line or a character, and always has something."""

from collections.abc import Sequence

import pytest

from tooltray.gateway.kept_results.pages import page


def words(texts: Sequence[str]) -> list[int]:
    return [len(text.split()) for text in texts]


def characters(texts: Sequence[str]) -> list[int]:
    return [len(text) for text in texts]


def unknown(texts: Sequence[str]) -> None:
    return None


def test_a_text_that_fits_is_all_of_the_page_and_was_not_counted() -> None:
    begun = page([b"ab", b"cd"], 4, unknown)
    assert (begun.utf8, begun.tokens, begun.is_all) == (b"abcd", 4, True)


def test_a_text_of_long_tokens_is_looked_at_as_far_as_is_needed() -> None:
    text = (b"w" * 29 + b" ") * 600
    begun = page([text], 500, words)
    assert not begun.is_all
    assert 14_000 < len(begun.utf8) < 15_000
    assert page([text], 620, words).is_all


def test_a_page_ends_behind_a_line_where_little_is_lost_by_it() -> None:
    lines = b"".join(b"line %d\n" % number for number in range(1000))
    begun = page([lines], 1000, characters)
    assert begun.utf8.endswith(b"\n")
    assert 950 < len(begun.utf8) <= 1000
    assert len(page([b"first\n" + b"x" * 5000], 1000, characters).utf8) == 1000


@pytest.mark.parametrize("character", ["ü", "漢", "🎉"])
def test_characters_stay_whole_and_a_page_has_one_at_least(character: str) -> None:
    def each_is_five(texts: Sequence[str]) -> list[int]:
        return [5 * len(text) for text in texts]

    text = (character * 500).encode()
    for tokens in (1, 5, 7, 64, 99):
        begun = page([text], tokens, each_is_five).utf8.decode()
        assert begun == character * len(begun)
        assert len(begun) >= 1


def test_tokens_are_estimated_where_nobody_counts_them() -> None:
    begun = page([b"x" * 10_000], 1000, unknown)
    assert 4000 < len(begun.utf8) < 4800
