"""usable.py"""

import json
from typing import Any

import pytest

from tooltray.config.settings import usable
from tooltray.config.settings.settings import PublishSettings
from tooltray.config.settings.settings_reading import read_settings
from tooltray.config.settings.tool_override import ToolOverride
from tooltray.config.settings.usable import (
    CORRECT_IT,
    MOST_REASONS,
    SettingsPlaces,
    Slip,
    correct_it,
    joined,
    not_used,
    of_field,
    of_member,
    read_fields,
    read_members,
    read_texts,
)
from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.files import FileProblem


def test_an_object_is_read_by_those_of_its_fields_that_can_be_used() -> None:
    publish, odd = read_fields(PublishSettings, {"naming": "always", "lazy_load": 1, "http": {"port": -1, "host": 2}})
    assert (publish.naming, publish.lazy_load, publish.http.host) == ("always", False, "127.0.0.1")
    assert odd == {"lazy_load": ["lazy_load: must be true or false"], "http": ["http.host: must be text", "http.port: must be 0 or more"]}


def test_members_that_cannot_be_used_are_told_by_name_and_null_is_none() -> None:
    told: list[tuple[str, str]] = []
    read = read_members(ToolOverride, {"a": {"name": "x"}, "b": 1, "c": None}, lambda name, why: told.append((name, why)))
    assert read == {"a": ToolOverride(name="x")}
    assert told == [("b", "b: must be an object")]


def test_the_hint_says_what_counts_until_it_is_corrected() -> None:
    assert correct_it("it is off") == f"{CORRECT_IT}; until then it is off"
    assert correct_it("") == CORRECT_IT


def test_the_texts_of_a_list_are_read() -> None:
    slips: list[Slip] = []
    assert read_texts("list", None, slips) == ()
    assert read_texts("list", ["a", "b"], slips) == ("a", "b")
    assert slips == []
    assert read_texts("list", "a", slips) == ()
    assert slips == [not_used("list", "list: must be a list")]
    assert read_texts("list", ["a", None, "b"], slips) == ("a", "b")
    assert (slips[1].problem.message, slips[1].path) == ("list: 1: must be text", ("list", 1))


def test_each_reason_is_a_phrase_that_a_window_can_say_in_its_language_the_first_few_of_very_many() -> None:
    reasons = [of_field(f"a\n{number}", Phrase("must be text")) for number in range(MOST_REASONS + 2)]
    text = joined(reasons)
    assert isinstance(text, Phrase)
    assert text.startswith("a?0: must be text; a?1: must be text; ")
    assert text.endswith("a?7: must be text; and 2 more")
    assert joined(reasons[:1]) is reasons[0]


def test_what_is_wrong_in_a_part_of_a_part_is_told_by_the_way_to_it_and_several_things_by_the_part() -> None:
    reason = of_field("inner", Phrase("must be text"))
    assert of_member("outer", reason) == "outer.inner: must be text"
    assert of_member("outer", joined([reason, reason])) == "outer: inner: must be text; inner: must be text"


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
    monkeypatch.setattr(usable, "MAX_VALUES", 1000)
    text = json.dumps({"mcpEnabled": 1, "more": list(range(1000))})
    assert [(each.line, each.problem.message) for each in located(text)] == [(0, "mcpEnabled: must be true or false")]
    assert "'a' stands here" in SettingsPlaces(text.encode()).repeated("a")


def test_a_key_that_stands_twice_has_the_line_of_the_second() -> None:
    places = SettingsPlaces(b'{"mcpServers": {\n "a": {},\n "a": {}}}')
    assert places.repeated("a") == "line 3: 'a' stands here a second time; the last one counts"
    assert places.repeated("b") == "'b' stands here a second time; the last one counts"
