"""shell_words.py: command lines to paste."""

import shlex
import sys

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.foundation.shell_words import joined, quoted


@pytest.fixture
def windows(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(sys, "platform", "win32")


@pytest.mark.posix
@given(st.lists(st.text(st.characters(exclude_characters="\0", exclude_categories=["Cs"]))))
def test_a_posix_shell_reads_the_words(words: list[str]) -> None:
    assert shlex.split(joined(words)) == words


@pytest.mark.parametrize(
    ("word", "line"),
    [
        ("C:\\Users\\me\\work", "C:\\Users\\me\\work"),
        ("C:\\my work", '"C:\\my work"'),
        ("C:\\my work\\", '"C:\\my work\\\\"'),
        ("", '""'),
        ("it's $(mine)", '"it\'s `$(mine)"'),
        ("a`b", "'a`b'"),
        ("${secret:key}", "'${secret:key}'"),
        ("$(calc) & calc", '"`$(calc) & calc"'),
        ("a & calc", '"a & calc"'),
        ('a" & calc & "b', '"a"" & calc & ""b"'),
        ("a\u201d; calc; \u201cb", "'a\u201d; calc; \u201cb'"),
        ("it's \u201d; calc", '"it\'s `\u201d; calc"'),
        ("a,b", '"a,b"'),
        ("@a", '"@a"'),
    ],
)
@pytest.mark.usefixtures("windows")
def test_a_shell_of_windows_starts_nothing_else(word: str, line: str) -> None:
    assert quoted(word) == line


@pytest.mark.usefixtures("windows")
def test_a_line_for_windows() -> None:
    assert joined(["tooltray", "projects", "allow", "C:\\my work"]) == 'tooltray projects allow "C:\\my work"'
