"""visibility.py."""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.file_servers import SHOP, TOOLS_FOLDER, file_server, in_project

from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import EventBus
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.upstream.visibility import MOST_GONE, Visibility


@pytest.fixture
def config(tmp_path: Path) -> McpConfHelper:
    return McpConfHelper(tmp_path / "settings.json", EventBus())


def has(config: McpConfHelper, **projects: str) -> None:
    config.set_file_servers({name: file_server(name, project=project) for name, project in projects.items()})


NOBODY = SessionState("s1")
PERSON = SessionState("tooltray", is_persons=True)


def test_without_servers_of_projects_everybody_sees_everything(config: McpConfHelper) -> None:
    visibility = Visibility(config)
    has(config, served="")
    assert visibility.is_plain
    for state in (NOBODY, PERSON, in_project(SHOP)):
        assert visibility.sees(state, "served")
        assert visibility.sees(state, "anything else")
        assert (visibility.own(state), visibility.lacks_any(state)) == (frozenset(), False)


@pytest.mark.parametrize(
    ("state", "seen"),
    [
        (NOBODY, ["served"]),
        (in_project(SHOP), ["served", "db"]),
        (in_project(TOOLS_FOLDER), ["served", "lint"]),
        (in_project("/elsewhere"), ["served"]),
        (PERSON, ["served", "db", "lint"]),
        (in_project(SHOP, is_persons=True), ["served", "db"]),
    ],
)
def test_a_server_of_a_project_exists_for_its_sessions_and_for_the_person(
    config: McpConfHelper, state: SessionState, seen: list[str]
) -> None:
    visibility = Visibility(config)
    has(config, served="", db=SHOP, lint=TOOLS_FOLDER)
    assert [name for name in ("served", "db", "lint") if visibility.sees(state, name)] == seen
    assert visibility.own(state) == set(seen) - {"served"}
    assert visibility.lacks_any(state) is (len(seen) < 3)


def test_that_a_projects_server_is_gone_concerns_nobody_else(config: McpConfHelper) -> None:
    visibility = Visibility(config)
    has(config, db=SHOP)
    assert not visibility.sees(NOBODY, "db")
    has(config)
    assert not visibility.sees(NOBODY, "db")
    assert visibility.sees(in_project(SHOP), "db")
    assert visibility.is_plain
    assert visibility.own(in_project(SHOP)) == frozenset()


def test_a_name_that_a_server_for_all_takes_over_is_everybodys(config: McpConfHelper) -> None:
    visibility = Visibility(config)
    has(config, db=SHOP)
    assert not visibility.sees(NOBODY, "db")
    has(config)
    assert not visibility.sees(NOBODY, "db")
    has(config, db="")
    assert visibility.sees(NOBODY, "db")


def test_what_is_gone_is_not_kept_without_bound(config: McpConfHelper) -> None:
    visibility = Visibility(config)
    names: dict[str, Any] = {f"s{number}": SHOP for number in range(MOST_GONE + 1)}
    has(config, **names)
    assert not visibility.sees(NOBODY, "s0")
    has(config)
    assert [visibility.sees(NOBODY, name) for name in ("s0", "s1")] == [True, False]


@pytest.mark.parametrize(
    ("project", "seen"),
    [
        ("/srv/work", True),
        ("/srv/work/shop", True),
        ("/srv/working", False),
        ("/srv", False),
        (str(Path.home() / "src"), True),
        ("", False),
    ],
)
async def test_a_server_of_the_settings_may_be_for_some_folders_and_all_below_them(config: McpConfHelper, project: str, seen: bool) -> None:
    await config.set_server("work", {"command": "p", "projects": ["/srv/./work/", "~/src"]})
    visibility = Visibility(config)
    assert visibility.sees(in_project(project) if project else NOBODY, "work") is seen
    assert visibility.sees(PERSON, "work")
    assert not visibility.is_plain


async def test_a_server_for_the_root_folder_is_for_all_projects(config: McpConfHelper) -> None:
    await config.set_server("work", {"command": "p", "projects": ["/"]})
    assert Visibility(config).sees(in_project("/srv/work"), "work")
