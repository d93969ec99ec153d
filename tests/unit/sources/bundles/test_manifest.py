"""manifest.py: versions 0.1 to 0.4; what is wrong is named; the form of the settings, and the answers."""

import json
from typing import Any

import pytest
from tests.fakes.bundles import SERVER, manifest

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.entries import FormField
from tooltray.sources.bundles.manifest import (
    Author,
    BundleServer,
    Manifest,
    McpConfig,
    Override,
    Setting,
    answers_to,
    form_of,
    read_manifest,
)

FOLDERS = {"HOME": "/home/me", "DESKTOP": "/home/me/Desktop"}


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


def form(*, kept: Any = None, stored: Any = (), **settings: Setting) -> tuple[FormField, ...]:
    manifest = Manifest("n", "1", "d", Author("a"), BundleServer("node", "x"), user_config=settings)
    return form_of(manifest, FOLDERS, kept, stored)


def test_each_kind_of_setting_is_a_field() -> None:
    fields = form(
        text=Setting("string", title="A text", description="d", default="${HOME}/x"),
        size=Setting("number", default=10, min=1, max=100),
        on=Setting("boolean", default=True, multiple=True),
        folders=Setting("directory", multiple=True, default=("${DESKTOP}", "${OTHER}"), required=True),
        file=Setting("file", multiple=True, default="/a"),
        key=Setting("string", sensitive=True, default="for everybody", multiple=True, required=True),
    )
    assert [field.kind for field in fields] == ["text", "number", "boolean", "folder", "file", "text"]
    assert [field.default for field in fields] == ["/home/me/x", 10, True, ("/home/me/Desktop", "${OTHER}"), ("/a",), None]
    assert [field.is_list for field in fields] == [False, False, False, True, True, False]
    assert (fields[0].label, fields[1].label, fields[1].minimum, fields[1].maximum) == ("A text", "size", 1, 100)
    assert (fields[5].is_secret, fields[5].is_required, fields[3].is_required) == (True, True, True)


def test_what_was_given_for_an_earlier_version_is_there_again() -> None:
    fields = form(kept={"a": ["x"], "b": "y"}, stored={"key"}, a=Setting("file", multiple=True), b=Setting("string", default="z"),
                  key=Setting("string", sensitive=True, required=True))  # fmt: skip
    assert [field.default for field in fields] == [("x",), "y", None]
    assert (fields[2].is_required, fields[2].placeholder) == (False, "kept as it is")


def test_defaults_count_where_nothing_was_given_and_secrets_go_apart() -> None:
    fields = form(a=Setting("string", default="x"), n=Setting("number", required=True, default=10), on=Setting("boolean"),
                  key=Setting("string", sensitive=True), none=Setting("string"), many=Setting("directory", multiple=True))  # fmt: skip
    answers = answers_to(fields, {"key": "dummy-secret", "on": "True", "many": ["/a", "/b"]})
    assert answers.values == {"a": "x", "n": "10", "on": "true", "many": ("/a", "/b")}
    assert answers.given == {"a": "x", "n": 10, "on": True, "many": ["/a", "/b"]}
    assert answers.secrets == {"key": "dummy-secret"}
    assert "dummy-secret" not in repr(answers)
    assert answers_to(fields, {"n": "2.5", "on": False, "many": "/c", "a": ["y"]}).values == {
        "a": "y",
        "n": "2.5",
        "on": "false",
        "many": ("/c",),
    }


@pytest.mark.parametrize(
    ("setting", "value"), [(Setting("string"), "${secret:other}"), (Setting("directory", multiple=True), ["a", "${b}"])]
)
def test_a_value_that_would_be_filled_in_once_more_is_refused(setting: Setting, value: Any) -> None:
    with pytest.raises(TooltrayError, match=r"'it' .* cannot be in it"):
        answers_to(form(it=setting), {"it": value})
