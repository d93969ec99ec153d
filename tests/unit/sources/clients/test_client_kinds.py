"""client_kinds.py and resources/ai-clients.json: the table of AI clients."""

import json
from pathlib import Path

import pytest
from tests.fakes.client_files import KINDS

from tooltray.foundation.programs import resource
from tooltray.sources.clients.client_kinds import ClientFiles, note_of, read_client_kinds, why_not_of

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
