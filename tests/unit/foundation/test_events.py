"""The bus: every handler hears every event of its kind, in order, and no handler can spoil it for others."""

import inspect
import logging
from typing import Any

import pytest

from tooltray.foundation import events
from tooltray.foundation.events import (
    EVENTS,
    FOR_THE_WINDOW,
    ClientListUpdated,
    Event,
    EventBus,
    ServerStarted,
    ServerStopped,
    SessionsChanged,
    ToolListChanged,
)


def test_a_handler_hears_the_events_of_its_kind_in_order_and_at_once() -> None:
    bus, heard = EventBus(), []
    bus.subscribe(ServerStarted, heard.append)
    for event in (ServerStarted("a"), ServerStopped("a"), ServerStarted("b")):
        bus.publish(event)
    assert heard == [ServerStarted("a"), ServerStarted("b")]


def test_what_a_handler_publishes_reaches_every_handler_after_the_event_it_handles() -> None:
    bus, heard = EventBus(), []

    def publish_more(event: ServerStarted) -> None:
        if event.server_name == "first":
            bus.publish(ServerStarted("second"))

    bus.subscribe(ServerStarted, publish_more)
    bus.subscribe(ServerStarted, lambda event: heard.append(event.server_name))
    bus.publish(ServerStarted("first"))
    bus.publish(ServerStarted("third"))
    assert heard == ["first", "second", "third"]


def test_handlers_hear_an_event_in_the_order_in_which_they_subscribed() -> None:
    bus, heard = EventBus(), []
    for name in "abc":
        bus.subscribe(ServerStarted, lambda event, name=name: heard.append(name))
    bus.publish(ServerStarted("s"))
    assert heard == ["a", "b", "c"]


def test_who_has_unsubscribed_hears_nothing_more() -> None:
    bus, heard = EventBus(), []
    end = bus.subscribe(ServerStarted, heard.append)
    bus.publish(ServerStarted("a"))
    end()
    end()
    bus.publish(ServerStarted("b"))
    assert heard == [ServerStarted("a")]


def test_one_may_hear_everything() -> None:
    bus, heard = EventBus(), []
    end = bus.subscribe_all(heard.append)
    bus.publish(SessionsChanged(1))
    bus.publish(ClientListUpdated())
    end()
    bus.publish(SessionsChanged(2))
    assert heard == [SessionsChanged(1), ClientListUpdated()]


@pytest.mark.expected_warnings("a handler of ToolListChanged failed")
def test_a_handler_that_fails_is_logged_and_the_others_still_hear(caplog: pytest.LogCaptureFixture) -> None:
    bus, heard = EventBus(), []

    def fail(event: Any) -> None:
        raise KeyError("oops")

    bus.subscribe(ToolListChanged, fail)
    bus.subscribe(ToolListChanged, heard.append)
    with caplog.at_level(logging.ERROR):
        bus.publish(ToolListChanged("s"))
    assert heard == [ToolListChanged("s")]
    assert len(caplog.records) == 1


def test_a_handler_may_unsubscribe_and_subscribe_while_it_is_called() -> None:
    bus, heard = EventBus(), []
    ends: list[Any] = []

    def once(event: ServerStarted) -> None:
        heard.append("once")
        ends.pop()()
        bus.subscribe(ServerStarted, lambda later: heard.append("later"))

    ends.append(bus.subscribe(ServerStarted, once))
    bus.subscribe(ServerStarted, lambda event: heard.append("always"))
    bus.publish(ServerStarted("a"))
    assert heard == ["once", "always"]
    bus.publish(ServerStarted("b"))
    assert heard == ["once", "always", "always", "later"]


def test_a_handler_may_publish() -> None:
    bus, heard = EventBus(), []
    bus.subscribe(ServerStarted, lambda event: bus.publish(ServerStopped(event.server_name)))
    bus.subscribe(ServerStopped, heard.append)
    bus.publish(ServerStarted("a"))
    assert heard == [ServerStopped("a")]


def test_an_event_that_is_not_public_reaches_who_subscribes_to_it_and_never_who_takes_all() -> None:
    class Moved(Event, frozen=True):
        """As rooms of the engine define them."""

    bus, heard, all_heard = EventBus(), list[Moved](), []
    end = bus.subscribe(Moved, heard.append)
    bus.subscribe_all(all_heard.append)
    bus.publish(Moved())
    end()
    end()
    bus.publish(Moved())
    assert heard == [Moved()]
    assert all_heard == []


def test_a_bus_knows_whether_anybody_hears_of_an_event() -> None:
    bus = EventBus()
    assert not bus.is_heard(ServerStarted)
    end = bus.subscribe(ServerStarted, lambda event: None)
    assert bus.is_heard(ServerStarted)
    end()
    assert not bus.is_heard(ServerStarted)


def test_events_cannot_be_changed() -> None:
    for kind in EVENTS:
        assert kind.__struct_config__.frozen, kind


def test_every_event_is_on_the_bus_and_in_its_list() -> None:
    """What is derived from Event in the module of the events is one."""
    made = {kind for _, kind in inspect.getmembers(events, inspect.isclass) if issubclass(kind, Event) and kind is not Event}
    assert made - set(FOR_THE_WINDOW) == set(EVENTS)
