"""The sandbox of a server: what was refused, which files and hosts it may reach, and Watch. Folded where a choice has no sandbox. Draws
frozen snapshots."""

from collections.abc import Awaitable, Callable, Sequence
from datetime import datetime
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.confinement import (
    ConfinementSnapshot,
    ConfinementSupport,
    RefusedThing,
    SeenThing,
    WatchProposal,
    WatchSnapshot,
    in_words,
    proposal_in_words,
)
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.confinement_words import (
    FILES,
    NETWORKS,
    files_text,
    files_title,
    in_full,
    in_short,
    network_text,
    network_title,
    refused_details,
    refused_in_short,
    refused_title,
)
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.problem_words import in_a_row, whole
from tooltray.ui.server_pane.server_view import AccessSection
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner, show_error
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.setting_rows import heading, text_line
from tooltray.ui.widgets.surface import Surface, add_gap, clear, column, fill, row
from tooltray.ui.zoom import px

READ, WRITE = "read", "write"
HEIGHT = 34  # px, of a line of a list


class ChoiceSection(AccessSection):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__(context, name)
        self._now = ConfinementSnapshot()
        self._is_of_host = False  # what was asked for last
        self._support = ConfinementSupport(files=True, network=True, hosts=True)
        self.body.addLayout(self.notes)
        self._add_files()
        add_gap(self.body, 8)
        self._add_network()
        self._draw()
        self.reading(self._read_support)()

    def set_server(self, server: ServerSnapshot) -> None:
        self._now = server.confinement or ConfinementSnapshot()
        self._draw()

    def _add_files(self) -> None:
        theme = self._theme
        self._files = OptionList(theme, [(each, files_title(each)) for each in FILES], name=tr("Files"), may_be_empty=False)
        self._files.changed.connect(lambda: self._choose(replace(self._now, files=self._files.chosen[0])))
        self._files_text = Label(theme, "", "caption", "muted", wrap=True)
        self._folders = NamedList(theme, tr("No folders named yet."), self._on_folder_removed)
        self._folder_buttons = QWidget()
        self._write_button = self._folder_button(tr("Let it change a folder"), WRITE)
        fill(row(self._folder_buttons, spacing=8), self._folder_button(tr("Let it read a folder"), READ), self._write_button, 1)
        heading = Label(theme, tr("Files"), "strong")
        fill(self.body, heading, self._files, self._files_text, self._folders, self._folder_buttons)

    def _folder_button(self, text: str, kind: str) -> Button:
        choose = partial(self.context.choose_folder, text, partial(self._on_folder, kind))
        return Button(self._theme, text, icon="folder", small=True, on_click=choose)

    def _add_network(self) -> None:
        theme = self._theme
        self._network = OptionList(theme, [(each, network_title(each)) for each in NETWORKS], name=tr("Network"), may_be_empty=False)
        self._network.changed.connect(lambda: self._choose(replace(self._now, network=self._network.chosen[0])))
        self._network_text = Label(theme, "", "caption", "muted", wrap=True)
        self._hosts = NamedList(theme, tr("No hosts added: no network access."), self._on_host_removed)
        self._host_notes, self._host_line = column(), QWidget()
        self._host = text_line(theme, tr("Host that it may reach"), "api.example.org", style="mono")
        self._host.returnPressed.connect(self._on_host)
        add = Button(theme, tr("Allow"), on_click=self._on_host)
        add.setAccessibleName(tr("Allow this host"))
        fill(row(self._host_line, spacing=8), (self._host, 1), add)
        heading = Label(theme, tr("Network"), "strong")
        fill(self.body, heading, self._network, self._network_text, self._hosts, self._host_notes, self._host_line)

    def _draw(self) -> None:
        now = self._now
        self._files.set_chosen([now.files])
        self._files_text.setText(files_text(now.files))
        kept = now.files != "open"
        writes = tr("read") if now.files == "read" else tr("read and change")
        names = [*((path, WRITE, writes) for path in now.write), *((path, READ, tr("read")) for path in now.read)]
        self._folders.set_names(names)
        self._folders.setVisible(kept)
        self._folder_buttons.setVisible(kept)
        self._write_button.setVisible(now.files == "own")
        self._network.set_chosen([now.network])
        self._network_text.setText(network_text(now.network))
        self._hosts.set_names([(host, "", "") for host in now.hosts])
        self._hosts.setVisible(now.network == "hosts")
        self._host_line.setVisible(now.network == "hosts")
        self._draw_notes(None)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure beside what it is about, and the choices as they are; None removes it."""
        if problem is not None:
            self._draw()
        self._draw_notes(problem)

    def _draw_notes(self, problem: Problem | None) -> None:
        show_error(self.notes, self._theme, None if self._is_of_host else problem)
        show_error(self._host_notes, self._theme, problem if self._is_of_host else None)  # above the field that it is about
        missing = self._now.missing or (() if self._support.files else self._support.missing)
        if missing:
            is_less = self._now.is_in_vain or not self._support.files
            heading = tr("This computer cannot sandbox it") if is_less else tr("What to know about it")
            self.notes.addWidget(Banner(self._theme, "warning", heading, in_a_row(*(whole(Problem(each)) for each in missing))))

    def _choose(self, wanted: ConfinementSnapshot, *, is_of_host: bool = False) -> None:
        self._is_of_host = is_of_host
        self.run(self._chosen(wanted, self._now))

    async def _chosen(self, wanted: ConfinementSnapshot, before: ConfinementSnapshot) -> None:
        words = in_full(await self.confine(wanted)).partition("\n")[0]
        self.context.offer_undo(tr("{server}: {words}", server=self._name, words=words), partial(self.confine, before))
        self._host.clear()

    def _on_folder(self, kind: str, path: str) -> None:
        others = {READ: [each for each in self._now.read if each != path], WRITE: [each for each in self._now.write if each != path]}
        others[kind].append(path)
        self._choose(replace(self._now, read=tuple(others[READ]), write=tuple(others[WRITE])))

    def _on_folder_removed(self, path: str, kind: str) -> None:
        left = tuple(each for each in (self._now.read if kind == READ else self._now.write) if each != path)
        self._choose(replace(self._now, read=left) if kind == READ else replace(self._now, write=left))

    def _on_host(self) -> None:
        if host := self._host.text().strip():
            self._choose(replace(self._now, hosts=(*(each for each in self._now.hosts if each != host), host)), is_of_host=True)

    def _on_host_removed(self, host: str, _kind: str) -> None:
        self._choose(replace(self._now, hosts=tuple(each for each in self._now.hosts if each != host)))

    async def _read_support(self) -> None:
        self._support = await self.hub.confinement.get_confinement_support()
        self._network.set_enabled("hosts", self._support.hosts)
        self._draw_notes(None)


class NamedList(Surface):
    """A list of folders or hosts, each with a button that removes it.

    Args:
        empty: the text while there are none.
        remove: called with the name to remove, and its kind.
    """

    def __init__(self, theme: Theme, empty: str, remove: Callable[[str, str], None]) -> None:
        super().__init__(theme)
        self._empty, self._remove = empty, remove
        self._shown: Sequence[tuple[str, str, str]] | None = None
        self._lines = column(self, margins=(12, 2, 6, 2))

    def set_names(self, names: Sequence[tuple[str, str, str]]) -> None:
        """Shows other names, each with its kind and the text beside it."""
        if names == self._shown:
            return
        self._shown = names
        clear(self._lines)
        fill(self._lines, *(self._line(*each) for each in names))
        if not names:
            empty = Label(self._theme, self._empty, "caption", "muted", wrap=True)
            empty.setMinimumHeight(px(HEIGHT))
            self._lines.addWidget(empty)

    def _line(self, name: str, kind: str, words: str) -> QWidget:
        widget = QWidget()
        widget.setFixedHeight(px(HEIGHT))
        line = fill(row(widget, spacing=8), (ElidedLabel(self._theme, name, "mono", mode=Qt.TextElideMode.ElideMiddle), 1))
        if words:
            line.addWidget(Label(self._theme, words, "caption", "muted"))
        words = tr("Take {name} away", name=name)
        line.addWidget(IconButton(self._theme, "x", words, small=True, on_click=partial(self._remove, name, kind)))
        return widget


class SandboxSection(AccessSection):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__(context, name)
        self._is_needed: bool | None = None  # by the server's settings; None: not known yet
        self._words = Label(self._theme, "", "caption", "muted", wrap=True)
        self._folded = QWidget()
        self._fold = Button(self._theme, "", "ghost", small=True, on_click=lambda: self._unfold(self._folded.isHidden()))
        self._parts = column(self._folded, spacing=16)
        self._sections: list[AccessSection] = []  # built when they are first shown
        fill(self.body, heading(self._theme, tr("Sandbox"), self._words, self._fold), self._folded)
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
        self._about = Label(self._theme, "", "caption", "muted", wrap=True)
        box = Surface(self._theme)
        self._lines = column(box, margins=(12, 8, 10, 8), spacing=6)
        fill(self.body, Label(self._theme, tr("Refused"), "strong"), self._about, self.notes, box)
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
        fill(self._lines, *map(self._line, self._now.refused))

    def _line(self, thing: RefusedThing) -> QWidget:
        widget, theme = QWidget(), self._theme
        # the whole of a name: it is what a person allows
        what = CodeLabel(theme, thing.name) if thing.name else Label(theme, refused_title(thing), wrap=True)
        details = Label(theme, refused_details(thing, datetime.now()), "caption", "muted", wrap=True)
        line = fill(row(widget, spacing=8), (fill(column(), what, details), 1))
        if thing.name:
            allow = Button(theme, tr("Allow for this server"), small=True, on_click=lambda: self._on_allow(thing))
            allow.setAccessibleName(tr("Allow {thing} for {server}", thing=thing.name, server=self._name))
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
        words = tr(
            "Runs the server without a sandbox for five minutes, records the files and hosts it uses, and "
            "proposes settings. Use its tools meanwhile."
        )
        self._start = Button(self._theme, tr("Watch for 5 minutes"), small=True, on_click=self._on_start)
        self._stop = Button(self._theme, tr("Stop watching"), small=True, on_click=self._on_stop)
        self._state = Label(self._theme, "", "caption", "muted", wrap=True, tabular=True)
        self._box = Surface(self._theme)
        self._lines = column(self._box, margins=(12, 8, 12, 10), spacing=4)
        self._use = Button(self._theme, tr("Use this profile"), small=True, on_click=self._on_use)
        self._use.setAccessibleName(tr("Use the profile proposed for {server}", server=self._name))
        fill(self.body, Label(self._theme, tr("Watch"), "strong"), Label(self._theme, words, "caption", "muted", wrap=True), self.notes)
        fill(self.body, fill(row(spacing=8), self._start, self._stop, 1), self._state, self._box, fill(row(), self._use, 1))
        self._draw()
        self._look()

    def _on_tick(self) -> None:
        if self.isVisible():
            self._look()

    def _on_use(self) -> None:
        toast = tr("{server} is sandboxed as proposed", server=self._name)
        self.run(self.hub.confinement.apply_proposal(self._name), toast=toast)

    def _on_start(self) -> None:
        self.run(self._read(self.hub.confinement.watch_server), button=self._start)

    def _on_stop(self) -> None:
        self.run(self._read(self.hub.confinement.stop_watching), button=self._stop)

    async def _read(self, ask: Callable[[str], Awaitable[WatchSnapshot | None]] | None = None) -> None:
        """Shows how it is now, or how it is after `ask`."""
        self._now = await (ask or self.hub.confinement.get_watch)(self._name) or WatchSnapshot(self._name)
        self._draw()

    def _draw(self) -> None:
        now = self._now
        is_watching = now.state == "watching"
        if is_watching is not self._clock.isActive():
            self._clock.start() if is_watching else self._clock.stop()
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
        proposed = [Label(self._theme, say(words), wrap=True) for words in proposal_in_words(proposal)]
        fill(self._lines, Label(self._theme, tr("Proposed"), "caption_strong"), *proposed)
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
