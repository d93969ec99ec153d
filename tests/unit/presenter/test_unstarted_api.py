"""presenter/unstarted_api.py and unstarted_parts.py: what commands do not reach; the commands' own tests prove the rest."""

import json
from collections.abc import AsyncIterator

import pytest

from tooltray.api import Api
from tooltray.confirmation import PERSON, asked_by
from tooltray.errors import NotFound, TooltrayError
from tooltray.home.home import Home
from tooltray.presenter.unstarted_api import unstarted_api
from tooltray.presenter.unstarted_parts import ProjectFiles, UnstartedParts


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
    with pytest.raises(TooltrayError, match="No hub is running: get_sessions needs one"):
        await api.views.get_sessions()


async def test_a_token_is_not_trusted_for_the_time_of_a_hub_that_does_not_run(api: Api) -> None:
    with asked_by(PERSON), pytest.raises(TooltrayError, match="No token was made"):
        await api.access.create_api_token("ci", trusted=True)
    assert [each.name for each in await api.access.list_api_tokens()] == []


async def test_no_server_of_a_project_is_changed(parts: UnstartedParts) -> None:
    with pytest.raises(NotFound, match="there is no server 'db' of a project"):
        await ProjectFiles(parts).change("db", {}, "")
