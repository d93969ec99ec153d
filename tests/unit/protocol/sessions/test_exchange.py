"""protocol/sessions/exchange.py"""

import itertools
from types import SimpleNamespace

import pytest
from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import MODERN_META, Client

from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Era, Head
from tooltray.protocol.sessions.exchange import CallTimings

REQUEST = Envelope(id=dump(7), method="tools/call", params=dump({"name": "t", "_meta": MODERN_META}))


async def test_questions_and_news_belong_to_the_request() -> None:
    client = Client(answer={"action": "accept"})
    exchange = exchange_of(REQUEST, client)
    assert bytes((await exchange.ask("elicitation/create", dump({}))).result) == b'{"action":"accept"}'
    exchange.tell("notifications/progress", dump({"progress": 1}))
    assert (client.asked.all, client.told.all) == ([("elicitation/create", {})], [("notifications/progress", {"progress": 1})])
    assert client.abouts == [7, 7]


def test_the_era_is_that_in_which_the_client_wrote_it() -> None:
    assert exchange_of(REQUEST, Client()).era is Era.MODERN
    assert exchange_of(Envelope(method="ping"), Client()).era is Era.LEGACY


def test_a_child_is_the_same_but_for_what_it_is_given() -> None:
    exchange = exchange_of(REQUEST, Client(), server="one", client="Editor 1")
    page, head, other = Envelope(method="tools/list"), Head(name="other"), Client(name="other")
    child = exchange.child(request=page, head=head, caller=other)
    assert (child.request, child.head, child.session, child.era) == (page, head, other, Era.LEGACY)
    same = exchange.child()
    assert (same.request, same.head, same.caller) == (exchange.request, exchange.head, exchange.caller)
    assert {(each.server, each.client, each.held) for each in (exchange, child, same)} == {("one", "Editor 1", None)}


@pytest.fixture(autouse=True)
def clock(monkeypatch: pytest.MonkeyPatch) -> None:
    """Each look at it is a second later."""
    ticks = itertools.count()
    monkeypatch.setattr("tooltray.protocol.sessions.exchange.time", SimpleNamespace(perf_counter=lambda: float(next(ticks))))


def test_a_person_the_start_and_the_server_have_their_own_time() -> None:
    timings = CallTimings()  # 0
    with timings.at_start():  # 1 to 2
        assert timings.waits_for == "start"
    assert (timings.waits_for, timings.start_s, timings.person_s, timings.server_s) == ("server", 1.0, None, None)
    with timings.at_server(), timings.at_person():  # 3, 4 to 5, 6
        assert timings.waits_for == "person"
    assert (timings.person_s, timings.server_s) == (1.0, 2.0)  # of three seconds a person had one
    with timings.at_person(), timings.at_server():
        pass
    assert (timings.person_s, timings.server_s) == (4.0, 3.0)
    assert timings.passed_s == 11.0


def test_of_several_questions_at_once_a_person_has_one_time() -> None:
    timings = CallTimings()
    with timings.at_person(), timings.at_person(), timings.at_start():  # 1 to 2
        assert timings.waits_for == "person"
    assert (timings.person_s, timings.start_s) == (1.0, None)


def test_until_there_is_a_reply_time_passes_and_then_it_stands() -> None:
    timings = CallTimings()
    assert (timings.passed_s, timings.passed_s) == (1.0, 2.0)
    timings.answered_at = 1.5
    assert (timings.passed_s, timings.passed_s) == (1.5, 1.5)
