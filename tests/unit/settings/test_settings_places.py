"""settings/settings_places.py: on which line that stands which cannot be used."""

import json
from typing import Any

import pytest

from tooltray.errors import Problem
from tooltray.phrases import Phrase
from tooltray.settings import settings_places
from tooltray.settings.settings import read_settings
from tooltray.settings.settings_places import SettingsPlaces
from tooltray.settings.usable import Slip
from tooltray.snapshots.files import FileProblem

TEXT = """\
{
  "version": 1,
  "mcpServers": {
    "good": {"command": "x"},
    "neither": {
      "args": []
    },
    "odd/name": {"command": "x"},
    "deep": {
      "command": "x",
      "args": [
        "a",
        {}
      ]
    },
    "shown": {
      "command": "x",
      "toolOverrides": {"t": 1}
    },
    "url": {"type": "http",
      "url": "ftp://h"
    },
    "nothing": 3
  },
  "publish": {
    "http": {
      "port": -1
    },
    "clients": {
      "acme": {
        "mode": "some"
      }
    }
  },
  "profiles": {
    "small": 1
  },
  "fileServers": {
    "far": []
  },
  "allowedFolders": [
    "/a",
    3
  ],
  "defaultServers": "good",
  "secrets": {
    "backend": "plain"
  },
  "mcpEnabled": 1
}
"""


def located(text: str, encoding: str = "utf-8") -> tuple[FileProblem, ...]:
    slips = read_settings(json.loads(text)).slips
    return SettingsPlaces(text.encode(encoding)).located(slips)


def test_each_slip_has_the_line_on_which_it_stands_and_the_server_that_is_not_used() -> None:
    lines = TEXT.splitlines()
    assert [(lines[each.line - 1].strip(), each.entry) for each in located(TEXT)] == [
        ('"neither": {', "neither"),
        ('"odd/name": {"command": "x"},', "odd/name"),
        ("{}", "deep"),
        ('"toolOverrides": {"t": 1}', ""),
        ('"url": {"type": "http",', "url"),
        ('"nothing": 3', "nothing"),
        ('"defaultServers": "good",', ""),
        ('"mcpEnabled": 1', ""),
        ('"http": {', ""),
        ('"mode": "some"', ""),
        ('"backend": "plain"', ""),
        ('"small": 1', ""),
        ("3", ""),
        ('"far": []', ""),
    ]


def test_what_is_wrong_is_said_with_its_line_and_can_be_said_in_another_language() -> None:
    problems = {each.entry: each.problem for each in located(TEXT) if each.entry}
    assert problems["neither"] == Problem(
        "The entry of server 'neither' cannot be used", "line 5: it has neither a command nor a URL", "Correct it in settings.json"
    )
    assert problems["deep"].message == "line 13: args.1: must be text"
    parts = [part for each in located(TEXT) for part in (each.problem.title, each.problem.message, each.problem.hint)]
    assert {type(part) for part in parts} == {Phrase}


def test_lines_are_counted_behind_a_mark_and_with_any_line_ends() -> None:
    text = TEXT.replace("\n", "\r\n")
    assert [each.line for each in located(text, "utf-8-sig")] == [each.line for each in located(TEXT)]


@pytest.mark.parametrize("path", [(), ("nowhere",), ("mcpServers", "good", "args", 0)])
def test_what_is_not_there_has_the_line_of_the_part_that_lacks_it(path: tuple[Any, ...]) -> None:
    [found] = SettingsPlaces(TEXT.encode()).located([Slip(Problem("it"), path)])
    assert found.line == (4 if len(path) > 1 else 0)


def test_a_text_that_is_too_much_to_look_through_is_told_without_lines(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(settings_places, "MAX_VALUES", 1000)
    text = json.dumps({"mcpEnabled": 1, "more": list(range(1000))})
    assert [(each.line, each.problem.message) for each in located(text)] == [(0, "mcpEnabled: must be true or false")]
    assert "'a' stands here" in SettingsPlaces(text.encode()).repeated("a")


def test_a_key_that_stands_twice_has_the_line_of_the_second() -> None:
    places = SettingsPlaces(b'{"mcpServers": {\n "a": {},\n "a": {}}}')
    assert places.repeated("a") == "line 3: 'a' stands here a second time; the last one counts"
    assert places.repeated("b") == "'b' stands here a second time; the last one counts"
