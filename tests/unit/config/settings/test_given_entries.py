"""given_entries.py"""

import json

import pytest

from tooltray.config.settings.given_entries import LONGEST_TEXT, UnusableEntry, check_name, read_entry_text, read_given_entry
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.entries import EntryError


def test_what_would_run_inside_tooltray_is_added_by_a_person_at_a_terminal_alone() -> None:
    assert read_given_entry("s", {"command": "x"}).command == "x"
    with pytest.raises(UnusableEntry, match="would run inside Tooltray") as caught:
        read_given_entry("s", {"type": "inmemory", "command": "artifacts"})
    assert caught.value.path == ("type",)
    with pytest.raises(UnusableEntry) as caught:
        read_given_entry("s", {"command": "x", "args": [1, {}]})
    assert caught.value.path == ("args", 1)


@pytest.mark.parametrize("name", ["a", "x" * 64, "File System 2", "檔案", "a.b-c_d", "Hub", "🔌"])
def test_a_name_may_be_anything_printable(name: str) -> None:
    check_name(name, ("hub",))


@pytest.mark.parametrize("name", ["", "x" * 65, "a/b", "a\nb", " a", "a ", "hub", "a{b", "a}b", "a\x1b[31m", "\ud800", "\u202e"])
def test_other_names_are_refused_without_repeating_what_a_terminal_would_obey(name: str) -> None:
    with pytest.raises(TooltrayError, match="cannot be the name of a server") as caught:
        check_name(name, ("hub",))
    assert str(caught.value).isprintable()


def slips(text: str) -> list[tuple[tuple[str | int, ...], int]]:
    return [(slip.path, slip.line) for slip in read_entry_text(text).slips]


def test_an_entry_that_can_be_used_comes_back_with_what_nobody_knows() -> None:
    found = read_entry_text('{"command": "p", "x-note": [1, 1e400]}')
    assert found.entry == {"command": "p", "x-note": [1, found.entry["x-note"][1]]}  # type: ignore[index]
    assert found.slips == ()


@pytest.mark.parametrize(
    ("text", "found"),
    [
        ('{\n "command": "p",\n "args": "x"\n}', [(("args",), 3)]),
        ('{\n "command": "p",\n "args": [\n  "a",\n  {}\n ]\n}', [(("args", 1), 5)]),
        ('{\n "url": 3\n}', [(("url",), 2)]),
        ('{\n "url": "http://a",\n "headers": {\n  "A": []\n }\n}', [(("headers", "A"), 4)]),
        ('{\n "command": "p",\n "toolFilter": {"mode": "odd"}\n}', [(("toolFilter", "mode"), 3)]),
        ('{\n "command": "p",\n "toolFilter": {}\n}', [(("toolFilter", "mode"), 3)]),
        ('{\n "command": "p",\n "projects": ["here"]\n}', [(("projects", 0), 3)]),
        ('{\n "args": []\n}', [((), 1)]),
        ('{\n "command": "p",\n "idleStop": 0,\n "callTimeout": "x"\n}', [(("idleStop",), 3), (("callTimeout",), 4)]),
        ('{\n "command": "p",\n "env": {"A": "1"},\n "env": {}\n}', [((), 4)]),
        ('{\n "command": "p"\n "args": []\n}', [((), 3)]),
        ("[1]", [((), 1)]),
        ("", [((), 1)]),
    ],
)
def test_each_slip_says_where_it_is(text: str, found: object) -> None:
    assert slips(text) == found


def test_no_reason_quotes_what_somebody_typed() -> None:
    text = '{"command": 5, "env": {"TOKEN": ["hunter2"]}, "isolation": "hunter2", "type": "hunter2"}'
    assert read_entry_text(text).slips
    assert all("hunter2" not in slip.message for slip in read_entry_text(text).slips)


def test_a_text_too_long_for_an_entry_is_not_read() -> None:
    found = read_entry_text(json.dumps({"command": "p", "descriptions": "x" * LONGEST_TEXT}))
    assert (found.entry, found.slips) == (None, (EntryError("it has more than 256 KiB"),))


def test_what_our_own_reader_does_not_take_has_no_lines() -> None:
    assert slips('{"command": 1, "a": 1, "a": ' + "9" * 5000 + "}") == [((), 0), (("command",), 0)]


def test_half_a_character_is_no_reason_to_fail() -> None:
    assert read_entry_text('{"command": "\ud800"}').entry == {"command": "?"}
