"""What is kept of a session: found again by its next connection, for ten minutes, and not for ever."""

from typing import Any

from tests.fakes.manual_wheel import ManualWheel

from tooltray.foundation.events import EventBus, SessionListChanged
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.protocol.sessions.session_state import (
    KEPT_FOR_S,
    MOST_KEPT,
    MOST_VIEWS,
    SessionConnected,
    SessionDisconnected,
    SessionForgotten,
    SessionState,
    SessionStates,
)


class World:
    """States, and who hears of them."""

    def __init__(self) -> None:
        self.bus, self.wheel = EventBus(), ManualWheel()
        self.states = SessionStates(bus=self.bus, deadlines=self.wheel)  # type: ignore[arg-type]
        self.told = 0
        self.heard: list[tuple[str, str]] = []
        self.bus.subscribe(SessionListChanged, self._on_changed)
        self.bus.subscribe(SessionConnected, lambda event: self.heard.append(("connected", event.state.id)))
        self.bus.subscribe(SessionDisconnected, lambda event: self.heard.append(("ended", event.state.id)))

    def _on_changed(self, event: Any) -> None:
        self.told += 1


def test_a_connection_of_the_same_key_finds_what_the_session_had() -> None:
    world = World()
    first = world.states.connect("k", server="one", folder="/p", profile="work")
    first.activated.add("s")
    world.states.disconnect("k")
    again = world.states.connect("k", server="other", folder="/q")
    assert again is first
    assert (again.server, again.folder, again.profile, again.activated) == ("one", "/p", "work", {"s"})
    assert world.wheel.waiting == []  # it is connected: nothing runs out
    assert world.heard == [("connected", first.id), ("ended", first.id), ("connected", first.id)]


def test_other_keys_are_other_sessions_with_other_ids() -> None:
    world = World()
    one, two = world.states.connect("a"), world.states.connect("b")
    assert one is not two
    assert {state.id for state in world.states} == {one.id, two.id}
    world.states.disconnect("a")
    assert (list(world.states), list(world.states.connected)) == ([one, two], [two])
    assert (world.states.find(two.id), world.states.find("nobody")) == (two, None)


def test_what_nobody_comes_back_for_is_forgotten_after_ten_minutes() -> None:
    world = World()
    state = world.states.connect("k")
    state.activated.add("s")
    world.states.disconnect("k")
    assert (KEPT_FOR_S, list(world.states)) == (600.0, [state])
    assert world.wheel.expire(KEPT_FOR_S) == 1
    assert list(world.states) == []
    assert world.states.connect("k").activated == set()


def test_who_listens_hears_what_is_forgotten_also_of_requests_that_stand_for_themselves() -> None:
    world = World()
    world.bus.subscribe(SessionForgotten, lambda event: world.heard.append(("forgotten", event.state.id)))
    state = world.states.connect("k", is_lasting=False)
    world.states.disconnect("k", is_lasting=False)
    world.states.connect("k", is_lasting=False)
    world.states.disconnect("k", is_lasting=False)
    assert ("forgotten", state.id) not in world.heard
    world.wheel.expire(KEPT_FOR_S)
    assert world.heard[-1] == ("forgotten", state.id)


def test_two_connections_at_once_share_one_state_and_the_last_to_leave_ends_it() -> None:
    world = World()
    state = world.states.connect("k")
    assert world.states.connect("k") is state
    world.states.disconnect("k")
    assert (state.connections, world.wheel.waiting) == (1, [])
    world.states.disconnect("k")
    assert (state.connections, len(world.wheel.waiting)) == (0, 1)
    assert world.heard == [("connected", state.id), ("ended", state.id)]


def test_requests_that_stand_for_themselves_share_a_state_without_telling_everybody_each_time() -> None:
    world = World()
    for _ in range(3):
        world.states.connect("token", is_lasting=False)
        world.states.disconnect("token", is_lasting=False)
    assert (len(list(world.states)), world.told) == (1, 1)
    assert len(world.wheel.waiting) == 1


def test_the_oldest_of_very_many_that_left_go_first() -> None:
    world = World()
    stays = world.states.connect("stays")
    for number in range(MOST_KEPT + 1):
        world.states.connect(number)
        world.states.disconnect(number)
    assert len(list(world.states)) == MOST_KEPT + 1
    assert world.states.find(stays.id) is stays
    assert len(world.wheel.waiting) == MOST_KEPT
    assert [each.id for each in world.states][:2] == [stays.id, "s3"]  # s2 was the first that left


def test_whoever_is_first_in_the_order_says_which_project_a_session_works_on() -> None:
    state = SessionState("s1")
    assert state.project is None
    for source in ("person", "folder", "roots", "feedback"):
        state.projects[source] = SessionProject(f"/{source}", source, source)
        assert state.project is state.projects[source]
    del state.projects["feedback"]
    assert state.project is state.projects["roots"]


def test_the_views_that_a_client_may_be_showing_are_those_it_opened_else_those_it_read_the_last_first() -> None:
    state = SessionState("s1")
    state.reads_view("a")
    state.reads_view("b")
    assert (state.showing("ab"), state.showing("a"), state.showing("c")) == (["b", "a"], ["a"], [])
    state.opens_view("c")
    state.opens_view("a")
    state.opens_view("a")
    assert (state.showing("abc"), state.showing("b")) == (["a", "c"], ["b"])
    for number in range(2 * MOST_VIEWS):
        state.opens_view(f"s{number}")
    assert len(state.opened_views) == MOST_VIEWS


def test_whose_something_is_that_lasts_is_told_by_the_bridge_or_the_token_also_in_the_next_hub() -> None:
    world, later = World(), World()

    def owner(key: Any, where: World = world) -> str:
        return where.states.connect(key).owner

    assert owner(("bridge", "b1", None, "")) == owner(("bridge", "b1", "s", "p")) == owner(("bridge", "b1", None, ""), later)
    assert owner(("token", "t", None)) == owner(("token", "t", "s"))
    assert len({owner(("bridge", "b1")), owner(("bridge", "b2")), owner(("token", "b1")), owner(7), owner(7, later)}) == 5
    assert "hidden" not in owner(("bridge", "hidden"))
    assert world.states.connect("passes", is_passing=True).owner == ""
