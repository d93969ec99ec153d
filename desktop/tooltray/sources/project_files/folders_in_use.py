"""Tracks which folders are in use, by sessions or by calls of the user: the servers of their files run."""

from collections.abc import Callable
from functools import partial

from tooltray.foundation.events import Event, EventBus
from tooltray.protocol.deadlines import Deadline, DeadlineWheel
from tooltray.protocol.sessions.session_state import (
    SessionConnected,
    SessionDisconnected,
    SessionForgotten,
    SessionMoved,
    SessionState,
    SessionStates,
)
from tooltray.sources.projects.projects import UNUSED_S


class FoldersInUseChanged(Event, frozen=True):
    """An event: folders came into use, or are not in use any more. For other packages of the engine."""


class FoldersInUse:
    """The folders in use, as real paths, in the order in which they came into use: folders of sessions, and for a while of sessions that
    have ended. Belongs to the engine's loop.

    Attributes:
        project: a folder whose file's servers are for all sessions; empty for none.
    """

    def __init__(
        self, *, states: SessionStates, bus: EventBus, deadlines: DeadlineWheel, keeps: Callable[[str], bool], project: str = ""
    ) -> None:
        """
        Args:
            keeps: returns whether a folder without a session is worth a lease.
            project: a folder whose file's servers are for all sessions; empty for none.
        """
        self.project = project
        self._states, self._bus = states, bus
        self._deadlines, self._keeps = deadlines, keeps
        self._held: dict[str, str] = {}  # folder by the id of a connected session; a session of single requests until it is forgotten
        self._gone: set[str] = set()  # ids of disconnected sessions, which may come back
        self._folders: dict[str, None] = {}
        self._leases: dict[str, Deadline] = {}  # of folders without a session
        bus.subscribe(SessionConnected, self._on_connected)
        bus.subscribe(SessionMoved, self._on_moved)
        bus.subscribe(SessionDisconnected, self._on_disconnected)
        bus.subscribe(SessionForgotten, self._on_forgotten)

    def __contains__(self, folder: str) -> bool:
        """Returns whether a session works, or worked until recently, on a folder."""
        return folder in self._folders

    @property
    def folders(self) -> tuple[str, ...]:
        """All folders in use, `project` first."""
        return tuple(dict.fromkeys((*([self.project] if self.project else []), *self._folders)))

    def _on_moved(self, event: SessionMoved) -> None:
        """Records the project of a session, which may have changed."""
        state = event.state
        if state.id not in self._gone and self._states.find(state.id) is state:
            self._hold(state)

    def note_use(self, state: SessionState) -> None:
        """Takes the project of a call by the user into use, whose session is not connected."""
        if state.project and self._states.find(state.id) is not state:
            self.touch(state.project.path)

    def touch(self, folder: str) -> None:
        """Takes a folder into use for a caller without a session, until its lease expires."""
        self._use(folder)
        self._leave_unheld()

    def end_needless_leases(self) -> None:
        """Ends the leases of folders that are no longer worth one."""
        held, is_changed = set(self._held.values()), False
        for folder in [folder for folder in self._folders if folder not in held and not self._keeps(folder)]:
            self._end(folder)
            is_changed = True
        if is_changed:
            self._bus.publish(FoldersInUseChanged())

    def _on_connected(self, event: SessionConnected) -> None:
        self._gone.discard(event.state.id)
        self._hold(event.state)

    def _on_disconnected(self, event: SessionDisconnected) -> None:
        self._gone.add(event.state.id)
        self._release(event.state)

    def _on_forgotten(self, event: SessionForgotten) -> None:
        self._gone.discard(event.state.id)
        self._release(event.state)

    def _release(self, state: SessionState) -> None:
        if self._held.pop(state.id, None):
            self._leave_unheld()

    def _hold(self, state: SessionState) -> None:
        before, folder = self._held.pop(state.id, ""), state.project.path if state.project else ""
        if folder:
            self._held[state.id] = folder
            self._use(folder)
        if before and before != folder:
            self._leave_unheld()

    def _use(self, folder: str) -> None:
        is_new = folder not in self._folders
        if folder in self._leases:
            self._leases.pop(folder).cancel()
        self._folders[folder] = None
        if is_new:
            self._bus.publish(FoldersInUseChanged())

    def _leave_unheld(self) -> None:
        held = set(self._held.values())
        for folder in [folder for folder in self._folders if folder not in held and folder not in self._leases]:
            self._leases[folder] = self._deadlines.add(UNUSED_S, partial(self._on_over, folder))
        self.end_needless_leases()

    def _on_over(self, folder: str) -> None:
        self._end(folder)
        self._bus.publish(FoldersInUseChanged())

    def _end(self, folder: str) -> None:
        del self._folders[folder]
        self._leases.pop(folder).cancel()
