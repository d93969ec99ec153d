"""lazy_patterns.py"""

import re

import pytest

from tooltray.foundation.lazy_patterns import lazy_pattern


def test_it_is_used_like_a_compiled_one() -> None:
    words = lazy_pattern(r"[a-z]+", re.IGNORECASE)
    assert words.pattern == "[a-z]+"
    assert words.findall("one TWO 3") == ["one", "TWO"]
    assert words.sub("x", "one TWO 3") == "x x 3"
    assert lazy_pattern(b"[0-9]").search(b"a1")


def test_it_is_compiled_at_its_first_use_and_then_no_more(monkeypatch: pytest.MonkeyPatch) -> None:
    compiled: list[str] = []
    compile_now = re.compile
    monkeypatch.setattr(re, "compile", lambda pattern, flags: compiled.append(pattern) or compile_now(pattern, flags))
    letter = lazy_pattern("a")
    assert compiled == []
    assert letter.match("a")
    assert letter.match("a")
    assert compiled == ["a"]


def test_an_error_in_it_is_raised_at_its_first_use() -> None:
    broken = lazy_pattern("(")
    with pytest.raises(re.error):
        broken.match("")
