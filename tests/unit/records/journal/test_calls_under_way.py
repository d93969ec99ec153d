"""Who works now, on what."""

from tests.fakes.exchanges import exchange_of
from tests.fakes.hub_parts import Client

from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.protocol.envelope import Envelope, dump
from tooltray.records.journal.calls_under_way import CallsUnderWay


def test_calls_are_there_from_their_beginning_to_their_end_the_longest_first() -> None:
    under_way = CallsUnderWay()
    client = Client(name="s1")
    client.state.client = "Cursor"
    first, second = (exchange_of(Envelope(method="tools/call", params=dump({"name": "t"})), each) for each in (client, Client(name="s2")))
    under_way.calls[first] = "files", "read_file"
    under_way.calls[second] = "web", "get"
    client.state.projects["person"] = SessionProject("/p", "p", "person")
    with second.timings.at_person():
        one, other = under_way.now()
    assert (one.client, one.session, one.project, one.server, one.tool, one.waits_for) == (
        "Cursor",
        "s1",
        "/p",
        "files",
        "read_file",
        "server",
    )
    assert (other.client, other.project, other.waits_for) == ("test", "", "person")
    assert one.since <= other.since
    del under_way.calls[first]
    assert [each.server for each in under_way.now()] == ["web"]
