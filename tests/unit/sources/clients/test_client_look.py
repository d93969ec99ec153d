"""client_look.py: the files of all clients, read once."""

import gc
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.client_files import KINDS, put

from tooltray.config.foreign_configs.documents import Document
from tooltray.foundation.files.file_text import CannotOpen
from tooltray.sources.clients.bridge_entries import OwnEntry
from tooltray.sources.clients.client_look import MAX_PROJECTS, MAX_SERVERS, ClientLook
from tooltray.sources.clients.client_places import ClientPlaces
from tooltray.sources.clients.found_entries import MAX_ENTRIES

RUNS = {"command": "npx"}


def look(home: Path, *projects: str, **environ: str) -> ClientLook:
    return ClientLook(ClientPlaces({"HOME": str(home), **environ}, "linux"), own=OwnEntry(url="http://127.0.0.1:7717"), projects=projects)


def test_a_file_that_is_not_there_has_no_entries_and_no_document(tmp_path: Path) -> None:
    [file] = look(tmp_path).files(KINDS["cursor"])
    assert (file.place.exists, file.entries, file.document, file.problem) == (False, (), None, None)


def test_a_file_in_a_bad_state_is_a_problem_and_others_are_read(tmp_path: Path) -> None:
    bad = put(tmp_path / ".cursor/mcp.json", '{"mcpServers": {\n"a": sk-not-real')
    put(tmp_path / ".config/Code/User/mcp.json", {"servers": {"a": RUNS}})
    here = look(tmp_path)
    [file] = here.files(KINDS["cursor"])
    assert file.problem
    assert (file.problem.title, file.problem.message, file.line) == (
        "mcp.json cannot be read",
        "line 2: this word is no JSON; texts stand in quotes",
        2,
    )
    assert file.problem.hint == f"Correct it in {bad}; Tooltray does not touch it"
    assert [entry.name for each in here.files(KINDS["vscode"]) for entry in each.entries] == ["a"]


def test_a_folder_in_a_file_s_place_is_a_problem_without_a_line(tmp_path: Path) -> None:
    (tmp_path / ".cursor/mcp.json").mkdir(parents=True)
    [file] = look(tmp_path).files(KINDS["cursor"])
    assert file.problem
    assert (file.problem.message, file.line) == ("it is a folder", 0)


@pytest.mark.parametrize(
    ("text", "line"),
    [
        ('{"mcpServers": {},\n "mcpServers": {"a": {"command": "x"}}}', 2),
        ('{"mcpServers": {"a": {},\n "a": {"command": "x"}}}', 2),
        ('{"mcpServers": {"a": {"command": "y",\n "command": "x"}}}', 2),
        ('{"mcpServers": {"a": {"command": "x"}}, "other": {"k": 1,\n "k": 2}}', 0),
    ],
)
def test_keys_that_are_there_twice_on_the_way_to_a_server_keep_a_file_from_being_changed(tmp_path: Path, text: str, line: int) -> None:
    put(tmp_path / ".cursor/mcp.json", text)
    [file] = look(tmp_path).files(KINDS["cursor"])
    assert [entry.entry["command"] for entry in file.entries] == ["x"]
    assert file.line == line
    assert bool(file.problem) == bool(line)
    if file.problem:
        assert "a second time; the last one counts" in file.problem.message


def test_a_file_with_too_many_servers_is_named_and_nothing_of_it_stays_in_memory(tmp_path: Path) -> None:
    huge = put(tmp_path / ".cursor/mcp.json", {"mcpServers": {str(number): RUNS for number in range(MAX_ENTRIES + 1)}})
    here = look(tmp_path)
    [file] = here.files(KINDS["cursor"])
    assert file.problem
    assert (file.problem.title, file.problem.message) == ("mcp.json cannot be read", "it has more than 1000 servers")
    assert str(huge) in file.problem.hint
    assert file.document is None
    assert not [each for each in gc.get_objects() if isinstance(each, Document) and each.path == huge]


def test_a_malformed_file_stays_in_memory_no_longer_than_it_is_read(tmp_path: Path) -> None:
    line = 4711  # of no other test
    put(tmp_path / ".cursor/mcp.json", "{" + "\n" * (line - 1) + '"a": sk-not-real')
    [file] = look(tmp_path).files(KINDS["cursor"])
    assert file.line == line
    kept = [each for each in gc.get_objects() if isinstance(each, CannotOpen) and each.line == line]
    assert not any(each.__traceback__ or each.__context__ for each in kept)


def test_beyond_a_number_of_servers_in_all_files_the_next_file_is_named(tmp_path: Path) -> None:
    several = {str(number): RUNS for number in range(MAX_ENTRIES)}
    clients = {"cursor": ".cursor/mcp.json", "kiro": ".kiro/settings/mcp.json", "lm-studio": ".lmstudio/mcp.json"}
    for path in clients.values():
        put(tmp_path / path, {"mcpServers": several})
    here = look(tmp_path)
    files = [here.files(KINDS[client])[0] for client in clients]
    assert [len(file.entries) for file in files] == [MAX_ENTRIES, MAX_ENTRIES, 0]
    assert files[-1].problem
    assert files[-1].problem.message == f"there are more than {MAX_SERVERS} servers in it and the files before it"


def test_a_file_of_several_clients_is_read_once_and_its_entries_count_once(tmp_path: Path) -> None:
    put(tmp_path / "p/.mcp.json", {"mcpServers": {"a": RUNS}})
    here = look(tmp_path, str(tmp_path / "p"))
    files = [file for id in ("claude-code", "copilot-cli", "visual-studio") for file in here.files(KINDS[id]) if file.project]
    assert len({id(file.document) for file in files}) == 1
    assert [len(file.entries) for file in files] == [1, 1, 1]
    assert [(entry.name, entry.state, entry.project) for entry in here.entries()] == [("a", "on", str(tmp_path / "p"))]
    assert here.files(KINDS["claude-code"]) is here.files(KINDS["claude-code"])


@pytest.mark.parametrize("moved", [False, True])
def test_servers_of_a_project_wait_until_claude_code_s_user_has_approved_them(tmp_path: Path, moved: bool) -> None:
    put(tmp_path / "p/.mcp.json", {"mcpServers": {"a": RUNS, "b": RUNS, "c": RUNS}})
    folder = tmp_path / ("elsewhere" if moved else ".claude")
    put(folder / "settings.json", {"enabledMcpjsonServers": ["a"]})
    own = (folder if moved else tmp_path) / ".claude.json"
    put(own, {"projects": {str(tmp_path / "p"): {"disabledMcpjsonServers": ["b"]}}})
    here = look(tmp_path, str(tmp_path / "p"), **({"CLAUDE_CONFIG_DIR": str(folder)} if moved else {}))
    states = {entry.name: entry.state for file in here.files(KINDS["claude-code"]) for entry in file.entries}
    assert states == {"a": "on", "b": "off", "c": "waits"}


@pytest.mark.parametrize("content", ["{", "[]", None])
def test_without_claude_code_s_own_file_servers_of_a_project_wait(tmp_path: Path, content: Any) -> None:
    put(tmp_path / "p/.mcp.json", {"mcpServers": {"a": RUNS}})
    if content is not None:
        put(tmp_path / ".claude.json", content)
    states = [entry.state for file in look(tmp_path, str(tmp_path / "p")).files(KINDS["claude-code"]) for entry in file.entries]
    assert states == ["waits"]


def test_an_extension_that_is_switched_off_is_off(tmp_path: Path) -> None:
    for name in ("on", "off"):
        folder = tmp_path / ".config/Claude"
        put(folder / "Claude Extensions" / name / "manifest.json", {"name": name, "server": {"mcp_config": RUNS}})
        put(folder / "Claude Extensions Settings" / f"{name}.json", {"isEnabled": name == "on"})
    files = look(tmp_path).files(KINDS["claude-desktop-extensions"])
    assert {entry.name: entry.state for file in files for entry in file.entries} == {"on": "on", "off": "off"}


def test_only_absolute_folders_are_projects_and_not_endlessly_many(tmp_path: Path) -> None:
    folders = [str(tmp_path / str(number)) for number in range(MAX_PROJECTS + 5)]
    for folder in folders:
        put(Path(folder, ".cursor/mcp.json"), {"mcpServers": {"a": RUNS}})
    here = look(tmp_path, "relative", f"{tmp_path}/a\0b", *folders[:1], *folders)
    assert len([file for file in here.files(KINDS["cursor"]) if file.project]) == MAX_PROJECTS
