"""server_news.py"""

import asyncio

from tests.fakes.hub_parts import HubParts

from tooltray.foundation.events import ServerChanged
from tooltray.foundation.snapshots.servers import ServerState


async def test_every_change_of_a_server_is_told_with_its_whole_card(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.heard.wait(lambda event: isinstance(event, ServerChanged) and event.server.tool_count == 2)
    states = [event.server.state for event in parts.heard.of(ServerChanged)]
    assert states[:2] == [ServerState.STARTING, ServerState.RUNNING]


async def test_calls_change_a_card_once_for_several_of_them(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.listed()
    told = len(parts.heard.of(ServerChanged))
    await asyncio.gather(parts.call("get_it"), parts.call("get_it"), parts.call("drop"))
    await parts.heard.wait(lambda event: isinstance(event, ServerChanged) and event.server.calls_today == 3)
    assert len(parts.heard.of(ServerChanged)) == told + 1


async def test_calls_of_a_server_that_is_gone_meanwhile_change_no_card(parts: HubParts) -> None:
    await parts.presenter.start_server("s")
    await parts.listed()
    await parts.call("get_it")
    await parts.presenter.remove_mcp_server("s")
    told = len(parts.heard.of(ServerChanged))
    await parts.ended()
    assert "s" not in [event.server.name for event in parts.heard.of(ServerChanged)[told:]]
