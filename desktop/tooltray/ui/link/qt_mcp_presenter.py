"""QtMcpPresenter: the engine's McpPresenter for the GUI thread."""

import sys
from collections.abc import Callable, Iterable
from functools import partial
from typing import Any, TypeVar

from msgspec.structs import replace
from PySide6.QtCore import Property, QObject, Signal
from shiboken6 import isValid

from tooltray.api.parts import Api, remote_parts
from tooltray.foundation.events import (
    ClientListUpdated,
    ConfigChanged,
    Event,
    KeyringAwaited,
    ReleaseNewsChanged,
    SecretsChanged,
    ServerChanged,
    ServerRemoved,
    ServerStarted,
    ServerStatusChanged,
    ServerStopped,
    SessionsChanged,
    ToolCallResult,
)
from tooltray.foundation.snapshots.hub import HubSnapshot
from tooltray.ui.link.link import EngineLink

E = TypeVar("E", bound=Event)

_Receivers = dict[type[object], tuple[tuple[Callable[[Any], object], QObject], ...]]
"""Of each type of event the functions that receive it, with their owners."""


class QtMcpPresenter(Api, QObject):
    """The hub's last snapshot, its events, and the parts of the engine's API: `hub.servers.restart_server(name)`.

    Verbs are awaited in the GUI thread and raise TooltrayError as the engine's do.

    Attributes:
        hears_lock: the desktop hears when the screen locks, so something can be allowed until then.
    """

    snapshot_changed = Signal()
    # the events that the engine's McpPresenter has, too; `on` has all
    server_started = Signal(str)
    server_stopped = Signal(str)
    tool_call_result = Signal(object)  # MCPToolResponse
    config_changed = Signal(object)  # ConfigChanged
    server_status_changed = Signal(object)  # ServerStatusChanged
    client_list_updated = Signal()

    def __init__(self, link: EngineLink) -> None:
        QObject.__init__(self)
        Api.__init__(self, **remote_parts(link.run))
        self._snapshot: HubSnapshot | None = None
        self._receivers: _Receivers = {}
        self.hears_lock = False
        self.on(ServerStarted, lambda event: self.server_started.emit(event.server_name), self)
        self.on(ServerStopped, lambda event: self.server_stopped.emit(event.server_name), self)
        self.on(ToolCallResult, lambda event: self.tool_call_result.emit(event.response), self)
        self.on(ConfigChanged, self.config_changed.emit, self)
        self.on(ServerStatusChanged, self.server_status_changed.emit, self)
        self.on_any((ClientListUpdated,), self.client_list_updated.emit, self)
        link.news_arrived.connect(self._on_news)

    def on(self, kind: type[E], receiver: Callable[[E], object], owner: QObject) -> None:
        """Calls `receiver` with each event of a type from now on, until `owner` is deleted."""
        self._receivers[kind] = (*self._receivers.get(kind, ()), (receiver, owner))
        owner.destroyed.connect(partial(_drop_gone, self._receivers))  # not a method: an owner may go while this object is deleted

    def on_any(self, kinds: Iterable[type[Event]], receiver: Callable[[], object], owner: QObject) -> None:
        """Calls `receiver` after each event of some types from now on, until `owner` is deleted."""
        for kind in kinds:
            self.on(kind, lambda _: receiver(), owner)

    snapshot: HubSnapshot | None = Property(object, lambda self: self._snapshot, notify=snapshot_changed)  # type: ignore[assignment]
    """The hub as it was last told of; None until then."""

    @property
    def secret_backend(self) -> str:
        """The place of secrets: "keyring", "file" or "memory"; "keyring" while no hub is known."""
        return self._snapshot.secret_backend if self._snapshot is not None else "keyring"

    @property
    def awaits_keyring(self) -> bool:
        """Whether the system's keyring keeps the hub waiting, probably with a prompt."""
        return self._snapshot is not None and self._snapshot.awaits_keyring

    def forget(self) -> None:
        """Drops the snapshot of an engine that has ended."""
        if self._snapshot is not None:
            self._snapshot = None
            self.snapshot_changed.emit()

    def _on_news(self, news: tuple[object, ...]) -> None:
        before = self._snapshot
        for item in news:
            self._snapshot = applied(self._snapshot, item)
        if self._snapshot != before:
            self.snapshot_changed.emit()
        for item in news:
            for receiver, owner in self._receivers.get(type(item), ()):
                if isValid(owner):
                    try:
                        receiver(item)
                    except Exception:  # as in a slot: the others get the event all the same
                        sys.excepthook(*sys.exc_info())


def _drop_gone(all_receivers: _Receivers, *_: object) -> None:
    for kind, receivers in all_receivers.items():
        all_receivers[kind] = tuple(each for each in receivers if isValid(each[1]))


def applied(snapshot: HubSnapshot | None, news: object) -> HubSnapshot | None:
    """Returns a hub's snapshot after an event; a new server is added at the end."""
    if isinstance(news, HubSnapshot):
        return news
    if snapshot is None:
        return None
    match news:
        case ServerChanged(server=changed):
            servers = tuple(changed if server.name == changed.name else server for server in snapshot.servers)
            return replace(snapshot, servers=servers if changed in servers else (*servers, changed))
        case ServerRemoved(name=name):
            return replace(snapshot, servers=tuple(server for server in snapshot.servers if server.name != name))
        case SessionsChanged(session_count=count):
            return replace(snapshot, session_count=count)
        case ConfigChanged(mcp_enabled=is_enabled):
            return replace(snapshot, is_paused=not is_enabled, paused_until=0.0 if is_enabled else snapshot.paused_until)
        case SecretsChanged(backend=backend):
            return replace(snapshot, secret_backend=backend)
        case KeyringAwaited(is_awaited=is_awaited):
            return replace(snapshot, awaits_keyring=is_awaited)
        case ReleaseNewsChanged(news=release):
            return replace(snapshot, release=release)
        case _:
            return snapshot
