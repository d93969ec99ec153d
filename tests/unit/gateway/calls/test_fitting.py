"""fitting.py: which results are cut, and that the record keeps how the call ended and when."""

from types import SimpleNamespace
from typing import Any

import pytest
from msgspec import Raw
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client

from tooltray.catalogue import auto_approve
from tooltray.catalogue.definition import read_definition
from tooltray.catalogue.tool_routes import Route
from tooltray.gateway.calls.fitting import Fitting
from tooltray.gateway.calls.stage import ERROR, OK, REFUSED, Terms
from tooltray.protocol.envelope import Envelope, dump, failure
from tooltray.protocol.eras import Era
from tooltray.protocol.sessions.exchange import Exchange, Work

WHOLE, CUT = Envelope(result=dump({"content": []})), Envelope(result=dump({"content": ["cut"]}))
FAILED = Envelope(result=dump({"content": [], "isError": True}))


class Cutter:
    """Cuts each result, and notes when the call had ended by then."""

    def __init__(self) -> None:
        self.seen: list[tuple[str, bool]] = []

    async def fitted(self, reply: Envelope, terms: Any, route: Route, exchange: Exchange) -> Envelope:
        assert terms == "the terms"
        self.seen.append((exchange.timings.outcome, bool(exchange.timings.answered_at)))
        return CUT


def work_of(reply: Envelope, *, limit: int | None = 500, clients: Any = None, terms: Any = "the terms", outcome: str = "") -> Any:
    """Returns the stage's work for calls that end with `reply`, what it composes from, and its cutter."""
    definition = read_definition(b'{"name":"t"}')
    route = Route("s", definition, auto_approve.decide("s", "t", None, ["all"]), result_limit=limit)

    async def then(exchange: Exchange) -> Envelope:
        exchange.timings.outcome = outcome
        return reply

    cutter = Cutter()
    config: Any = SimpleNamespace(settings=SimpleNamespace(publish=SimpleNamespace(clients=clients or {})))
    known: Any = SimpleNamespace(result_terms=lambda route, state: terms)
    stage = Fitting(config=config, clients=known, result_fitting=cutter)  # type: ignore[arg-type]
    work: Work = stage.bind(Terms(route, Era.LEGACY, False, True, False, False), lambda terms: then)
    return work, then, cutter


def called() -> Exchange:
    return exchange_of(Envelope(id=Raw(b"1"), method="tools/call", params=dump({"name": "t"})), Client())


@pytest.mark.parametrize(("reply", "outcome"), [(WHOLE, OK), (FAILED, ERROR)])
async def test_a_result_is_cut_after_the_call_has_ended_for_the_record(reply: Envelope, outcome: str) -> None:
    work, _, cutter = work_of(reply)
    assert await work(called()) is CUT
    assert cutter.seen == [(outcome, True)]


async def test_a_call_without_any_limit_skips_the_stage() -> None:
    work, then, _ = work_of(WHOLE, limit=None)
    assert work is then


async def test_a_client_with_settings_of_its_own_has_its_results_cut_although_the_tool_has_no_limit() -> None:
    work, _, cutter = work_of(WHOLE, limit=None, clients={"cursor": object()})
    assert await work(called()) is CUT
    assert cutter.seen


@pytest.mark.parametrize(("reply", "options"), [(WHOLE, {"terms": None}), (WHOLE, {"outcome": REFUSED}), (failure(-32603, "broken"), {})])
async def test_a_refusal_an_error_and_a_result_without_terms_stay_as_they_are(reply: Envelope, options: dict[str, Any]) -> None:
    work, _, cutter = work_of(reply, **options)
    exchange = called()
    assert await work(exchange) is reply
    assert not cutter.seen
    assert not exchange.timings.answered_at
