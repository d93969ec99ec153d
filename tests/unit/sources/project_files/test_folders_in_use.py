"""folders_in_use.py: which folders are in use."""

from typing import Any

import pytest
from tests.fakes.manual_wheel import ManualWheel

from tooltray.foundation.events import EventBus
from tooltray.foundation.snapshots.clients import SessionProject
from tooltray.protocol.sessions.session_state import KEPT_FOR_S, SessionMoved, SessionState, SessionStates
from tooltray.sources.project_files.folders_in_use import FoldersInUse, FoldersInUseChanged
from tooltray.sources.projects.projects import UNUSED_S


class Sessions:
    """
    Attributes:
        told: what was in use each time that it changed.
        empty: folders about which there is nothing worth keeping.
    """

    def __init__(self) -> None:
        self.wheel = ManualWheel()
        deadlines: Any = self.wheel
        self.bus = EventBus()
        self.states = SessionStates(bus=self.bus, deadlines=deadlines)
        self.told: list[tuple[str, ...]] = []
        self.empty: set[str] = set()
        self.in_use = FoldersInUse(
            states=self.states,
            bus=self.bus,
            deadlines=deadlines,
            keeps=lambda folder: folder not in self.empty,
        )
        self.bus.subscribe(FoldersInUseChanged, lambda event: self.told.append(self.in_use.folders))

    def works_on(self, state: SessionState, folder: str) -> None:
        state.projects["folder"] = SessionProject(folder, "x", "folder")
        self.bus.publish(SessionMoved(state))


@pytest.fixture
def sessions() -> Sessions:
    return Sessions()


def test_a_folder_is_in_use_from_its_first_session_until_a_while_after_its_last_one(sessions: Sessions) -> None:
    for key in ("a", "b"):
        sessions.works_on(sessions.states.connect(key), "/p")
    assert ("/p" in sessions.in_use, sessions.told) == (True, [("/p",)])
    sessions.states.disconnect("a")
    assert sessions.wheel.expire(UNUSED_S) == 0
    sessions.states.disconnect("b")
    sessions.states.connect("b")
    assert sessions.wheel.expire(UNUSED_S) == 0
    sessions.states.disconnect("b")
    assert sessions.wheel.expire(UNUSED_S) == 1
    assert sessions.told == [("/p",), ()]


def test_a_session_that_turns_to_another_project_leaves_its_old_one(sessions: Sessions) -> None:
    state = sessions.states.connect("a")
    sessions.works_on(state, "/p")
    sessions.works_on(state, "/q")
    sessions.works_on(state, "/q")
    sessions.wheel.expire(UNUSED_S)
    assert sessions.told == [("/p",), ("/p", "/q"), ("/q",)]
    state.projects.clear()
    sessions.bus.publish(SessionMoved(state))
    sessions.wheel.expire(UNUSED_S)
    assert sessions.in_use.folders == ()


def test_a_session_of_requests_works_on_its_project_until_it_is_forgotten(sessions: Sessions) -> None:
    state = sessions.states.connect("a", is_lasting=False)
    sessions.works_on(state, "/p")
    sessions.states.disconnect("a", is_lasting=False)
    assert sessions.wheel.expire(UNUSED_S) == 0
    sessions.wheel.expire(KEPT_FOR_S)
    assert sessions.wheel.expire(UNUSED_S) == 1
    assert sessions.in_use.folders == ()


def test_a_session_that_has_left_holds_nothing_whatever_is_learned_of_it(sessions: Sessions) -> None:
    state = sessions.states.connect("a")
    sessions.states.disconnect("a")
    sessions.works_on(state, "/p")
    assert sessions.in_use.folders == ()
    sessions.wheel.expire(KEPT_FOR_S)
    sessions.bus.publish(SessionMoved(state))
    assert sessions.in_use.folders == ()


def test_a_session_without_a_project_holds_nothing_and_leaves_nothing(sessions: Sessions) -> None:
    sessions.states.connect("a")
    sessions.states.disconnect("a")
    sessions.wheel.expire(KEPT_FOR_S)
    assert sessions.told == []


def test_a_person_without_a_session_has_it_for_a_while(sessions: Sessions) -> None:
    sessions.in_use.touch("/p")
    sessions.in_use.touch("/p")
    assert sessions.wheel.expire(UNUSED_S) == 1
    assert sessions.told == [("/p",), ()]


def test_a_folder_about_which_there_is_nothing_is_left_at_once(sessions: Sessions) -> None:
    sessions.works_on(sessions.states.connect("a"), "/p")
    sessions.empty.add("/p")
    sessions.in_use.end_needless_leases()
    assert sessions.told == [("/p",)]
    sessions.states.disconnect("a")
    assert sessions.told == [("/p",), ()]
    assert sessions.wheel.expire(UNUSED_S) == 0
