"""The section Watch: begins it, shows what was seen so far, and the proposed profile with what it would have refused. Draws a frozen
snapshot."""

from collections.abc import Sequence

from PySide6.QtCore import QTimer

from tooltray.foundation.snapshots.confinement import SeenThing, WatchProposal, WatchSnapshot, in_words, proposal_in_words
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.server_pane.access_section import AccessSection
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import Surface, clear, column, row

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
        self._lines.addSpacing(6)
        self._lines.addWidget(Label(self._theme, heading, "caption_strong"))
        for thing in things[:MOST_LINES]:
            tone = "warning" if thing.is_private else "secondary"
            self._lines.addWidget(Label(self._theme, say(in_words(thing)), "caption", tone, wrap=True))
        if count > MOST_LINES:
            self._lines.addWidget(Label(self._theme, tr("and {count} more", count=count - MOST_LINES), "caption", "muted"))
