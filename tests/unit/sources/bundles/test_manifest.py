"""manifest.py: versions 0.1 to 0.4; what is wrong is named."""

import json
from typing import Any

import pytest
from tests.fakes.bundles import SERVER, manifest

from tooltray.foundation.errors import TooltrayError
from tooltray.sources.bundles.manifest import McpConfig, Override, read_manifest


def read(**more: Any) -> Any:
    return read_manifest(json.dumps(manifest(**more)).encode())


@pytest.mark.parametrize("version", ["0.1", "0.2", "0.3", "0.4"])
def test_all_versions_are_read_under_both_names(version: str) -> None:
    assert read(manifest_version=version).name == "notes"
    old = {key: value for key, value in manifest(dxt_version=version).items() if key != "manifest_version"}
    assert read_manifest(b"\xef\xbb\xbf" + json.dumps(old).encode()).version == "1.0.0"
    assert read(manifest_version="99", dxt_version=version).name == "notes"


def test_members_that_nobody_knows_are_left_alone() -> None:
    found = read(icons=[{"src": 1}], _meta={"a": {}}, display_name="Notes", tools=[{"name": "add", "description": "Adds."}])
    assert (found.title, found.tools[0].name, read().title) == ("Notes", "add", "notes")


@pytest.mark.parametrize(
    ("more", "named"),
    [
        ({"server": {**SERVER, "type": "perl"}}, "server.type"),
        ({"server": {**SERVER, "entry_point": 1}}, "entry_point"),
        ({"server": {**SERVER, "mcp_config": {"command": "a", "args": "b"}}}, "args"),
        ({"server": {**SERVER, "mcp_config": {"command": "a", "env": {"A": 1}}}}, "env"),
        ({"server": {"type": "node", "entry_point": "a"}}, "mcp_config is missing"),
        ({"server": {"type": "uv", "entry_point": "a"}}, "needs manifest_version 0.4"),
        ({"author": "me"}, "author"),
        ({"name": None}, "name"),
        ({"name": " "}, "name or version is empty"),
        ({"user_config": {"a": {"type": "colour"}}}, "user_config"),
        ({"user_config": {"a/b": {"type": "string"}}}, "'a/b' cannot be"),
        ({"user_config": {str(at): {"type": "string"} for at in range(101)}}, "more than 100"),
        ({"manifest_version": "0.9"}, "'0.9'"),
        ({"manifest_version": ""}, "version"),
    ],
)
def test_what_is_wrong_is_named(more: dict[str, Any], named: str) -> None:
    with pytest.raises(TooltrayError) as raised:
        read(**more)
    assert named in str(raised.value)


@pytest.mark.parametrize("data", [b"", b"{", b"[]", b"\xff\xfe{}", b"null", b"[" * 100_000])
def test_what_is_no_manifest_is_refused(data: bytes) -> None:
    with pytest.raises(TooltrayError, match=r"manifest\.json"):
        read_manifest(data)


def test_what_one_system_has_replaces_the_whole_of_the_others() -> None:
    config = McpConfig("a", ("b",), {"K": "base"}, {"linux": Override(env={"L": "own"}), "win32": Override(command="a.exe", args=())})
    assert config.on("linux") == McpConfig("a", ("b",), {"L": "own"})
    assert config.on("win32") == McpConfig("a.exe", (), {"K": "base"})
    assert config.on("darwin") == McpConfig("a", ("b",), {"K": "base"})
