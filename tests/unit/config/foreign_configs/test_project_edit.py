"""project_edit.py: one entry of a project's file is written or taken out, every other byte stays."""

import json
from typing import Any

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.config.foreign_configs.project_edit import with_entry, without_entry
from tooltray.foundation.files.json_places import CannotRead, read

ENTRY = {"command": "npx", "args": ["-y"]}
WRITTEN = '"new": {\n      "command": "npx",\n      "args": [\n        "-y"\n      ]\n    }'


@pytest.mark.parametrize("text", ["", "\n", "{}\n"])
def test_a_file_that_has_nothing_in_it_gets_all_that_it_needs(text: str) -> None:
    assert with_entry(text, "new", ENTRY) == '{\n  "mcpServers": {\n    ' + WRITTEN + "\n  }\n}\n"


def test_a_mark_at_the_beginning_stays() -> None:
    for text in ("\ufeff", "\ufeff{}"):
        after = with_entry(text, "new", ENTRY)
        assert after.startswith("\ufeff{")
        assert read(after).content == {"mcpServers": {"new": ENTRY}}


def test_a_new_entry_stands_behind_the_others_and_nothing_else_changes() -> None:
    text = '{\n  // ours\n  "mcpServers": {\n    "b": {"command": "b"}, // first\n    "a": {"url": "http://a"} // last\n  },\n  "z": 1\n}\n'
    expected = text.replace('"http://a"} // last', '"http://a"}, // last\n    ' + WRITTEN)
    assert with_entry(text, "new", ENTRY) == expected


def test_line_ends_and_tabs_stay() -> None:
    text = '{\r\n\t"mcpServers": {\r\n\t\t"a": {}\r\n\t}\r\n}\r\n'
    after = with_entry(text, "new", {"url": "http://a"})
    assert after == '{\r\n\t"mcpServers": {\r\n\t\t"a": {},\r\n\t\t"new": {\r\n\t\t\t"url": "http://a"\r\n\t\t}\r\n\t}\r\n}\r\n'
    assert without_entry(after, "new") == text


def test_of_an_entry_that_is_there_only_what_differs_changes() -> None:
    text = '{"mcpServers": {"new": {"args": ["-y"], /* why */ "command": "node", "cwd": "x"}}}'
    assert with_entry(text, "new", ENTRY) == '{"mcpServers": {"new": {"args": ["-y"], /* why */ "command": "npx"}}}'


@pytest.mark.parametrize(
    ("text", "servers"),
    [
        ('{"a": {"command": "a"}}', []),
        ('{"servers": {"a": {"command": "a"}}}', ["servers"]),
        ('{"servers": null}', ["servers"]),
        ('{"mcpServers": null}', ["mcpServers"]),
        ('{"inputs": []}', ["mcpServers"]),
    ],
)
def test_an_entry_comes_to_where_the_others_are(text: str, servers: list[str]) -> None:
    after = read(with_entry(text, "new", ENTRY)).content
    for key in servers:
        after = after[key]
    assert after["new"] == ENTRY


def test_an_entry_that_stands_there_twice_goes_wherever_it_is() -> None:
    text = '{"mcpServers": {"a": {"command": "1"}, "b": {"command": "b"}, "a": {"command": "2"}}}'
    assert read(without_entry(text, "a")).content == {"mcpServers": {"b": {"command": "b"}}}


def test_the_last_entry_leaves_an_empty_list() -> None:
    assert without_entry('{"mcpServers": {"a": {}}}', "a") == '{"mcpServers": {}}'


@pytest.mark.parametrize(
    "text", ["", "{", "[]", '{"mcpServers": []}', '{"command": "a"}', '{"mcpServers": null}', "{}", '{"mcpServers": {"b": {}}}']
)
def test_an_entry_that_is_not_there_cannot_be_taken_out(text: str) -> None:
    with pytest.raises(CannotRead):
        without_entry(text, "a")


@pytest.mark.parametrize("text", ["{", "[]", '{"mcpServers": []}', '{"command": "a"}', "{'a': 1}"])
def test_what_cannot_be_read_is_not_written(text: str) -> None:
    with pytest.raises(CannotRead):
        with_entry(text, "a", ENTRY)


ENTRIES = st.dictionaries(
    st.sampled_from(["command", "url", "args", "env"]), st.text(max_size=4) | st.lists(st.integers(), max_size=2), max_size=3
)
SERVERS = st.dictionaries(st.sampled_from(["a", "b", "c", "d e", "é"]), ENTRIES, max_size=4)


@given(
    servers=SERVERS, name=st.sampled_from(["a", "new", "é"]), entry=ENTRIES, indent=st.sampled_from([None, 1, 4, "\t"]), rest=st.booleans()
)
def test_what_is_written_is_read_and_what_is_taken_out_is_gone(
    servers: dict[str, Any], name: str, entry: dict[str, Any], indent: int | str | None, rest: bool
) -> None:
    around = {"inputs": [1]} if rest else {}
    text = json.dumps({"mcpServers": servers} | around, indent=indent)
    after = with_entry(text, name, entry)
    assert read(after).content == {"mcpServers": servers | {name: entry}} | around
    assert with_entry(after, name, entry) == after
    left = {other: value for other, value in servers.items() if other != name}
    assert read(without_entry(after, name)).content == {"mcpServers": left} | around
    if name not in servers and servers:
        assert without_entry(after, name) == text
