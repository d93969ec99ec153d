"""Servers of a project's file ask for a person's yes: each with what it starts and what it gets, as it is written there.

Above it: FileSheets, which opens it when a person wants to look. Below it: TrustEntry. A yes is for what is shown: it goes with the digests
of the entries on the screen, and an entry that changes meanwhile is off again. For a moment after it is shown, and after each change, it
takes no yes; "Not now" has the focus, and Enter grants nothing.
"""

from collections.abc import Sequence

from PySide6.QtCore import Qt, QTimer, Signal
from PySide6.QtGui import QShowEvent

from tooltray.errors import Problem
from tooltray.snapshots.trust import TrustRequest
from tooltray.ui.files.file_words import is_another, needs_care, trust_text, trust_title
from tooltray.ui.files.trust_entry import TrustEntry
from tooltray.ui.guard import GUARD_MS
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.sheet_frame import SheetFrame

WIDTH, MARGIN = 680, 24  # px; the margin is the frame's
MOST_ENTRIES = 12  # at once: nobody reads more before a yes, and each of them is a dozen widgets


class TrustPanel(SheetFrame):
    """`trusted` carries the project's folder, and the digest of each entry that is wanted by its name in the file; whoever carries it out
    calls `show_refusal`, or closes the sheet. `refused` carries the names of
    what programs have proposed and is not wanted, `file_requested` the file's path.

    Args:
        requests: of one project, at least one.
        guard_ms: how long it takes no yes after each change.
    """

    trusted = Signal(str, object)
    refused = Signal(object)
    file_requested = Signal(str)

    def __init__(self, theme: Theme, requests: Sequence[TrustRequest], *, guard_ms: int = GUARD_MS) -> None:
        super().__init__(theme, trust_title(requests[0].project), WIDTH)
        self._project, self._file = requests[0].project, requests[0].file
        self._is_busy = False
        self._entries: dict[str, TrustEntry] = {}
        self._guard = QTimer(self, singleShot=True, interval=guard_ms)
        self._guard.timeout.connect(self._draw)
        self._text = Label(theme, "", "body", "secondary", wrap=True)
        self.body.addWidget(self._text)
        self._more = Label(theme, "", "caption", "muted", wrap=True)
        self.body.addWidget(self._more)
        if self._project:
            look = Button(theme, tr("Open the file"), "ghost", "external")
            look.clicked.connect(self._on_look)
        else:
            look = Button(theme, tr("Refuse"), "ghost", "trash")
            look.clicked.connect(self._on_refuse)
        self.buttons.addWidget(look)
        self.buttons.addStretch(1)
        self._later = Button(theme, tr("Not now"), heeds_enter=False)
        self._later.clicked.connect(self.close_requested)
        self.buttons.addWidget(self._later)
        self._go = Button(theme, tr("Trust"), "primary", heeds_enter=False)
        self._go.clicked.connect(self._on_go)
        self.buttons.addWidget(self._go)
        self._show(requests)

    @property
    def shown(self) -> tuple[TrustRequest, ...]:
        """What a person sees."""
        return tuple(entry.request for entry in self._entries.values())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._later.setFocus(Qt.FocusReason.OtherFocusReason)
        self._begin_guard()

    def set_requests(self, requests: Sequence[TrustRequest]) -> None:
        """Shows what waits now, of this project or any; closes where nothing of this one does."""
        own = [request for request in requests if request.project == self._project]
        if not own:
            self.close_requested.emit()
        elif tuple(own[:MOST_ENTRIES]) != self.shown:
            self.show_fault(None)
            self._show(own)

    def show_refusal(self, problem: Problem) -> None:
        self._is_busy = False
        self.show_fault(problem)
        self._begin_guard()

    def _show(self, requests: Sequence[TrustRequest]) -> None:
        self._text.setText(trust_text(requests))
        before, self._entries = self._entries, {}
        for place, request in enumerate(requests[:MOST_ENTRIES]):
            known = before.get(request.entry)
            if known is not None and known.request == request:
                self._entries[request.entry] = before.pop(request.entry)
                continue
            is_changed = known is not None and is_another(request, known.request)
            is_on = len(requests) == 1 and not needs_care(request) if known is None else known.is_on and not is_changed
            entry = TrustEntry(self._theme, request, WIDTH - 2 * MARGIN, is_on=is_on, is_changed=is_changed)
            entry.switched.connect(self._draw)
            self._entries[request.entry] = entry
            self.body.insertWidget(1 + place, entry)  # below what is asked
        for gone in before.values():
            gone.hide()
            gone.deleteLater()
        more = len(requests) - len(self._entries)
        self._more.setText(tr("{count} more wait. They are asked after these.", count=more))
        self._more.setVisible(more > 0)
        self._begin_guard()

    def _begin_guard(self) -> None:
        self._guard.start()
        self._draw()

    @property
    def _wanted(self) -> dict[str, str]:
        return {name: entry.request.digest for name, entry in self._entries.items() if entry.is_on}

    def _draw(self) -> None:
        count = len(self._wanted)
        self._go.setEnabled(bool(count) and not self._is_busy and not self._guard.isActive())
        self._go.setText(tr("Trust {count} servers", count=count) if count > 1 else tr("Trust"))

    def _on_go(self) -> None:
        wanted = self._wanted
        self._is_busy = True
        self.show_fault(None)
        self._draw()
        self.trusted.emit(self._project, wanted)

    def _on_refuse(self) -> None:
        """What is switched on is not refused, if anything is."""
        off = [name for name, entry in self._entries.items() if not entry.is_on]
        self.refused.emit(tuple(off or self._entries))

    def _on_look(self) -> None:
        self.file_requested.emit(self._file)
