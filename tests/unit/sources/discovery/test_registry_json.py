"""registry_json.py: what registries say of servers is read, whoever wrote it, and odd parts are left out."""

from typing import Any

import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

from tooltray.sources.discovery.registry_json import (
    MAX_TEXT,
    Package,
    check_words,
    host,
    is_pinned,
    odd_runtime_word,
    pinned,
    problem_of,
    read_described,
    shown,
)

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


def package(kind: str = "npm", identifier: str = "notes", **members: Any) -> Package:
    item = {"registryType": kind, "identifier": identifier, "version": "1.0.0", **members}
    found = read_described({"name": "a/b", "packages": [item]})
    assert found is not None
    return found.packages[0]


@pytest.mark.parametrize(
    ("kind", "identifier", "word"),
    [
        ("npm", "@owner/notes", "@owner/notes@1.0.0"),
        ("pypi", "notes_server", "notes_server==1.0.0"),
        ("nuget", "Notes.Server", "Notes.Server@1.0.0"),
        ("oci", "owner/notes", "owner/notes:1.0.0"),
        ("oci", "ghcr.io/owner/notes:2.0", "ghcr.io/owner/notes:2.0"),
        ("oci", "localhost:5000/notes", "localhost:5000/notes:1.0.0"),
        ("oci", "docker.io/owner/notes@sha256:" + "a" * 64, "docker.io/owner/notes@sha256:" + "a" * 64),
    ],
)
def test_packages_are_pinned_to_the_version_one_saw(kind: str, identifier: str, word: str) -> None:
    assert problem_of(package(kind, identifier)) is None
    assert pinned(package(kind, identifier)) == word
    assert is_pinned(package(kind, identifier))


def test_without_a_version_a_package_is_not_pinned() -> None:
    assert pinned(package(version="")) == "notes"
    assert not is_pinned(package(version=""))
    assert not is_pinned(package("oci", "ghcr.io/owner/notes", version=""))


def test_an_image_of_another_registry_is_called_by_its_host() -> None:
    assert pinned(package("oci", "owner/notes", registryBaseUrl="https://ghcr.io")) == "ghcr.io/owner/notes:1.0.0"
    assert pinned(package("oci", "ghcr.io/owner/notes", registryBaseUrl="https://ghcr.io")) == "ghcr.io/owner/notes:1.0.0"
    assert pinned(package("oci", "owner/notes", registryBaseUrl="https://docker.io")) == "owner/notes:1.0.0"


@pytest.mark.parametrize(
    ("item", "why"),
    [
        (package("cargo"), "cannot be started"),
        (package(identifier="-c"), "' is not a package name"),
        (package(identifier="--call=rm -rf ~"), "' is not a package name"),
        (package(identifier="notes; rm -rf ~"), "' is not a package name"),
        (package(identifier="file:../evil"), "' is not a package name"),
        (package(identifier="https://evil.example/x.tgz"), "' is not a package name"),
        (package("pypi", "git+https://evil.example"), "' is not a package name"),
        (package("oci", "--privileged"), "' is not a package name"),
        (package(version="1.0.0 evil"), "is not a version"),
        (package(version="^1.0.0"), "is not a version"),
        (package(version="-1"), "is not a version"),
        (package(transport={"type": "streamable-http", "url": "http://localhost/mcp"}), "listens on a port"),
        (package(registryBaseUrl="https://evil.example"), "its package is on evil.example"),
        (package(registryBaseUrl="not an address"), "its package is on"),
        (package(runtimeHint="sh"), "started by 'sh'"),
        (package("pypi", runtimeHint="python", runtimeArguments=[{"value": "-m"}]), "options for 'python'"),
        (package("mcpb", "https://x.example/a.mcpb"), "SHA-256"),
        (package("mcpb", "http://x.example/a.mcpb", fileSha256="a" * 64), "' is not the address of a bundle"),
        (package("mcpb", "https://", fileSha256="a" * 64), "' is not the address of a bundle"),
        (package("mcpb", "https://x.example/\x01", fileSha256="a" * 64), "' is not the address of a bundle"),
    ],
)
def test_what_lies_or_cannot_be_is_refused(item: Package, why: str) -> None:
    problem = problem_of(item)
    assert problem is not None
    assert why in problem.message


def test_usual_places_and_other_names_of_the_program_are_fine() -> None:
    assert problem_of(package("pypi", runtimeHint="python")) is None
    assert problem_of(package(runtimeHint="npx", registryBaseUrl="https://registry.npmjs.example")) is None
    assert problem_of(package("mcpb", "https://x.example/a.mcpb", fileSha256="A" * 64)) is None


@pytest.mark.parametrize(
    ("kind", "arguments"),
    [
        ("npm", [{"type": "named", "name": "-y"}, {"type": "positional", "value": "--quiet"}]),
        ("oci", [{"type": "positional", "value": "run"}, {"type": "named", "name": "-e", "value": "A={a}"}]),
        ("oci", [{"type": "positional", "value": "-v"}, {"type": "positional", "value": "/a:/b"}]),
        ("oci", [{"type": "positional", "value": "-v"}, {"type": "positional", "valueHint": "mount", "isRequired": True}]),
        ("oci", [{"type": "positional", "value": "--network=host"}, {"type": "named", "name": "--mount", "isRequired": True}]),
        ("pypi", [{"type": "named", "name": "--python", "default": "3.12"}, {"type": "named", "name": "--python", "format": "filepath"}]),
    ],
)
def test_harmless_options_of_the_launcher_may_be_used(kind: str, arguments: list[Any]) -> None:
    assert odd_runtime_word(package(kind, runtimeArguments=arguments)) == ""


@pytest.mark.parametrize(
    ("kind", "arguments", "word"),
    [
        ("npm", [{"type": "positional", "value": "evil-package"}], "evil-package"),
        ("npm", [{"type": "named", "name": "-c", "value": "rm -rf ~"}], "-c"),
        ("npm", [{"type": "named", "name": "-y", "value": "evil-package"}], "-y"),
        ("npm", [{"type": "named", "name": "-y", "isRequired": True}], "-y"),
        ("npm", [{"type": "positional", "value": "{x}", "variables": {"x": {}}}], "{x}"),
        ("npm", [{"type": "positional", "valueHint": "any"}], "any"),
        ("npm", [{"type": "positional"}], "?"),
        ("pypi", [{"type": "named", "name": "--from", "value": "evil"}], "--from"),
        ("oci", [{"type": "named", "name": "--privileged"}], "--privileged"),
        ("oci", [{"type": "named", "name": "-v"}], "-v"),
        ("oci", [{"type": "positional", "value": "-v"}], "…"),
        ("oci", [{"type": "positional", "value": "-v"}, {"type": "positional", "valueHint": "mount"}], "mount"),
        ("oci", [{"type": "positional", "value": "-v"}, {"type": "positional"}], "?"),
        ("oci", [{"type": "positional", "value": "evil/image"}], "evil/image"),
    ],
)
def test_words_that_would_run_something_else_are_found(kind: str, arguments: list[Any], word: str) -> None:
    assert odd_runtime_word(package(kind, runtimeArguments=arguments)) == word


def test_texts_with_unseen_characters_or_our_placeholders_are_refused() -> None:
    assert check_words(["plain", "$(not ours)", "${open"]) is None
    assert "placeholder" in str(check_words(["${secret:github/TOKEN}"]))
    assert "cannot be seen" in str(check_words(["a\x1b[2J"]))


def test_hosts_and_texts_are_shown_plainly() -> None:
    assert host("https://user@X.example:8/a") == "x.example:8"
    assert host("https://[") == ""
    assert host("ftp://x.example") == ""
    assert shown("a\x1b" + "b" * 100) == "a\\x1b" + "b" * 78 + "…"
