"""client_kinds.py and resources/ai-clients.json: the table of AI clients."""

import json
import os
from pathlib import Path

import pytest
from tests.fakes.client_files import KINDS, put

from tooltray.foundation.programs import resource
from tooltray.sources.clients.client_kinds import (
    MAX_MATCHES,
    WORK_TREE_MARKS,
    ClientFiles,
    ClientPlace,
    ClientPlaces,
    WorkTrees,
    note_of,
    read_client_kinds,
    why_not_of,
)

OF_BEFORE = {
    *("claude-desktop", "claude-code", "cursor", "vscode", "windsurf", "cline-cli", "zed", "codex", "gemini-cli", "copilot-cli"),
    *("opencode", "goose", "lm-studio", "amp", "continue", "kiro", "junie", "qwen-code", "droid", "auggie"),
}
ALSO = {
    *("claude-desktop-extensions", "cline", "roo-code", "jetbrains-ai", "warp", "hermes", "crush", "jan", "devin-cli", "trae", "witsy"),
    *("cherry-studio", "kilo-code", "antigravity", "visual-studio", "amazon-q", "vscode-insiders", "copilot-jetbrains"),
}
STARTS = ("~/", "${XDG_CONFIG}/", "${APP_SUPPORT}/", "${APPDATA}/", "${LOCALAPPDATA}/")


def test_every_client_that_people_use_is_in_the_table_once() -> None:
    ids = [kind.id for kind in read_client_kinds()]
    assert len(ids) == len(set(ids))
    assert set(ids) >= OF_BEFORE | ALSO


def test_the_table_stays_readable_a_line_for_each_client() -> None:
    lines = resource("ai-clients.json").read_text().splitlines()
    assert [json.loads(line.strip().rstrip(","))["id"] for line in lines[2:-2]] == list(KINDS)


@pytest.mark.parametrize("id", KINDS)
def test_every_pattern_begins_where_places_are_known(id: str) -> None:
    kind = KINDS[id]
    every = [pattern for system in ("linux", "darwin", "win32") for files in (kind.files, kind.also_reads) for pattern in files.of(system)]
    assert all(pattern.startswith(STARTS) for pattern in every)
    assert all(pattern.startswith((*STARTS, "/Applications/")) for pattern in kind.signs.paths)
    assert not any(pattern.startswith(("/", "~")) or ".." in pattern for pattern in kind.project_files)
    assert not any("**" in pattern for pattern in (*every, *kind.signs.paths, *kind.project_files))


@pytest.mark.parametrize("id", KINDS)
def test_a_client_can_be_recognised_and_has_a_way_to_be_connected_or_a_reason_why_not(id: str) -> None:
    kind = KINDS[id]
    has_files = any(kind.files.of(system) for system in ("linux", "darwin", "win32"))
    assert has_files or kind.way == "link" or why_not_of(kind)
    assert has_files or kind.signs.paths
    assert kind.places
    if variable := kind.home_variable:
        assert all(pattern.startswith(f"{variable.replaces}/") for pattern in kind.files.of("linux"))
    if kind.way == "command":
        assert "{name}" in kind.command.add
        assert "{name}" in kind.command.remove
    assert (kind.way == "link") == bool(kind.link)


def test_what_the_user_should_know_is_shown_with_the_client_s_name() -> None:
    said = {kind.note: note_of(kind) for kind in KINDS.values()}
    assert said.pop("") == ""
    assert set(said) == {"restart", "next-session", "refresh", "watched", "trust", "trusted-folder"}
    assert all("Restart" not in text or note in ("restart", "refresh") for note, text in said.items())
    assert note_of(KINDS["claude-desktop"]) == "Restart Claude Desktop: it reads its file when it starts"


def test_what_only_the_user_can_connect_has_a_reason() -> None:
    assert {kind.id for kind in KINDS.values() if why_not_of(kind)} == {"jetbrains-ai", "claude-desktop-extensions", "hermes", "witsy"}


def test_patterns_of_every_system_come_before_those_of_one() -> None:
    files = ClientFiles(all=("~/a",), linux=("~/l",), macos=("~/m",), windows=("~/w",))
    assert [files.of(system)[-1] for system in ("linux", "freebsd14", "darwin", "win32")] == ["~/l", "~/l", "~/m", "~/w"]
    assert files.of("linux")[0] == "~/a"


def test_a_project_s_file_has_its_own_format() -> None:
    assert KINDS["continue"].format_of(Path("/p/.continue/mcpServers/a.json")) == "json"
    assert KINDS["continue"].format_of(Path("/p/config.yaml")) == "yaml"
    assert KINDS["codex"].format_of(Path("/p/config")) == "toml"


def test_files_of_projects_may_have_places_of_their_own() -> None:
    assert KINDS["copilot-cli"].places_in(is_project=True) == (("mcpServers",), ())
    assert KINDS["copilot-cli"].places_in(is_project=False) == (("mcpServers",),)
    assert KINDS["cursor"].places_in(is_project=True) == (("mcpServers",),)


def places(home: Path, platform: str = "linux", **environ: str) -> ClientPlaces:
    return ClientPlaces({"HOME": str(home), **environ}, platform, str(home / "proc"))


def paths(home: Path, id: str, platform: str = "linux", **environ: str) -> list[str]:
    found = places(home, platform, **environ).files(KINDS[id])
    return [place.path.relative_to(home).as_posix() for place in found if place.exists]


@pytest.mark.parametrize(
    ("platform", "environ", "place"),
    [
        ("linux", {}, ".config/Claude/claude_desktop_config.json"),
        ("linux", {"XDG_CONFIG_HOME": "{home}/xdg"}, "xdg/Claude/claude_desktop_config.json"),
        ("darwin", {}, "Library/Application Support/Claude/claude_desktop_config.json"),
        ("win32", {"APPDATA": "{home}/roaming"}, "roaming/Claude/claude_desktop_config.json"),
        ("win32", {"LOCALAPPDATA": "{home}/local"}, "local/Packages/Claude_abc/LocalCache/Roaming/Claude/claude_desktop_config.json"),
    ],
)
def test_each_system_has_its_places(tmp_path: Path, platform: str, environ: dict[str, str], place: str) -> None:
    put(tmp_path / place, {})
    here = {name: value.format(home=tmp_path) for name, value in environ.items()}
    assert paths(tmp_path, "claude-desktop", platform, **here) == [place]


def test_on_windows_the_person_s_folder_has_another_name(tmp_path: Path) -> None:
    put(tmp_path / ".cursor/mcp.json", {})
    found = ClientPlaces({"USERPROFILE": str(tmp_path)}, "win32").files(KINDS["cursor"])
    assert found == [ClientPlace(tmp_path / ".cursor/mcp.json", exists=True)]


def test_a_file_that_is_not_there_can_be_made_where_the_client_looks_first(tmp_path: Path) -> None:
    assert places(tmp_path).files(KINDS["cursor"]) == [ClientPlace(tmp_path / ".cursor/mcp.json", exists=False, can_be_made=True)]
    assert places(tmp_path).files(KINDS["trae"]) == []
    assert places(tmp_path).files(KINDS["cherry-studio"]) == []
    assert places(tmp_path, "win32").files(KINDS["vscode"]) == []


def test_every_profile_of_a_client_has_its_file(tmp_path: Path) -> None:
    user = tmp_path / ".config/Code/User"
    for name in ("mcp.json", "profiles/b/mcp.json", "profiles/a/mcp.json", "settings.json"):
        put(user / name, {})
    (user / "profiles/empty").mkdir()
    assert paths(tmp_path, "vscode") == [
        f".config/Code/User/{name}" for name in ("mcp.json", "profiles/a/mcp.json", "profiles/b/mcp.json", "settings.json")
    ]


def test_a_file_that_is_only_read_does_not_keep_another_from_being_made(tmp_path: Path) -> None:
    put(tmp_path / ".config/Code/User/settings.json", {})
    assert [(place.path.name, place.can_be_made) for place in places(tmp_path).files(KINDS["vscode"])] == [
        ("mcp.json", True),
        ("settings.json", False),
    ]


@pytest.mark.parametrize(
    ("id", "variable", "usual", "moved"),
    [
        ("claude-code", "CLAUDE_CONFIG_DIR", ".claude.json", ".claude.json"),
        ("codex", "CODEX_HOME", ".codex/config.toml", "config.toml"),
        ("gemini-cli", "GEMINI_CLI_HOME", ".gemini/settings.json", ".gemini/settings.json"),
        ("qwen-code", "QWEN_HOME", ".qwen/settings.json", "settings.json"),
        ("copilot-cli", "COPILOT_HOME", ".copilot/mcp-config.json", "mcp-config.json"),
        ("cline-cli", "CLINE_DIR", ".cline/data/settings/cline_mcp_settings.json", "data/settings/cline_mcp_settings.json"),
    ],
)
def test_a_variable_moves_a_client_s_files(tmp_path: Path, id: str, variable: str, usual: str, moved: str) -> None:
    put(tmp_path / usual, {})
    around = {variable: str(tmp_path / "else where")}
    made, there = places(tmp_path, **around).files(KINDS[id])
    assert made == ClientPlace(tmp_path / "else where" / moved, exists=False, can_be_made=True)
    assert there == ClientPlace(tmp_path / usual, exists=True)
    put(tmp_path / "else where" / moved, {})
    assert paths(tmp_path, id, **around) == [f"else where/{moved}", usual]


@pytest.mark.parametrize("folder", ["", "relative", "/a\0b"])
def test_a_variable_that_names_no_folder_moves_nothing(tmp_path: Path, folder: str) -> None:
    put(tmp_path / ".codex/config.toml", "")
    assert paths(tmp_path, "codex", CODEX_HOME=folder) == [".codex/config.toml"]
    assert places(tmp_path, CODEX_HOME=folder).moved_home(KINDS["codex"]) is None


def test_a_user_without_a_folder_has_no_files() -> None:
    nobody = ClientPlaces({}, "linux", "/nowhere")
    assert not any(nobody.files(kind) for kind in KINDS.values())
    assert not any(nobody.is_installed(kind) for kind in KINDS.values() if not kind.signs.paths)


def test_a_folder_in_the_file_s_place_is_there_too(tmp_path: Path) -> None:
    (tmp_path / ".cursor/mcp.json").mkdir(parents=True)
    assert paths(tmp_path, "cursor") == [".cursor/mcp.json"]


def test_files_of_projects_are_found_below_the_folder(tmp_path: Path) -> None:
    for name in (".mcp.json", ".continue/mcpServers/b.yaml", ".continue/mcpServers/a.json", ".continue/mcpServers/no.txt"):
        put(tmp_path / "p" / name, {})
    here = places(tmp_path)
    assert [place.path.name for place in here.project_files(KINDS["claude-code"], tmp_path / "p")] == [".mcp.json"]
    assert [place.path.name for place in here.project_files(KINDS["continue"], tmp_path / "p")] == ["b.yaml", "a.json"]
    assert here.project_files(KINDS["cursor"], tmp_path / "p") == []
    assert here.project_files(KINDS["claude-code"], tmp_path / "p") == [ClientPlace(tmp_path / "p/.mcp.json", exists=True)]


def test_of_very_many_files_of_one_pattern_the_first_ones_count(tmp_path: Path) -> None:
    for number in range(MAX_MATCHES + 5):
        put(tmp_path / f".continue/mcpServers/{number}.yaml", "")
    assert len(places(tmp_path).project_files(KINDS["continue"], tmp_path)) == MAX_MATCHES


def test_a_client_is_installed_if_its_program_a_folder_or_a_file_of_it_is_there(tmp_path: Path) -> None:
    put(tmp_path / "bin/codex", "")
    put(tmp_path / ".vscode/extensions/saoudrizwan.claude-dev-3.1.0/package.json", {})
    put(tmp_path / ".config/Code/User/globalStorage/rooveterinaryinc.roo-cline/settings/mcp_settings.json", {})
    here = places(tmp_path, PATH=os.pathsep.join((str(tmp_path / "bin"), "relative", str(tmp_path / "nowhere"))))
    assert {id for id, kind in KINDS.items() if here.is_installed(kind)} == {"codex", "cline", "roo-code", "vscode"}


def test_a_client_of_which_only_a_file_is_known_is_installed_with_it(tmp_path: Path) -> None:
    put(tmp_path / ".codeium/mcp_config.json", {})
    assert places(tmp_path).is_installed(KINDS["windsurf-jetbrains"])
    assert not places(tmp_path / "other").is_installed(KINDS["windsurf-jetbrains"])


def test_on_windows_programs_have_endings(tmp_path: Path) -> None:
    put(tmp_path / "Codex.CMD", "")
    assert places(tmp_path, "win32", PATH=str(tmp_path)).is_installed(KINDS["codex"])
    assert not places(tmp_path, "linux", PATH=str(tmp_path)).is_installed(KINDS["codex"])


@pytest.mark.posix
def test_a_client_runs_while_a_process_has_its_name(tmp_path: Path) -> None:
    for number, words in enumerate((["/usr/bin/node", "/x/gemini.js", "-p"], ["claude", "", ""], ["/opt/code/code"], ["vim", "codex"], [])):
        put(tmp_path / "proc" / str(number) / "cmdline", "\0".join(words))
    put(tmp_path / "proc/self/cmdline", "goose")
    (tmp_path / "proc/99").mkdir()
    here = places(tmp_path)
    assert {id for id, kind in KINDS.items() if here.is_running(kind)} == {"claude-code", "gemini-cli", "vscode", "cline", "roo-code"}
    assert here.is_running(KINDS["boltai"]) is None
    assert places(tmp_path, "darwin").is_running(KINDS["codex"]) is None


@pytest.mark.posix
def test_what_other_users_run_does_not_count(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    mine = put(tmp_path / "proc/7/cmdline", "codex").stat().st_uid
    monkeypatch.setattr("os.getuid", lambda: mine + 1)
    assert places(tmp_path).is_running(KINDS["codex"]) is False


@pytest.mark.parametrize("mark", WORK_TREE_MARKS)
def test_a_file_in_a_work_tree_is_known(tmp_path: Path, mark: str) -> None:
    file = put(tmp_path / "p/a/b/file", "")
    assert not WorkTrees().holds(file)
    (tmp_path / "p" / mark).mkdir()
    trees = WorkTrees()
    assert trees.holds(file)
    assert trees.holds(file.with_name("other"))
    assert not trees.holds(tmp_path / "file")


@pytest.mark.posix
def test_a_link_into_a_work_tree_counts(tmp_path: Path) -> None:
    real = put(tmp_path / "dotfiles/mcp.json", "")
    (tmp_path / "dotfiles/.git").write_text("gitdir: elsewhere")
    (tmp_path / "mcp.json").symlink_to(real)
    assert WorkTrees().holds(tmp_path / "mcp.json")
