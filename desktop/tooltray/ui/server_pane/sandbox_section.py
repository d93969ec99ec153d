"""The sandbox of a server: what was refused, which files and hosts it may reach, and Watch. Folded where a choice has no sandbox. Draws
frozen snapshots."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from PySide6.QtCore import QTimer
from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.confinement import (
    ConfinementSnapshot,
    RefusedThing,
    SeenThing,
    WatchProposal,
    WatchSnapshot,
    in_words,
    proposal_in_words,
)
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.confinement_words import in_short, refused_details, refused_in_short, refused_title
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.problem_words import in_a_row
from tooltray.ui.server_pane.choice_section import ChoiceSection
from tooltray.ui.server_pane.server_view import AccessSection
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.setting_rows import heading
from tooltray.ui.widgets.surface import Surface, add_gap, clear, column, row


class SandboxSection(AccessSection):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__(context, name)
        self._is_needed: bool | None = None  # by the server's settings; None: not known yet
        self._words = Label(self._theme, "", "caption", "muted", wrap=True)
        self._fold = Button(self._theme, "", "ghost", small=True)
        self.body.addLayout(heading(self._theme, tr("Sandbox"), self._words, self._fold))
        self._folded = QWidget()
        self._fold.clicked.connect(lambda: self._unfold(self._folded.isHidden()))
        self._parts = column(self._folded, spacing=16)
        self._sections: list[AccessSection] = []  # built when they are first shown
        self.body.addWidget(self._folded)
        self._server: ServerSnapshot | None = None
        self._unfold(False)

    def set_server(self, server: ServerSnapshot) -> None:
        self._server = server
        self.setVisible(server.confinement is not None)
        parts = (in_short(server.confinement) or tr("Not sandboxed: can do anything you can"), refused_in_short(server.confinement))
        self._words.setText(" · ".join(filter(None, parts)))
        is_needed = server.confinement is not None and server.access is not None and server.access.choice in ("careful", None)
        if is_needed != self._is_needed:
            self._is_needed = is_needed
            self._unfold(is_needed)
        for section in self._sections:
            section.set_server(server)

    def _unfold(self, is_open: bool) -> None:
        if is_open and not self._sections:
            self._sections = [make(self.context, self._name) for make in (RefusedSection, ChoiceSection, WatchSection)]
            for section in self._sections:
                self._parts.addWidget(section)
                if self._server is not None:
                    section.set_server(self._server)
        self._folded.setVisible(is_open)
        self._fold.set_face(tr("Hide") if is_open else tr("Show"), "chevron-down" if is_open else "chevron-right")
        self._fold.setAccessibleName(tr("Hide the sandbox") if is_open else tr("Show the sandbox"))


class RefusedSection(AccessSection):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__(context, name)
        self._now = ConfinementSnapshot()
        self.body.addWidget(Label(self._theme, tr("Refused"), "strong"))
        self._about = Label(self._theme, "", "caption", "muted", wrap=True)
        self.body.addWidget(self._about)
        self.body.addLayout(self.notes)
        box = Surface(self._theme)
        self._lines = column(box, margins=(12, 8, 10, 8), spacing=6)
        self.body.addWidget(box)
        self.hide()

    def set_server(self, server: ServerSnapshot) -> None:
        before, self._now = self._now.refused, server.confinement or ConfinementSnapshot()
        if self._now.refused != before:
            self._draw()
        self.setVisible(bool(self._now.refused))

    def _draw(self) -> None:
        clear(self._lines)
        words = tr("Since the server started. Allowing a host takes effect at once; allowing a file or folder restarts the server.")
        has_paths = any(each.kind == "path" for each in self._now.refused)
        self._about.setText(
            in_a_row(words, tr("The paths are from the server's own messages: look before you allow one.") if has_paths else "")
        )
        for thing in self._now.refused:
            self._lines.addWidget(self._line(thing))

    def _line(self, thing: RefusedThing) -> QWidget:
        widget, theme = QWidget(), self._theme
        line = row(widget, spacing=8)
        words = column()
        if thing.name:
            words.addWidget(CodeLabel(theme, thing.name))  # the whole of it: it is what a person allows
        else:
            words.addWidget(Label(theme, refused_title(thing), wrap=True))
        words.addWidget(Label(theme, refused_details(thing, datetime.now()), "caption", "muted", wrap=True))
        line.addLayout(words, 1)
        if thing.name:
            allow = Button(theme, tr("Allow for this server"), small=True)
            allow.setAccessibleName(tr("Allow {thing} for {server}", thing=thing.name, server=self._name))
            allow.clicked.connect(lambda: self._on_allow(thing))
            line.addWidget(allow)
        return widget

    def _on_allow(self, thing: RefusedThing) -> None:
        toast = tr("{server} is allowed {thing} now", server=self._name, thing=thing.name)
        allowed = self.hub.confinement.allow_refused(self._name, "host" if thing.kind == "host" else "path", thing.name)
        self.run(allowed, toast=toast, undo=partial(self.confine, self._now))


LOOK_MS = 1000  # while it is watched and shown
MOST_LINES = 12  # of one list


class WatchSection(AccessSection):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__(context, name)
        self._now = WatchSnapshot(name)
        self._look = self.reading(self._read)
        self._clock = QTimer(self, interval=LOOK_MS)
        self._clock.timeout.connect(self._on_tick)
        self.body.addWidget(Label(self._theme, tr("Watch"), "strong"))
        words = tr(
            "Runs the server without a sandbox for five minutes, records the files and hosts it uses, and "
            "proposes settings. Use its tools meanwhile."
        )
        self.body.addWidget(Label(self._theme, words, "caption", "muted", wrap=True))
        self.body.addLayout(self.notes)
        self._add_buttons()
        self._box = Surface(self._theme)
        self._lines = column(self._box, margins=(12, 8, 12, 10), spacing=4)
        self.body.addWidget(self._box)
        self._add_use()
        self._draw()
        self._look()

    def _add_buttons(self) -> None:
        line = row(spacing=8)
        self._start = Button(self._theme, tr("Watch for 5 minutes"), small=True)
        self._start.clicked.connect(lambda: self.run(self._watch(), button=self._start))
        self._stop = Button(self._theme, tr("Stop watching"), small=True)
        self._stop.clicked.connect(lambda: self.run(self._stop_watching(), button=self._stop))
        for button in (self._start, self._stop):
            line.addWidget(button)
        line.addStretch(1)
        self.body.addLayout(line)
        self._state = Label(self._theme, "", "caption", "muted", wrap=True, tabular=True)
        self.body.addWidget(self._state)

    def _add_use(self) -> None:
        """Adds the button that uses the proposed profile."""
        line = row()
        self._use = Button(self._theme, tr("Use this profile"), small=True)
        self._use.setAccessibleName(tr("Use the profile proposed for {server}", server=self._name))
        self._use.clicked.connect(self._on_use)
        line.addWidget(self._use)
        line.addStretch(1)
        self.body.addLayout(line)

    def _on_tick(self) -> None:
        if self.isVisible():
            self._look()

    def _on_use(self) -> None:
        toast = tr("{server} is sandboxed as proposed", server=self._name)
        self.run(self.hub.confinement.apply_proposal(self._name), toast=toast)

    async def _read(self) -> None:
        self._show(await self.hub.confinement.get_watch(self._name) or WatchSnapshot(self._name))

    async def _watch(self) -> None:
        self._show(await self.hub.confinement.watch_server(self._name))

    async def _stop_watching(self) -> None:
        self._show(await self.hub.confinement.stop_watching(self._name))

    def _show(self, found: WatchSnapshot) -> None:
        self._now = found
        if found.state == "watching":
            self._clock.start()
        else:
            self._clock.stop()
        self._draw()

    def _draw(self) -> None:
        now = self._now
        is_watching = now.state == "watching"
        self._start.setVisible(not is_watching)
        self._stop.setVisible(is_watching)
        self._use.setVisible(now.proposal is not None)
        self._state.setText(self._state_in_words())
        self._state.setVisible(bool(self._state.text()))
        self._box.setVisible(now.proposal is not None)
        clear(self._lines)
        if now.proposal is not None:
            self._draw_proposal(now.proposal)
            self._draw_things(tr("All it did, besides what every program does"), now.seen, len(now.seen))

    def _state_in_words(self) -> str:
        now = self._now
        if now.problem:
            return say(now.problem)
        if now.state == "off":
            return ""
        seen = many(now.facts, "1 thing seen", "{count} things seen")
        if now.state == "done":
            return seen
        minutes, seconds = divmod(int(now.left_s), 60)
        return tr("Running without a sandbox: {time} left", time=f"{minutes}:{seconds:02}") + " · " + seen

    def _draw_proposal(self, proposal: WatchProposal) -> None:
        self._lines.addWidget(Label(self._theme, tr("Proposed"), "caption_strong"))
        for words in proposal_in_words(proposal):
            self._lines.addWidget(Label(self._theme, say(words), wrap=True))
        self._draw_things(tr("What it did that this profile refuses"), proposal.refused, proposal.refused_count)

    def _draw_things(self, heading: str, things: Sequence[SeenThing], count: int) -> None:
        if not things:
            return
        add_gap(self._lines, 6)
        self._lines.addWidget(Label(self._theme, heading, "caption_strong"))
        for thing in things[:MOST_LINES]:
            tone = "warning" if thing.is_private else "secondary"
            self._lines.addWidget(Label(self._theme, say(in_words(thing)), "caption", tone, wrap=True))
        if count > MOST_LINES:
            self._lines.addWidget(Label(self._theme, tr("and {count} more", count=count - MOST_LINES), "caption", "muted"))
