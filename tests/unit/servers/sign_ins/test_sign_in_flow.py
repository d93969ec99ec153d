"""sign_in_flow.py, with an authorization server that a test plays; see test_sign_ins.py for the rest of the way."""

from typing import Any

import pytest
from tests.fakes.fake_clock import in_fake_time
from tests.unit.servers.sign_ins.test_server_access import GOOD, Played

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.tasks import TaskKeeper
from tooltray.servers.sign_ins.authorization_client import PendingSignIn
from tooltray.servers.sign_ins.sign_in_flow import LIMIT_S, SignInFlow
from tooltray.servers.sign_ins.tokens import Tokens


class Page(Played):
    """Where to sign in."""

    registration = None

    async def begin(self, *, redirect_uri: str, challenge: str | None, scopes: Any) -> PendingSignIn:
        self.redirect_uri = redirect_uri
        place: Any = None
        return PendingSignIn("https://sign-in.example/page", "state", "verifier", redirect_uri, tuple(scopes), place, GOOD.registration)

    async def finish(self, pending: PendingSignIn, params: Any) -> Tokens:
        return GOOD


async def nothing_to_find() -> None:
    pass


@in_fake_time
async def test_where_nobody_comes_back_it_ends_after_ten_minutes() -> None:
    keeper, changes = TaskKeeper(), []
    flow = SignInFlow(Page(keeper, None).access, find_challenge=nothing_to_find, on_changed=lambda: changes.append(flow.page))
    keeper.spawn(flow.run(), name="flow")
    page = await flow.wait_for_page()
    with pytest.raises(TooltrayError, match=f"within {LIMIT_S / 60:g} min"):
        await flow.wait_until_over()
    assert changes == [page, None]
    assert (await flow.wait_for_page()) == page  # who asked for it in time may still look at it


async def test_a_bug_in_the_middle_is_said_and_logged_and_nobody_waits_for_ever(caplog: pytest.LogCaptureFixture) -> None:
    async def fail() -> None:
        raise ZeroDivisionError

    flow = SignInFlow(Page(TaskKeeper(), None).access, find_challenge=fail, on_changed=lambda: None)
    with pytest.raises(ZeroDivisionError):
        await flow.run()
    for wait in (flow.wait_for_page, flow.wait_until_over):
        with pytest.raises(TooltrayError, match="internal error"):
            await wait()


async def test_the_port_of_the_settings_is_used() -> None:
    keeper = TaskKeeper()
    taken = Page(keeper, None)
    first = SignInFlow(taken.access, find_challenge=nothing_to_find, on_changed=lambda: None)
    keeper.spawn(first.run(), name="first")
    await first.wait_for_page()
    port = int(taken.redirect_uri.rpartition(":")[2].partition("/")[0])
    second = SignInFlow(Page(keeper, None, redirectPort=port).access, find_challenge=nothing_to_find, on_changed=lambda: None)
    await second.run()
    with pytest.raises(TooltrayError, match=f"another program uses port {port}"):
        await second.wait_for_page()
    await keeper.close()


async def test_a_flow_that_ends_before_its_first_step_leaves_nobody_waiting() -> None:
    keeper = TaskKeeper()
    flow = SignInFlow(Page(keeper, None).access, find_challenge=nothing_to_find, on_changed=lambda: None)
    task = keeper.spawn(flow.run(), name="flow")
    task.add_done_callback(flow.on_done)
    task.cancel()
    for wait in (flow.wait_for_page, flow.wait_until_over):
        with pytest.raises(TooltrayError, match="cancelled"):
            await wait()
    assert flow.is_over
