"""edit_plans.py: which edits a wish means, and why some clients cannot be connected."""

import json
from collections.abc import AsyncIterator
from pathlib import Path

import pytest
from tests.fakes.ai_client_home import ClientHome
from tests.fakes.client_files import KINDS

from tooltray.foundation.errors import Conflict, NotFound
from tooltray.sources.clients.client_scans import Surroundings
from tooltray.sources.clients.edit_plans import chosen, edit_named, planned, why_unable

CURSOR = ".cursor/mcp.json"


@pytest.fixture
async def home(tmp_path: Path) -> AsyncIterator[ClientHome]:
    made = ClientHome(tmp_path)
    yield made
    await made.close()


@pytest.fixture
async def around(home: ClientHome) -> Surroundings:
    return await home.surroundings()


def test_without_names_those_are_connected_that_are_installed_and_all_are_disconnected(home: ClientHome) -> None:
    home.write(CURSOR, "{}")
    look = home.look_now()
    assert [kind.id for kind in chosen("connect", [], look)] == ["cursor"]
    assert [kind.id for kind in chosen("disconnect", [], look)] == list(KINDS)


def test_a_client_that_is_named_twice_is_meant_once_and_one_that_is_unknown_is_said(home: ClientHome) -> None:
    assert [kind.id for kind in chosen("connect", ["kiro", "cursor", "kiro"], home.look_now())] == ["kiro", "cursor"]
    with pytest.raises(NotFound, match="no AI client 'nobody'"):
        chosen("disconnect", ["cursor", "nobody"], home.look_now())


def test_a_client_that_only_a_person_can_connect_gets_no_edit(home: ClientHome, around: Surroundings) -> None:
    kinds = [KINDS[id] for id in ("jetbrains-ai", "cherry-studio", "cursor")]
    assert [edit.kind.id for edit in planned("connect", kinds, around, home.look_now())] == ["cursor"]


def test_a_file_that_two_clients_share_is_edited_once(home: ClientHome, around: Surroundings) -> None:
    home.projects = (str(home.root / "p"),)
    home.write("p/.mcp.json", json.dumps({"mcpServers": {"tooltray": {"command": str(home.bridge)}}}))
    edits = planned("disconnect", list(KINDS.values()), around, home.look_now())
    assert [edit.path for edit in edits] == [home.root / "p/.mcp.json"]


def test_an_edit_is_found_again_by_its_name_and_is_of_the_file_as_it_is_now(home: ClientHome, around: Surroundings) -> None:
    home.write(CURSOR, "{}")
    (shown,) = planned("connect", [KINDS["cursor"]], around, home.look_now())
    home.write(CURSOR, '{"other": 1}')
    again = edit_named(shown.id, around, home.look_now())
    assert (again.id, again.revision != shown.revision, json.loads(again.text)["other"]) == (shown.id, True, 1)


@pytest.mark.parametrize("name", ["connect:cursor:/etc/passwd", "disconnect:cursor:/x", "remove:cursor:/x"])
def test_an_edit_that_is_not_to_be_made_is_not_found(home: ClientHome, around: Surroundings, name: str) -> None:
    home.write(CURSOR, "{}")
    with pytest.raises(Conflict, match="has changed since"):
        edit_named(name, around, home.look_now())
    with pytest.raises(NotFound):
        edit_named(name.replace("cursor", "nobody"), around, home.look_now())


@pytest.mark.parametrize(
    ("client", "said"),
    [("jetbrains-ai", "paste the entry"), ("cherry-studio", "no file can be written"), ("warp", "before it has made it")],
)
def test_why_a_client_cannot_be_connected_is_said(home: ClientHome, client: str, said: str) -> None:
    problem = why_unable(KINDS[client], home.look_now())
    assert problem
    assert said in problem.message


def test_a_client_whose_file_is_there_or_can_be_made_can_be_connected(home: ClientHome) -> None:
    assert why_unable(KINDS["cursor"], home.look_now()) is None
