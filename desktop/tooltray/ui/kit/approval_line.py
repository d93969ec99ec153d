"""The tool calls that wait for the user's approval, in the order in which they came. Decides nothing."""

import contextlib
from collections.abc import Sequence

from msgspec.structs import replace
from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.events import ApprovalAsked, ApprovalEnded
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter


async def disk_diff(hub: QtMcpPresenter, request: ApprovalSnapshot) -> tuple[str, ...]:
    """Returns how a call would change the file on disk; only the diff of its arguments where that is unknown."""
    if not request.diff:
        return ()
    with contextlib.suppress(TooltrayError):  # the engine has just ended
        return await hub.approvals.get_approval_diff(request.id) or request.diff
    return request.diff


class ApprovalLine(QObject):
    """The calls that wait for approval. `changed`: a call was added or removed, or waits for something else now."""

    changed = Signal()

    def __init__(self, hub: QtMcpPresenter, parent: QObject | None = None) -> None:
        super().__init__(parent)
        self._hub = hub
        self._waiting: dict[str, ApprovalSnapshot] = {}
        hub.on(ApprovalAsked, self._on_asked, self)
        hub.on(ApprovalEnded, lambda news: self.drop(news.id), self)
        hub.snapshot_changed.connect(self._on_snapshot_changed)

    @property
    def first(self) -> ApprovalSnapshot | None:
        return next(iter(self._waiting.values()), None)

    @property
    def waiting(self) -> tuple[ApprovalSnapshot, ...]:
        """All waiting calls, the oldest first."""
        return tuple(self._waiting.values())

    def __len__(self) -> int:
        return len(self._waiting)

    def __contains__(self, id: str) -> bool:
        return id in self._waiting

    def drop(self, id: str) -> None:
        """Removes a call that was answered or has ended; ignores an unknown one."""
        if self._waiting.pop(id, None) is not None:
            self.changed.emit()

    def add(self, requests: Sequence[ApprovalSnapshot]) -> None:
        """Adds the calls that were waiting before, the oldest first; calls that are known already are newer and stay."""
        known = {request.id: request for request in requests} | self._waiting
        if known != self._waiting:
            self._waiting = known
            self.changed.emit()

    def set_diff(self, id: str, diff: tuple[str, ...]) -> None:
        """Shows how the file on disk would change, if the call still waits."""
        if (request := self._waiting.get(id)) is not None and diff and diff != request.diff:
            self._waiting[id] = replace(request, diff=diff)
            self.changed.emit()

    def _on_asked(self, news: ApprovalAsked) -> None:
        self._waiting[news.request.id] = news.request  # one that is known keeps its place
        self.changed.emit()

    def _on_snapshot_changed(self) -> None:
        if self._hub.snapshot is None and self._waiting:  # the engine is gone, and the calls with it
            self._waiting = {}
            self.changed.emit()
