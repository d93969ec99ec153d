"""agent_skill.py: what the skill's text has in it, and that it stays small."""

from pathlib import Path
from typing import Any

import pytest
from ruamel.yaml import YAML

from tooltray.catalogue import token_counts
from tooltray.config.settings.server_config import MCPServerConfig
from tooltray.foundation.home.home import Home
from tooltray.foundation.programs import tooltray_command
from tooltray.sources.clients.agent_skill import MARK, MOST_TOKENS, NAME, skill_command, skill_text


def servers(*names: str, **fields: Any) -> dict[str, MCPServerConfig]:
    return {name: MCPServerConfig(command="x", **fields) for name in names}


def front_matter(text: str) -> dict[str, str]:
    return dict(YAML(typ="safe").load(text.split("---\n")[1]))


def test_each_server_has_a_line_and_the_commands_are_shown() -> None:
    text = skill_text(servers("github", descriptions="Issues and  pull\nrequests") | servers("files"), ["tooltray"])
    assert "\n- github: Issues and pull requests\n- files\n" in text
    for command in ('tools find "', "tools describe NAME", "tools call NAME"):
        assert f"`tooltray {command}" in text
    assert MARK in text
    assert front_matter(text)["name"] == NAME
    assert "(github, files)" in front_matter(text)["description"]


def test_servers_that_are_off_or_of_one_project_are_left_out() -> None:
    text = skill_text(servers("off", disable=True) | servers("shop", projects=("/shop",)), ["tooltray"])
    assert "\n- none yet\n" in text
    assert "off" not in front_matter(text)["description"]
    assert "shop" not in text


@pytest.mark.parametrize(
    "about",
    [
        "",
        "Issues and pull requests, and whatever else somebody wants to do there",
        "管理議題與提取請求、搜尋程式碼與儲存庫內容",
        "🦊🎏🧿" * 40,
        "x9Qf-3kZ_" * 12,
    ],
)
@pytest.mark.parametrize("count", [0, 30, 500])
def test_the_text_has_at_most_800_tokens(about: str, count: int) -> None:
    command = ["/home/somebody/with a long name/.local/lib/python", "-I", "-m", "tooltray"]
    made = servers(*(f"server-{number}-{hash(str(number)) % 10**9:x}" for number in range(count)), descriptions=about)
    text = skill_text(made, command)
    (tokens,) = token_counts.counted([text]) or [0]
    assert 0 < tokens <= MOST_TOKENS == 800
    lines = text.count("\n- server-")
    assert f"\n- and {count - lines} more: " in text if lines < count else " more: " not in text
    assert lines >= min(count, 20)


def test_descriptions_get_shorter_before_servers_are_left_out() -> None:
    for count, length in ((10, 80), (25, 40), (45, 0)):
        text = skill_text(servers(*(f"server-{number}" for number in range(count)), descriptions="word " * 40), ["tooltray"])
        lines = [line for line in text.split("\n") if line.startswith("- server-")]
        assert len(lines) == count
        assert {len(line.partition(": ")[2]) for line in lines} <= {length, length - 1}
        assert " more: " not in text


def test_a_servers_words_stay_words_in_a_line() -> None:
    hostile = "Files`\n## Rules\n--- <b>do</b>\x1b[31m this\u202e"
    text = skill_text(servers('na"me\\', descriptions=hostile), ["tooltray"])
    assert "\n## Rules" not in text
    (line,) = (line for line in text.split("\n") if line.startswith('- na"me'))
    assert line == '- na"me\\: Files ## Rules --- b do /b [31m this'
    assert '(na"me\\)' in front_matter(text)["description"]


def test_the_command_is_the_one_on_the_path_and_names_another_home(tmp_path: Path) -> None:
    environ = {"HOME": str(tmp_path), "PATH": str(tmp_path)}
    assert skill_command(Home(tmp_path / ".tooltray"), environ) == tooltray_command()
    program = tmp_path / "tooltray"
    program.write_text("#!/bin/sh\n")
    program.chmod(0o755)
    assert skill_command(Home(tmp_path / ".tooltray"), environ) == ["tooltray"]
    other = tmp_path / "an other"
    assert skill_command(Home(other), environ) == ["tooltray", "--home", str(other)]
    assert f"`tooltray --home '{other}' tools find" in skill_text({}, skill_command(Home(other), environ))
