"""registry_json.py: what registries say of servers is read, whoever wrote it, and odd parts are left out."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooltray.sources.discovery.registry_json import MAX_TEXT, read_described

NEW: dict[str, Any] = {
    "server": {
        "name": "io.github.owner/notes",
        "title": "Notes",
        "description": "Keeps\nnotes \u202edesrever",
        "version": "1.2.0",
        "repository": {"url": "https://github.com/owner/notes", "source": "github"},
        "websiteUrl": "https://notes.example",
        "packages": [
            {
                "registryType": "npm",
                "registryBaseUrl": "https://r.example",
                "identifier": "@owner/notes",
                "version": "1.2.0",
                "fileSha256": "AB" * 32,
                "runtimeHint": "npx",
                "transport": {"type": "stdio"},
                "runtimeArguments": [{"type": "named", "name": "-y"}],
                "packageArguments": [
                    {"type": "positional", "valueHint": "folder", "isRequired": True, "isRepeated": True, "format": "filepath"},
                    {"type": "named", "name": "--port", "format": "number", "default": 80},
                ],
                "environmentVariables": [
                    {"name": "KEY", "isSecret": True, "value": "Bearer {token}", "variables": {"token": {"isRequired": True}, "odd": 3}},
                    {"name": "MODE", "choices": ["a", "b", {}], "default": True, "placeholder": "a or b"},
                ],
            }
        ],
        "remotes": [{"type": "streamable-http", "url": "https://{t}.example/mcp", "headers": [{"name": "X"}], "variables": {"t": {}}}],
        "_meta": {"io.modelcontextprotocol.registry/publisher-provided": {"tools": ["add", {"name": "list"}, 3, ""]}},
    },
    "_meta": {"io.modelcontextprotocol.registry/official": {"status": "deprecated", "updatedAt": "2026-01-02"}},
}
OLD: dict[str, Any] = {
    "name": "io.github.owner/notes",
    "description": "Keeps notes",
    "status": "deprecated",
    "version_detail": {"version": "0.9"},
    "website_url": "javascript:alert(1)",
    "packages": [
        {
            "registry_name": "PyPI",
            "name": "notes",
            "version": "0.9",
            "runtime_hint": "uvx",
            "file_sha256": "cd",
            "package_arguments": [{"type": "named", "name": "--port", "is_required": True, "value_hint": "port", "is_repeated": True}],
            "environment_variables": [{"name": "KEY", "is_secret": True}],
        }
    ],
    "remotes": [{"transport_type": "streamable", "url": "https://notes.example"}, {"type": "sse", "url": "https://notes.example/sse"}],
}


def test_an_entry_of_today_is_read_whole() -> None:
    found = read_described(NEW)
    assert found is not None
    assert (found.name, found.title, found.version, found.status) == ("io.github.owner/notes", "Notes", "1.2.0", "deprecated")
    assert found.description == "Keeps notes desrever"
    assert (found.repository, found.website, found.updated) == ("https://github.com/owner/notes", "https://notes.example", "2026-01-02")
    assert found.kinds == ("npm", "remote")
    assert found.tools == ("add", "list")
    (package,) = found.packages
    assert (package.sha256, package.registry, package.runtime) == ("ab" * 32, "https://r.example", "npx")
    assert package.package_arguments[0].hint == "folder"
    assert package.package_arguments[0].is_repeated
    assert package.package_arguments[1].input.default == "80"
    key, mode = (value for _, value in package.environment)
    assert key.value == "Bearer {token}"
    assert dict(key.variables)["token"].is_required
    assert len(key.variables) == 1
    assert (mode.choices, mode.default, mode.placeholder) == (("a", "b"), "true", "a or b")
    assert dict(found.remotes[0].variables).keys() == {"t"}


def test_an_entry_of_the_first_schema_is_read_as_well() -> None:
    found = read_described(OLD)
    assert found is not None
    assert (found.version, found.status, found.website, found.title) == ("0.9", "deprecated", "", "")
    (package,) = found.packages
    assert (package.kind, package.identifier, package.transport, package.runtime, package.sha256) == ("pypi", "notes", "stdio", "uvx", "cd")
    (argument,) = package.package_arguments
    assert (argument.input.is_required, argument.hint, argument.is_repeated) == (True, "port", True)
    assert package.environment[0][1].is_secret
    assert [remote.type for remote in found.remotes] == ["streamable-http", "sse"]


@pytest.mark.parametrize(
    "item", [None, 3, [], {}, {"server": {}}, {"name": 7}, {"name": "no slash"}, {"name": "a/b\n"}, {"name": "a/" + "b" * 300}]
)
def test_what_has_no_name_is_no_server(item: object) -> None:
    assert read_described(item) is None


def test_odd_parts_are_left_out_one_by_one() -> None:
    packages = [
        7,
        {},
        {"registryType": "npm"},
        {"registryType": "npm", "identifier": "good", "environmentVariables": [{}, 3, {"name": ""}]},
    ]
    found = read_described({"name": "a/b", "packages": packages, "remotes": [{}, "x", {"url": "https://x.example"}], "repository": "x"})
    assert found is not None
    assert [each.identifier for each in found.packages] == ["good"]
    assert found.packages[0].environment == ()
    assert [each.type for each in found.remotes] == ["streamable-http"]
    assert (found.repository, found.tools, found.status) == ("", (), "active")


def test_texts_are_cut_and_far_too_long_words_do_not_count() -> None:
    long = "x" * 10_000
    packages = [
        {"registryType": "npm", "identifier": long},
        {"registryType": "npm", "identifier": "a", "runtimeArguments": [{"value": long}]},
    ]
    found = read_described({"name": "a/b", "title": long, "packages": packages, "packages2": long, "status": "deleted"})
    assert found is not None
    assert len(found.title) == MAX_TEXT
    assert [each.identifier for each in found.packages] == ["a"]
    assert found.packages[0].runtime_arguments[0].input.value is None
    assert found.status == "deleted"


KEYS = st.sampled_from(
    ["name", "packages", "remotes", "variables", "value", "_meta", "headers", "identifier", "registryType", "choices", "type"]
)
JSON = st.recursive(
    st.none() | st.booleans() | st.floats() | st.text(max_size=5),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(KEYS, inner, max_size=4),
)


@settings(max_examples=60, deadline=None)
@given(st.dictionaries(KEYS, JSON))
def test_nothing_that_is_json_breaks_it(item: dict[str, Any]) -> None:
    read_described({**item, "name": "a/b"})
    read_described(item)
