"""exchange.py"""

from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import MODERN_META, Client

from tooltray.protocol.envelope import Envelope, dump
from tooltray.protocol.eras import Era, Head

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
