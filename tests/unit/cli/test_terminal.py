"""Text from servers on its way to a terminal."""

import fcntl
import json
import os
import pty
import struct
import termios

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.cli import terminal
from tooltray.foundation.errors import Problem


@pytest.mark.parametrize(
    ("text", "shown"),
    [
        ("\x1b[31mred\x1b[0m", "red"),
        ("\x1b]0;new title\x07text", "text"),
        ("\x1b]8;;http://x\x1b\\link\x1b]8;;\x1b\\", "link"),
        ("\x1bPdevice\x1b\\x", "x"),
        ("\x9b2Jcleared", "cleared"),
        ("\x1b(Bcharset\x1bc", "charset"),
        ("unfinished \x1b]title", "unfinished title"),
        ("bell\x07 back\x08 delete\x7f", "bell back delete"),
        ("tab\tand\nline", "tab\tand\nline"),
        ("windows\r\nold\rmac", "windows\nold\nmac"),
        ("user\u202egnp.exe", "usergnp.exe"),
        ("a\ud800b", "a\ufffdb"),
        ("繁體中文 🙂", "繁體中文 🙂"),
    ],
)
def test_text_keeps_its_letters_and_loses_what_moves_a_terminal(text: str, shown: str) -> None:
    assert terminal.clean(text) == shown


@given(st.text(alphabet=st.characters(codec=None)))
def test_no_control_character_is_ever_left(text: str) -> None:
    left = terminal.clean(text)
    assert not any((ord(each) < 32 and each not in "\t\n") or 0x7F <= ord(each) < 0xA0 for each in left)
    left.encode("utf-8")


def test_a_line_stays_one_line() -> None:
    assert terminal.clean_line(" two\n\x1b[1mlines \t here ") == "two lines here"


def test_wide_characters_take_two_columns_and_marks_none() -> None:
    assert terminal.width("abc") == 3
    assert terminal.width("中文") == 4
    assert terminal.width("e\u0301") == 1


def test_a_line_that_is_too_long_ends_with_an_ellipsis() -> None:
    assert terminal.cut("12345", 5) == "12345"
    assert terminal.cut("123456", 5) == "1234…"
    assert terminal.cut("中文字", 4) == "中…"


def test_columns_of_a_table_stand_below_each_other_with_wide_characters_too(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_table(("NAME", "STATE"), [("檔案", "running"), ("a\x1b[1m", "error\nhere")])
    lines = capsys.readouterr().out.splitlines()
    assert lines == ["NAME  STATE", "檔案  running", "a     error here"]


def test_a_table_that_goes_to_a_file_is_not_cut(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_table(("NAME", "TEXT"), [("a", "x" * 500)])
    assert "x" * 500 in capsys.readouterr().out


def test_a_table_fits_into_its_terminal(monkeypatch: pytest.MonkeyPatch) -> None:
    reader, writer = pty.openpty()
    fcntl.ioctl(writer, termios.TIOCSWINSZ, struct.pack("HHHH", 24, 40, 0, 0))
    with open(writer, "w", encoding="utf-8") as out, monkeypatch.context() as patch:
        patch.setattr("sys.stdout", out)
        assert terminal.columns_of_terminal() == 40
        terminal.print_table(("NAME", "TEXT"), [("a", "x" * 500)])
        out.flush()
        shown = ""
        while shown.count("\n") < 2:
            shown += os.read(reader, 10_000).decode()
    os.close(reader)
    assert max(len(line) for line in shown.splitlines()) == 40
    assert shown.splitlines()[1].endswith("x…")


def test_json_is_readable_and_harmless() -> None:
    value = {"name": "檔案", "text": "\x1b[31m\x9b\u202e\ud800\x7f"}
    text = terminal.to_json(value)
    assert "檔案" in text
    assert not any(each in text for each in "\x1b\x9b\u202e\ud800\x7f")
    assert json.loads(text) == value


def test_an_error_is_one_line_with_what_why_and_what_to_do(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_error(Problem("It failed", "line one\nline \x1b[1mtwo", "Do this"), as_json=False)
    assert capsys.readouterr().err == "tooltray: It failed: line one line two. Do this\n"


def test_an_error_is_a_json_object_where_json_was_asked_for(capsys: pytest.CaptureFixture[str]) -> None:
    terminal.print_error(Problem("It failed", "why", "Do this"), as_json=True)
    printed = capsys.readouterr()
    assert json.loads(printed.err) == {"error": {"title": "It failed", "message": "why", "hint": "Do this"}}
    assert printed.out == ""


def test_one_tool_is_no_plural() -> None:
    assert [terminal.count(number, "tool") for number in (0, 1, 2)] == ["0 tools", "1 tool", "2 tools"]


def test_a_problem_from_the_hub_is_one_line() -> None:
    assert terminal.problem_line(Problem("A", "b", "c\x1b[0m")) == "A: b: c"
    assert terminal.problem_line(None) == ""
