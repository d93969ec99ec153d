"""declarations.py"""

from typing import Any

import pytest
from msgspec import Raw

from tooltray.protocol import declarations
from tooltray.protocol.declarations import MOST_BYTES, MOST_NAMES, VIEWS_EXTENSION, shows_views
from tooltray.protocol.envelope import dump


def nested(levels: int) -> dict[str, Any]:
    return {"in": nested(levels - 1)} if levels else {}


@pytest.mark.parametrize(
    "capabilities",
    [
        None,
        ["extensions"],
        "extensions",
        {"extensions": ["a"]},
        {"extensions": "a", "experimental": None},
        {"extensions": {"a": True, "b": None, "c": [], "d": "x"}},
        {"extensions": {"a": nested(17)}},
        {"extensions": {"a": {"b": [nested(16)]}}},
        {"extensions": {"a": {"b": "\ud800"}, "\ud800": {}}},
        {"extensions": {"a": {"b": "x" * MOST_BYTES}}},
    ],
)
def test_what_has_another_type_or_is_too_much_is_left_out(capabilities: Any) -> None:
    assert declarations.read(capabilities) == {}


def test_of_ten_thousand_some_are_taken_and_of_much_as_much_as_there_is_room_for() -> None:
    many = declarations.read({"extensions": {f"x/{n}": {} for n in range(10_000)}})
    assert list(many["extensions"]) == [f"x/{n}" for n in range(MOST_NAMES)]
    large = {name: {"x": "y" * (MOST_BYTES // 2)} for name in "ab"}
    assert list(declarations.read({"extensions": large, "experimental": {"c": {}}}).items()) == [
        ("extensions", {"a": large["a"]}),
        ("experimental", {"c": {}}),
    ]


@pytest.mark.parametrize(
    ("text", "found"),
    [
        (b'{"roots":{}}', {}),
        (b'{"extensions":{"a/b":{"x":1}},"roots":{}}', {"extensions": {"a/b": {"x": 1}}}),
        (b'{"experimental":{"c":{}}}', {"experimental": {"c": {}}}),
        (b'{"extensions":' + b"[" * 100_000 + b"]" * 100_000 + b"}", {}),
    ],
)
def test_capabilities_are_read_as_they_came(text: bytes, found: Any) -> None:
    assert declarations.read_raw(Raw(text)) == found


def test_settings_are_joined_member_by_member_and_the_first_goes_before_where_types_differ() -> None:
    together = declarations.joined(
        [
            {"extensions": {"a": {"list": [1, "x"], "on": False, "deep": {"l": {"one": 1}}, "odd": 1, "same": "v"}}},
            {"extensions": {"a": {"list": ["x", [2]], "on": True, "deep": {"l": {"two": 2}}, "odd": "1", "same": "v"}, "b": {}}},
            {"experimental": {"a": {"other": 1}}},
        ]
    )
    a = {"list": [1, "x", [2]], "on": True, "deep": {"l": {"one": 1, "two": 2}}, "odd": 1, "same": "v"}
    assert together == {"extensions": {"a": a, "b": {}}, "experimental": {"a": {"other": 1}}}
    assert declarations.names(together) == {"a", "b"}


@pytest.mark.parametrize(
    ("method", "is_named"),
    [
        ("foo", True),
        ("foo/bar", True),
        ("com.example/foo", True),
        ("com.example/foo/bar", True),
        ("food/bar", False),
        ("bar/foo", False),
        ("com.example/bar", False),
    ],
)
def test_a_method_is_named_after_an_extension_or_its_last_part(method: str, is_named: bool) -> None:
    assert declarations.is_named_after(method, "com.example/foo") is is_named
    assert not declarations.is_named_after(method, "")


def test_what_is_joined_can_be_bounded_again() -> None:
    declared = {"extensions": {"a": {"x": 1}, "b": {"x": 2}}}
    assert declarations.bounded(declared, len(bytes(dump({"a": {"x": 1}})))) == {"extensions": {"a": {"x": 1}}}


@pytest.mark.parametrize("settings", [{}, {"mimeTypes": ["text/html;profile=mcp-app"]}])
def test_a_client_shows_views_if_it_declares_the_extension(settings: Any) -> None:
    assert shows_views(dump({"roots": {}, "extensions": {VIEWS_EXTENSION: settings}}))
    assert shows_views(Raw(b'{"extensions":{"io.modelcontextprotocol\\/ui":{}}}'))


@pytest.mark.parametrize(
    "capabilities",
    [
        {},
        {"extensions": {}},
        {"extensions": {VIEWS_EXTENSION: True}},
        {"extensions": {VIEWS_EXTENSION: None}},
        {"extensions": [VIEWS_EXTENSION]},
        {"experimental": {VIEWS_EXTENSION: {}}},
        [VIEWS_EXTENSION],
    ],
)
def test_all_else_declares_nothing(capabilities: Any) -> None:
    assert not shows_views(dump(capabilities))
