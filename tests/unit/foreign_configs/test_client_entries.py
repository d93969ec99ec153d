"""foreign_configs/client_entries.py: our entries in AI clients' configs."""

import json
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.modes import has_mode

from tooltray.errors import TooltrayError
from tooltray.files.edited_files import EditedFiles
from tooltray.foreign_configs.client_entries import MAX_FILE_BYTES, ClientEntry, find_entries, remove_entry
from tooltray.resources import resource

CLIENTS: dict[str, Any] = json.loads(resource("ai-clients.json").read_bytes())
OURS = {"command": "/usr/bin/python3", "args": ["-I", "-S", "/opt/tooltray_bridge/__main__.py"]}


def write(path: Path, content: Any) -> Path:
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(content if isinstance(content, str) else json.dumps(content, indent=2))
    return path


def found(home: Path, platform: str = "linux", **environ: str) -> list[ClientEntry]:
    return find_entries(CLIENTS, environ={"HOME": str(home), **environ}, platform=platform)


def test_entries_are_found_by_what_they_start_whatever_they_are_called(tmp_path: Path) -> None:
    claude = write(
        tmp_path / ".claude.json",
        {
            "mcpServers": {"hub": OURS, "tooltray": {"command": "other"}},
            "projects": {"/p": {"mcpServers": {"t": OURS}}, "/q": 1},
            "history": ["tooltray_bridge"],
        },
    )
    code = write(tmp_path / ".config/Code/User/mcp.json", {"servers": {"x": {"command": "tooltray-bridge"}}})
    assert found(tmp_path) == [
        ClientEntry("Claude Code", claude, ("mcpServers", "hub")),
        ClientEntry("Claude Code", claude, ("projects", "/p", "mcpServers", "t")),
        ClientEntry("VS Code", code, ("servers", "x")),
    ]


@pytest.mark.parametrize(
    ("platform", "environ", "place"),
    [
        ("linux", {"XDG_CONFIG_HOME": "{home}/xdg"}, "xdg/Claude/claude_desktop_config.json"),
        ("darwin", {}, "Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", {"APPDATA": "{home}/roaming"}, "roaming/Claude/claude_desktop_config.json"),
        ("win32", {"LOCALAPPDATA": "{home}/local"}, "local/Packages/Claude_abc/LocalCache/Roaming/Claude/claude_desktop_config.json"),
    ],
)
def test_each_system_has_its_places(tmp_path: Path, platform: str, environ: dict[str, str], place: str) -> None:
    file = write(tmp_path / place, {"mcpServers": {"tooltray": OURS}})
    here = {name: value.format(home=tmp_path) for name, value in environ.items()}
    assert found(tmp_path, platform, **here) == [ClientEntry("Claude Desktop", file, ("mcpServers", "tooltray"))]


@pytest.mark.parametrize("content", ["[]", "{", '{"mcpServers": []}', "\udcff", json.dumps({"mcpServers": {"a": {"command": "x"}}})])
def test_a_config_without_our_entry_or_without_sense_has_none(tmp_path: Path, content: str) -> None:
    path = tmp_path / ".cursor/mcp.json"
    path.parent.mkdir()
    path.write_bytes(content.encode("utf-8", "surrogateescape"))
    assert found(tmp_path) == []


@pytest.mark.parametrize("content", ['{"mcpServers": {"t": "tooltray_bridge"}', "[mcp] # tooltray_bridge"])
def test_a_config_that_names_us_and_cannot_be_read_is_for_the_person(tmp_path: Path, content: str) -> None:
    [entry] = [write(tmp_path / ".cursor/mcp.json", content)] and found(tmp_path)
    assert (entry.client, entry.can_be_removed) == ("Cursor", False)


def test_other_formats_are_for_the_person(tmp_path: Path) -> None:
    write(tmp_path / ".codex/config.toml", "# tooltray_bridge")
    write(tmp_path / ".continue/config.yaml", "# tooltray_bridge")
    assert [(entry.client, entry.can_be_removed) for entry in found(tmp_path)] == [("Codex", False), ("Continue", False)]


def test_a_file_that_is_too_large_is_left_alone(tmp_path: Path) -> None:
    with write(tmp_path / ".claude.json", {"mcpServers": {"hub": OURS}}).open("ab") as file:
        file.truncate(MAX_FILE_BYTES + 1)
    assert found(tmp_path) == []


def test_a_person_without_a_folder_has_no_configs() -> None:
    assert find_entries(CLIENTS, environ={}, platform="linux") == []


def test_two_entries_go_one_after_the_other_and_the_file_is_kept_as_it_was(tmp_path: Path) -> None:
    ours = json.dumps(OURS)
    content = f'{{\n  // mine\n  "mcpServers": {{"a": {ours}, "b": {ours}}},\n  "x": 1.50\n}}\n'
    file = write(tmp_path / ".cursor/mcp.json", content)
    file.chmod(0o640)
    kept = [remove_entry(entry) for entry in found(tmp_path)]
    assert file.read_text() == '{\n  // mine\n  "mcpServers": {},\n  "x": 1.50\n}\n'
    assert has_mode(file, 0o640)
    assert {path.read_text() for path in kept} == {content}


@pytest.mark.posix
def test_a_link_stays_a_link(tmp_path: Path) -> None:
    real = write(tmp_path / "dotfiles/mcp.json", {"mcpServers": {"tooltray": OURS}})
    link = tmp_path / ".cursor/mcp.json"
    link.parent.mkdir()
    link.symlink_to(real)
    remove_entry(found(tmp_path)[0])
    assert link.is_symlink()
    assert json.loads(real.read_text()) == {"mcpServers": {}}


def test_a_file_that_changed_meanwhile_is_left_alone(tmp_path: Path) -> None:
    file = write(tmp_path / ".cursor/mcp.json", {"mcpServers": {"tooltray": OURS}})
    [entry] = found(tmp_path)
    file.write_text("{}")
    with pytest.raises(TooltrayError, match="there is no mcpServers"):
        remove_entry(entry)
    file.unlink()
    with pytest.raises(TooltrayError, match="No such file"):
        remove_entry(entry)


def test_a_client_that_is_just_saving_is_waited_for(tmp_path: Path) -> None:
    file = write(tmp_path / ".cursor/mcp.json", {"mcpServers": {"tooltray": OURS}})
    [entry] = found(tmp_path)
    whole = file.read_text().replace("{", '{"theirs": 1, ', 1)
    file.write_text("")
    remove_entry(entry, EditedFiles(pause=lambda _: file.write_text(whole) and None))
    assert json.loads(file.read_text()) == {"theirs": 1, "mcpServers": {}}


def test_a_client_that_saves_all_the_time_is_left_alone(tmp_path: Path) -> None:
    file = write(tmp_path / ".cursor/mcp.json", {"mcpServers": {"tooltray": OURS}})
    [entry] = found(tmp_path)

    class Busy(EditedFiles):
        def replace(self, *args: Any, **about: Any) -> None:
            file.write_text(file.read_text() + " ")
            super().replace(*args, **about)

    with pytest.raises(TooltrayError, match="again and again"):
        remove_entry(entry, Busy(pause=lambda _: None))
    assert "tooltray" in file.read_text()


def test_an_entry_that_stands_there_twice_is_for_the_person(tmp_path: Path) -> None:
    ours = json.dumps(OURS)
    file = write(tmp_path / ".cursor/mcp.json", f'{{"mcpServers": {{"t": {ours}, "t": {ours}}}}}')
    before = file.read_text()
    with pytest.raises(TooltrayError, match="would change more"):
        remove_entry(found(tmp_path)[0])
    assert file.read_text() == before


def test_every_known_client_is_described_whole() -> None:
    for client in CLIENTS["clients"]:
        assert client["format"] in ("json", "toml", "yaml")
        assert client["places"]
