"""grants.py"""

import json
from pathlib import Path

import pytest
from tests.fakes.approval_desk import desk

from tooltray.consent.approvals.grants import LONGEST_DEFINITION, Grant, LiveGrants, ScreenLock, grant_store
from tooltray.foundation.events import EventBus

ONE = Grant(id="1", kind="tool", server="s", tool="t", client="c", created_at=1.0, expires_at=2.0, tools={"t": "f1"})
TWO = Grant(id="2", kind="reads", server="s", tools={"a": "f1", "b": "f2"})


def grants(path: Path) -> LiveGrants:
    """Those of a file, while ONE has not expired."""
    return LiveGrants(grant_store=grant_store(path), screen_lock=ScreenLock(bus=EventBus(), has_window=True), now=lambda: 1.5)


async def test_grants_are_there_again_after_a_restart_in_the_spelling_of_the_other_files(tmp_path: Path) -> None:
    path = tmp_path / "grants.json"
    await grants(path).write([ONE, TWO], {"f1": "one", "f2": "two"})
    again = grants(path)
    assert again.all() == [ONE, TWO]
    assert (again.definition("f1"), again.definition("f2"), again.definition("f3")) == ("one", "two", "")
    assert json.loads(path.read_bytes())["grants"][0]["createdAt"] == 1.0


async def test_a_definition_that_no_grant_needs_is_left_out_and_one_that_is_very_long(tmp_path: Path) -> None:
    live = grants(tmp_path / "grants.json")
    await live.write([TWO], {"f1": "one", "f2": "x" * (LONGEST_DEFINITION + 1)})
    await live.write([ONE], {})
    assert (live.definition("f1"), live.definition("f2")) == ("one", "")
    await live.write([], {})
    assert live.definition("f1") == ""


@pytest.mark.parametrize("content", ['{"version": 2}', '{"grants": [{"id": "1", "kind": "all", "server": "s"}]}'])
def test_what_this_version_does_not_write_allows_nothing(tmp_path: Path, content: str) -> None:
    path = tmp_path / "grants.json"
    path.write_text(content)
    live = grants(path)
    assert (live.all(), bool(live.problem)) == ([], True)


@pytest.mark.parametrize("written", ["NaN", "Infinity", "-1", "1e300"])
@pytest.mark.parametrize("member", ["createdAt", "expiresAt"])
def test_a_time_that_no_clock_shows_allows_nothing(tmp_path: Path, member: str, written: str) -> None:
    path = tmp_path / "grants.json"
    path.write_text(f'{{"grants": [{{"id": "1", "kind": "tool", "server": "s", "{member}": {written}}}]}}')
    live = grants(path)
    assert (live.all(), bool(live.problem)) == ([], True)


async def test_a_grant_that_has_expired_counts_no_more_and_is_not_listed(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        await here.parts.presenter.add_grant("s", "tool", "write_it", expires_in_s=1e-9)
        assert "error" in await here.call()
        assert await here.parts.presenter.get_grants() == []


async def test_a_grant_for_a_time_does_not_last_longer_because_the_clock_is_set_back(tmp_path: Path) -> None:
    async with desk(tmp_path, has_window=False) as here:
        await here.parts.presenter.add_grant("s", "tool", "write_it", expires_in_s=3600.0)
        file = json.loads(here.parts.home.grants.read_text())
        [grant] = file["grants"]
        grant |= {"createdAt": grant["createdAt"] + 7200, "expiresAt": grant["expiresAt"] + 7200}
        here.parts.home.grants.write_text(json.dumps(file))
    async with desk(tmp_path, has_window=False) as here:
        assert "error" in await here.call()
        assert await here.parts.presenter.get_grants() == []
