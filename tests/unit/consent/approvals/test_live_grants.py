"""live_grants.py: a grant counts until its own end, whatever the clock does."""

import json
from pathlib import Path

from tests.fakes.approval_desk import desk


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
