"""text_search.py: lines with words in them, of any text, with patterns that cannot take for ever."""

import pytest

from tooltray.foundation.errors import TooltrayError
from tooltray.gateway.kept_results import text_search
from tooltray.gateway.kept_results.text_search import LONGEST_SEARCH_S, Bounded, Line, found, lines, matcher


def test_lines_are_numbered_and_placed_however_the_text_comes() -> None:
    text = "eins\nzwei\n\ndrëi".encode()
    expected = [Line(1, 0, b"eins"), Line(2, 5, b"zwei"), Line(3, 10, b""), Line(4, 11, "drëi".encode())]
    for size in (4, 7, 100):
        assert list(lines(text[at : at + size] for at in range(0, len(text), size))) == expected


def test_a_long_line_is_seen_in_windows_that_overlap(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(text_search, "READ_BYTES", 1000)
    text = ("漢" * 1000 + "needle" + "字" * 1000).encode()
    hits = list(found(lines(text[at : at + 699] for at in range(0, len(text), 699)), matcher("needle", is_pattern=False)))
    assert [hit.number for hit in hits] == [1]
    assert all(text[hit.at : hit.at + len(hit.utf8)] == hit.utf8 for hit in hits)


def test_a_pattern_is_a_regular_expression_only_if_it_says_so() -> None:
    assert matcher("a.c", is_pattern=True)("xabcx")
    assert not matcher("a.c", is_pattern=False)("xabcx")
    assert matcher("a.c", is_pattern=False)("xa.cx")


def test_no_pattern_takes_for_ever() -> None:
    assert not matcher("(a+)+$", is_pattern=True)("a" * 50_000 + "b")


@pytest.mark.parametrize("pattern", ["", "x" * 1001, "(?=a)", "[", r"(a)\1", "a{1000}{1000}{10}"])
def test_what_cannot_be_looked_for_is_refused_in_words(pattern: str) -> None:
    with pytest.raises(TooltrayError):
        matcher(pattern, is_pattern=True)


def test_a_search_ends_after_a_while_and_says_where() -> None:
    times = iter([0.0, 1.0, LONGEST_SEARCH_S])
    searched = Bounded(lines([b"a\nb\nc\n"]), now=lambda: next(times))
    assert [line.utf8 for line in searched] == [b"a"]
    assert searched.stopped_at == 2
    whole = Bounded(lines([b"a\nb\n"]))
    assert len(list(whole)) == 2
    assert whole.stopped_at is None
