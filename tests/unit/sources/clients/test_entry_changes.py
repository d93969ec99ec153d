"""entry_changes.py: one entry comes or goes, in whichever format, and nothing else of the text changes."""

from pathlib import Path

import pytest
from tests.fakes.client_files import KINDS

from tooltray.foundation.files.json_places import CannotRead
from tooltray.sources.clients.client_kinds import Format
from tooltray.sources.clients.entry_changes import EntryChange, changed, content_of, full_content, made_for, named_place, without
from tooltray.sources.clients.found_entries import FoundEntry

ENTRY = {"command": "x"}


def found(*place: str | int) -> FoundEntry:
    return FoundEntry(client=KINDS["continue"], path=Path("/x"), project="", name="a", entry=ENTRY, place=place, line=1, kind="server")


def test_an_item_of_a_list_is_found_again_by_its_name() -> None:
    assert named_place(found("mcpServers", 3)) == ("mcpServers", "a")
    assert full_content(found("mcpServers", 3)) == {"name": "a", **ENTRY}


def test_a_member_is_found_again_by_its_key() -> None:
    assert named_place(found("mcpServers", "b")) == ("mcpServers", "b")
    assert full_content(found("mcpServers", "b")) == ENTRY


@pytest.mark.parametrize("text", ["", "\ufeff", " \n"])
@pytest.mark.parametrize("format", ["json", "toml", "yaml"])
def test_an_empty_text_holds_nothing(text: str, format: Format) -> None:
    assert content_of(text, format) is None


@pytest.mark.parametrize(
    ("format", "text"), [("json", '{"a": 1}'), ("json", '\ufeff{"a": 1, // one\n}'), ("toml", "\ufeffa = 1"), ("yaml", "\ufeffa: 1")]
)
def test_each_format_is_read_with_a_byte_order_mark_and_comments(format: Format, text: str) -> None:
    assert content_of(text, format) == {"a": 1}


def test_the_outermost_holder_that_has_to_be_made_is_known() -> None:
    place = ("a", "b", "name")
    assert made_for({}, place) == ("a",)
    assert made_for({"a": None}, place) == ("a",)
    assert made_for({"a": {}}, place) == ("a", "b")
    assert made_for({"a": {"b": {}}}, place) == ()


@pytest.mark.parametrize(
    ("text", "after"),
    [
        ("", '{\n  "s": {\n    "n": {\n      "command": "x"\n    }\n  }\n}\n'),
        ("\ufeff", '\ufeff{\n  "s": {\n    "n": {\n      "command": "x"\n    }\n  }\n}\n'),
    ],
)
def test_an_empty_file_gets_all_around_an_entry(text: str, after: str) -> None:
    assert changed(text, "json", [EntryChange(("s", "n"), ENTRY)]) == after


@pytest.mark.parametrize(
    ("format", "text"),
    [
        ("json", '{"s": {"a": {"command": "y"}}, "other": 1} // mine\n'),
        ("toml", "other = 1 # mine\n\n[s.a]\ncommand = 'y'\n"),
        ("yaml", "other: 1 # mine\ns:\n  a:\n    command: y\n"),
    ],
)
def test_what_was_put_in_goes_again_and_the_rest_is_as_it_was(format: Format, text: str) -> None:
    more = changed(text, format, [EntryChange(("s", "n"), ENTRY)])
    assert content_of(more, format) == {"s": {"a": {"command": "y"}, "n": ENTRY}, "other": 1}
    assert "mine" in more
    assert content_of(changed(more, format, [EntryChange(("s", "n"))]), format) == content_of(text, format)


@pytest.mark.parametrize("text", ["a: 1\n", "a: 1\ns:\n"])
def test_a_list_of_servers_is_made_where_there_is_none(text: str) -> None:
    after = changed(text, "yaml", [EntryChange(("s", "n"), {"name": "n", **ENTRY}, is_list=True)])
    assert content_of(after, "yaml") == {"a": 1, "s": [{"name": "n", **ENTRY}]}


@pytest.mark.parametrize("format", ["json", "toml", "yaml"])
def test_what_is_not_there_cannot_be_taken_out(format: Format) -> None:
    text = {"json": '{"s": {}}', "toml": "[s]\n", "yaml": "s: {}\n"}[format]
    with pytest.raises(CannotRead):
        without(text, format, ("s", "gone"))
