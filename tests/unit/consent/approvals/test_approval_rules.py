"""approval_rules.py: a client's own rules count in the place of a server's."""

from pathlib import Path
from types import SimpleNamespace

import pytest
from tests.fakes.approval_desk import desk

from tooltray.catalogue import auto_approve
from tooltray.catalogue.definition import read_definition
from tooltray.catalogue.tool_routes import Route
from tooltray.consent.approvals.approval_rules import ApprovalRules
from tooltray.foundation.errors import NotFound
from tooltray.protocol.envelope import NOTHING
from tooltray.protocol.sessions.session_state import SessionState


async def test_a_clients_own_rules_go_in_the_place_of_the_servers(tmp_path: Path) -> None:
    clients = {"publish": {"clients": {"Cursor": {"autoApprove": []}, "Own": {"autoApprove": ["write"]}}}}
    async with desk(tmp_path, autoApprove=["all"], settings=clients, has_window=False) as here:
        said = await here.refusal("read_it")
        assert "only reads, so it needs the user's approval" in said
        assert "result" in await here.call("write_it", here.session("Own"))
        assert "result" in await here.call("read_it", here.session("Other"))


async def test_a_slip_in_the_settings_lets_no_client_do_more(tmp_path: Path) -> None:
    clients = {"zz": {"mode": "bogus"}, "Cursor": {"autoApprove": "none"}, "Careful": {"autoApprove": []}, "Odd": ["read"]}
    async with desk(tmp_path, autoApprove=["all"], settings={"publish": {"clients": clients}}, has_window=False) as here:
        assert "only reads" in await here.refusal("read_it", here.session("Careful"))
        for name in ("Cursor", "Odd"):  # an odd mode restricts nothing
            assert "Unknown tool" in await here.refusal("read_it", here.session(name))
        told = [problem.message for problem in here.parts.conf.problems]
        places = [message.split(": ")[2].removeprefix("publish.") for message in told]
        assert places == ["clients.zz.mode", "clients.Cursor.autoApprove", "clients.Odd"]


@pytest.mark.parametrize(
    ("rules", "is_builtin", "is_approved"), [((), False, False), ((), True, True), (None, False, True), (None, True, True)]
)
def test_the_servers_own_decision_counts_without_rules_of_the_client_and_for_built_in_servers(
    rules: tuple[str, ...] | None, is_builtin: bool, is_approved: bool
) -> None:
    modes = SimpleNamespace(auto_approve=lambda state: rules)
    servers = SimpleNamespace(get=lambda name: SimpleNamespace(is_builtin=is_builtin))
    tool = read_definition(b'{"name":"write_it"}')
    route = Route("s", tool, auto_approve.decide("s", tool.name, None, ["all"]))
    guard = SimpleNamespace(guarded=lambda decision, *call: decision)
    found = ApprovalRules(config=None, servers=servers, modes=modes, flow_guard=guard, settle_project=None).decision(
        route, SessionState("1"), NOTHING
    )
    assert found.is_approved is is_approved


@pytest.mark.parametrize(
    ("is_enabled", "clients", "has_guard", "approve", "is_free"),
    [
        (True, {}, False, ["all"], True),
        (False, {}, False, ["all"], False),
        (True, {"c": {}}, False, ["all"], False),
        (True, {}, True, ["all"], False),
        (True, {}, False, [], False),
    ],
)
def test_a_tool_is_free_where_nothing_could_make_a_call_of_it_ask(
    is_enabled: bool, clients: dict[str, object], has_guard: bool, approve: list[str], is_free: bool
) -> None:
    config = SimpleNamespace(settings=SimpleNamespace(mcp_enabled=is_enabled, publish=SimpleNamespace(clients=clients)))
    tool = read_definition(b'{"name":"write_it"}')
    route = Route("s", tool, auto_approve.decide("s", tool.name, None, approve))
    guard = SimpleNamespace(is_on=has_guard)
    assert ApprovalRules(config=config, servers=None, modes=None, flow_guard=guard, settle_project=None).frees(route) is is_free


async def test_a_call_is_renewed_with_its_server_started_or_as_it_is() -> None:
    looked: list[str] = []
    found: list[object] = [object(), object(), None, None]

    async def confirmed() -> object:
        looked.append("confirmed")
        return found.pop()

    def current() -> object:
        looked.append("current")
        return found.pop()

    call = SimpleNamespace(confirmed=confirmed, current=current, is_for=lambda now: True, shown_tool="t")
    rules = ApprovalRules(config=None, servers=None, modes=None, flow_guard=None, settle_project=None)
    for is_started in (True, False):
        with pytest.raises(NotFound, match="the tool 't' is not offered any more"):
            await rules.renewed(call, is_started=is_started)
    for is_started in (True, False):
        assert await rules.renewed(call, is_started=is_started) is call
    assert looked == ["confirmed", "current"] * 2


async def test_while_paused_nothing_is_allowed(tmp_path: Path) -> None:
    async with desk(tmp_path, autoApprove=["all"], has_window=False) as here:
        [route] = [each for each in here.parts.tools.routes("s").values() if each.definition.name == "read_it"]
        assert here.parts.rules.allow(route, here.client.state, NOTHING)
        await here.parts.presenter.set_mcp_enabled(False)
        assert not here.parts.rules.allow(route, here.client.state, NOTHING)
