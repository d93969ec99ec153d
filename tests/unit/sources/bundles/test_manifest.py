"""manifest.py: versions 0.1 to 0.4; what is wrong is named; the form of the settings, and the answers."""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.bundles import SERVER, manifest

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.entries import FormField
from tooltray.sources.bundles.manifest import (
    Author,
    BundleCommand,
    BundlePlace,
    BundleServer,
    Manifest,
    McpConfig,
    Override,
    Setting,
    answers_to,
    command_of,
    form_of,
    problems_of,
    read_manifest,
    system_folders,
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


USER_FOLDERS = {"HOME": "/home/me", "DESKTOP": "/home/me/Desktop", "DOCUMENTS": "/home/me/Documents", "DOWNLOADS": "/home/me/Downloads"}
SETTINGS = {key: {"type": "string"} for key in ("key", "none", "list", "flag")}


@pytest.mark.posix
def test_the_desktop_s_own_file_says_where_folders_are(tmp_path: Path) -> None:
    (tmp_path / "user-dirs.dirs").write_text(
        'XDG_DESKTOP_DIR="$HOME/桌面"\nXDG_DOWNLOAD_DIR="/data/in"\nXDG_DOCUMENTS_DIR="odd"\n', "utf-8"
    )
    found = system_folders(Path("/home/me"), tmp_path)
    assert found == {"HOME": "/home/me", "DESKTOP": "/home/me/桌面", "DOWNLOADS": "/data/in", "DOCUMENTS": "/home/me/Documents"}


@pytest.mark.posix
def test_without_one_they_have_their_usual_names(tmp_path: Path) -> None:
    assert system_folders(tmp_path)["DOWNLOADS"] == str(tmp_path / "Downloads")


def test_other_systems_have_no_such_file(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr("sys.platform", "darwin")
    assert system_folders(tmp_path)["DESKTOP"] == str(tmp_path / "Desktop")


def made(kind: str = "node", entry: str = "server/index.js", version: str = "0.4", **config: Any) -> Manifest:
    server: dict[str, Any] = {"type": kind, "entry_point": entry} | ({"mcp_config": config} if config else {})
    return read_manifest(json.dumps(manifest(manifest_version=version, server=server, user_config=SETTINGS)).encode())


def place(*files: str, platform: str = "linux", folder: str = "/b/x") -> BundlePlace:
    return BundlePlace(folder, set(files), USER_FOLDERS, platform)


def command(
    found: Manifest, *files: str, values: Mapping[str, Any] | None = None, platform: str = "linux", folder: str = "/b/x"
) -> BundleCommand:
    return command_of(found, place(*files, platform=platform, folder=folder), values or {})


def problems(found: Manifest, *files: str, platform: str = "linux") -> str:
    return "; ".join(map(str, problems_of(found, place(*files, platform=platform))))


def test_everything_is_filled_in() -> None:
    found = made(
        command="node",
        args=["${__dirname}${/}a", "--key=${user_config.key}", "${user_config.list}", "${HOME}${pathSeparator}x", "${user_config.none}"],
        env={"FLAG": "${user_config.flag}", "D": "${DESKTOP}", "NONE": "${user_config.none}", "PART": "a${user_config.none}b"},
    )
    run = command(found, values={"key": "${secret:n/key}", "list": ("1", "2"), "flag": "true"})
    assert run.words == ("node", "/b/x/a", "--key=${secret:n/key}", "1", "2", "/home/me/x")
    assert run.env == {"FLAG": "true", "D": "/home/me/Desktop", "PART": "ab"}
    assert run.inside == ""


def test_what_was_filled_in_is_not_looked_at_again() -> None:
    run = command(made(command="node", args=["x${user_config.key}"]), values={"key": "${user_config.flag}", "flag": "no"})
    assert run.args == ("x${user_config.flag}",)


def test_a_list_takes_the_place_of_a_whole_argument_alone() -> None:
    found = made(command="node", env={"DIRS": "${user_config.list}"})
    assert command(found, values={"list": ("/a",)}).env == {"DIRS": "/a"}
    with pytest.raises(TooltrayError, match="several values"):
        command(found, values={"list": ("/a", "/b")})


def test_a_program_of_the_bundle_is_found_in_its_folder() -> None:
    for written in ("server/tool", "./server/tool", "${__dirname}/server/tool"):
        run = command(made("binary", "server/tool", command=written), "server/tool")
        assert (run.command, run.inside) == ("/b/x/server/tool", "server/tool")
    assert command(made("binary", "tool", command="tool"), "tool").inside == "tool"
    assert command(made("node", "tool", command="tool"), "tool").inside == ""
    for outside in ("/bin/rm", "../rm", "~/rm", "C:\\rm", "sh", "${__dirname}/../rm"):
        assert command(made("binary", "tool", command=outside), "tool").inside == ""


def test_on_windows_a_program_gets_its_ending_and_separators_are_its_own() -> None:
    found = made("binary", "server/tool", command="server/tool", args=["${/}"])
    run = command(found, "server/tool.exe", platform="win32", folder="C:\\b\\x")
    assert (run.command, run.inside, run.args) == ("C:\\b\\x\\server\\tool.exe", "server/tool.exe", ("\\",))
    assert command(made("binary", "t", command="t.exe"), "t.exe", platform="win32", folder="C:\\b").inside == "t.exe"
    assert not problems(found, "server/tool.exe", platform="win32")
    assert "does not have what it starts" in problems(found, "server/tool.exe")


def test_python_finds_the_libraries_of_its_bundle() -> None:
    found = made("python", "server/main.py", command="python")
    assert command(found, "server/main.py", "server/lib/x.py").env == {"PYTHONPATH": "/b/x/server/lib"}
    assert command(found, "server/main.py").env == {}
    own = made("python", "server/main.py", command="python", env={"PYTHONPATH": "y"})
    assert command(own, "server/lib/x.py").env == {"PYTHONPATH": "y"}


def test_uv_without_a_command_runs_the_entry_point_in_its_project() -> None:
    found = made("uv", "src/server.py")
    assert command(found, "src/server.py").words == ("uv", "run", "--directory", "/b/x", "src/server.py")
    assert problems(found, "src/server.py") == ""
    assert command(made("uv", "a.py", command="uv", args=["run", "a.py"])).words == ("uv", "run", "a.py")


@pytest.mark.parametrize(
    ("config", "named"),
    [
        ({"command": "node", "args": ["${secret:github/TOKEN}"]}, "${secret:github/TOKEN}"),
        ({"command": "node", "env": {"A": "${PATH}"}}, "${PATH}"),
        ({"command": "node", "args": ["${user_config.other}"]}, "${user_config.other}"),
        ({"command": "${AWS_KEY}"}, "${AWS_KEY}"),
        ({"command": " "}, "no command"),
        ({"command": "server/other"}, "server/other"),
    ],
)
def test_what_cannot_work_or_would_take_from_elsewhere_is_a_problem(config: dict[str, Any], named: str) -> None:
    assert named in problems(made(**config), "server/index.js")


def test_a_default_may_not_name_a_secret_either() -> None:
    server = {"type": "node", "entry_point": "a.js", "mcp_config": {"command": "node", "args": ["a.js"]}}
    options = {"a": {"type": "string", "default": "${secret:x}"}, "b": {"type": "directory", "default": ["${OTHER}"]}}
    found = read_manifest(json.dumps(manifest(server=server, user_config=options)).encode())
    assert "${secret:x}" in problems(found, "a.js")
    assert "${OTHER}" in problems(found, "a.js")


def test_an_entry_point_that_is_not_in_the_bundle_is_a_problem() -> None:
    for entry in ("../../etc/passwd", "/etc/passwd", "none.js"):
        assert "entry point" in problems(made(entry=entry, command="node"), "index.js")
    assert problems(made(entry="./index.js", command="node"), "index.js") == ""
