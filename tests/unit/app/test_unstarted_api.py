"""unstarted_api.py and unstarted_parts.py: what commands do not reach; the commands' own tests prove the rest."""

import contextlib
import copy
import inspect
import json
from collections.abc import AsyncIterator, Mapping
from typing import Any, get_origin

import pytest
from tests.fakes.verb_table import KINDS

from tooltray.api.parts import Api, verbs_of
from tooltray.app.unstarted_api import unstarted_api
from tooltray.app.unstarted_parts import ProjectFiles, UnstartedParts
from tooltray.foundation.confirm_widening import PERSON, asked_by
from tooltray.foundation.errors import Conflict, NotFound, TooltrayError
from tooltray.foundation.home.home import Home

SAMPLES: dict[Any, Any] = {Mapping: {}, dict: {}, list: [], tuple: (), int: 7}
"""What is given for a type; "x" for all others."""


@pytest.fixture
async def parts(hub_home: Home) -> AsyncIterator[UnstartedParts]:
    """Of a home whose secrets end with a hub."""
    hub_home.prepare()
    hub_home.settings.write_text(json.dumps({"version": 1, "secrets": {"backend": "memory"}}))
    parts = UnstartedParts(hub_home, note=pytest.fail)
    await parts.load()
    yield parts
    await parts.close()


@pytest.fixture
def api(parts: UnstartedParts) -> Api:
    return unstarted_api(parts)


async def test_what_needs_a_running_hub_is_not_offered(api: Api) -> None:
    with pytest.raises(TooltrayError, match="Tooltray is not running: get_sessions needs one"):
        await api.views.get_sessions()


@pytest.mark.parametrize(
    ("part", "verb"), [(part, verb) for part, kind in KINDS.items() if part != "registries" for verb in verbs_of(kind)]
)
async def test_a_verb_is_done_or_not_offered_and_never_a_bug(api: Api, part: str, verb: str) -> None:
    """Also one that a class here inherits without having what it stands on."""
    call = getattr(getattr(api, part), verb)
    parameters = inspect.signature(getattr(KINDS[part], verb)).parameters.values()
    given = {
        each.name: SAMPLES.get(get_origin(each.annotation) or each.annotation, "x") for each in parameters if each.default is each.empty
    }
    given.pop("self")
    with contextlib.suppress(TooltrayError), asked_by(PERSON):  # "x" names nothing
        await call(**given)


def test_a_part_that_is_not_there_is_no_attribute_for_who_only_looks(parts: UnstartedParts) -> None:
    assert copy.copy(unstarted_api(parts).hub._made()) is not None  # type: ignore[attr-defined]


async def test_a_token_is_not_trusted_for_the_time_of_a_hub_that_does_not_run(api: Api) -> None:
    with asked_by(PERSON), pytest.raises(TooltrayError, match="No token was created"):
        await api.access.create_api_token("ci", trusted=True)
    assert [each.name for each in await api.access.list_api_tokens()] == []


async def test_a_server_that_is_not_there_is_not_changed(api: Api) -> None:
    with asked_by(PERSON), pytest.raises(NotFound, match="Server 'gone' not found"):
        await api.servers.update_mcp_server("gone", {"command": "x", "autoApprove": ["all"]})


async def test_of_two_servers_with_one_name_the_second_is_refused(api: Api) -> None:
    with asked_by(PERSON):
        await api.servers.add_mcp_server("one", {"command": "x"})
        with pytest.raises(Conflict, match="there is a server 'one' already"):
            await api.servers.add_mcp_server("one", {"command": "y"})


async def test_a_new_server_does_not_replace_an_entry_that_cannot_be_used(hub_home: Home) -> None:
    hub_home.prepare()
    hub_home.settings.write_text(json.dumps({"version": 1, "mcpServers": {"bad": {"note": 1}}}))
    before = hub_home.settings.read_bytes()
    parts = UnstartedParts(hub_home, note=print)
    await parts.load()
    with asked_by(PERSON), pytest.raises(Conflict, match="there is a server 'bad' already"):
        await unstarted_api(parts).servers.add_mcp_server("bad", {"command": "x"})
    await parts.close()
    assert hub_home.settings.read_bytes() == before


async def test_an_entry_that_cannot_be_used_is_corrected(hub_home: Home) -> None:
    hub_home.prepare()
    hub_home.settings.write_text(json.dumps({"version": 1, "mcpServers": {"bad": {"note": 1}}}))
    noted: list[str] = []
    parts = UnstartedParts(hub_home, note=noted.append)
    await parts.load()
    assert "neither a command nor a URL" in noted[0]
    with asked_by(PERSON):
        await unstarted_api(parts).servers.update_mcp_server("bad", {"command": "x"})
    await parts.close()
    assert json.loads(hub_home.settings.read_text())["mcpServers"] == {"bad": {"command": "x"}}


async def test_no_server_of_a_project_is_changed(parts: UnstartedParts) -> None:
    with pytest.raises(NotFound, match="no project has a server 'db'"):
        await ProjectFiles(parts).change("db", {}, "")
