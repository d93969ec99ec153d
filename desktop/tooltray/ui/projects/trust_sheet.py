"""The sheet that requests approval for the servers in a project's file: each with what it starts and what it gets, exactly as in the file;
and the sheet that allows a folder, in whose file there may be such servers.

An approval covers what is shown: it carries the digests of the visible entries, and an entry that changes meanwhile is switched off again.
For a moment after it is shown, and after each change, the sheet takes no approval; "Not now" has the focus, and Enter grants nothing."""

import contextlib
from collections.abc import Callable, Iterator, Sequence
from functools import partial
from itertools import starmap

from PySide6.QtCore import Qt
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.approvals import TrustedEntry, TrustRequest
from tooltray.ui.confinement_words import in_full, in_short
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.background import Work, timer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.origins import folder_name, visible_path
from tooltray.ui.problem_words import whole
from tooltray.ui.projects import file_words as said
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.code_view import CodeView, DiffView
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.setting_rows import add_lines
from tooltray.ui.widgets.sheet import GUARD_MS
from tooltray.ui.widgets.surface import Surface, column, fill, row
from tooltray.ui.zoom import px

FACT_WIDTH = 124
ENTRY_MARGIN = 14
WIDTH = 680
INNER_WIDTH = WIDTH - 2 * 24 - 2 * ENTRY_MARGIN  # px; what margins of sheet and entry leave
LONGEST_WHOLE, MOST_LINES = 600, 8  # characters of a command in full; a longer one scrolls, and nothing of it is cut


class TrustEntry(Surface):
    """One entry with a switch.

    Args:
        switched: called when the user has switched it.
        is_on: at first.
        is_changed: it changed a moment ago, while the user was reading it.

    Attributes:
        request: the entry.
    """

    def __init__(self, theme: Theme, request: TrustRequest, switched: Callable[[], object], *, is_on: bool, is_changed: bool) -> None:
        super().__init__(theme, "surface", "border", "m")
        self.request = request
        self.setAccessibleName(request.entry)
        layout = column(self, margins=(ENTRY_MARGIN, 10, ENTRY_MARGIN, 8), spacing=8)
        self._switch = Switch(theme, tr("Allow {name}", name=request.entry), on=is_on)
        self._switch.clicked.connect(switched)
        layout.addLayout(self._title())
        if is_changed:
            text = tr("Read it again, and switch it on if it is what you want.")
            layout.addWidget(Banner(theme, "warning", tr("It has changed while you looked at it"), text))
        if request.warnings:
            warnings = "\n".join(whole(Problem(warning)) for warning in request.warnings)
            layout.addWidget(Banner(theme, "warning", tr("Look closely at this server"), warnings))
        facts = column()
        add_lines(facts, starmap(self._fact, self._fact_words()))
        layout.addLayout(facts)
        if request.diff:
            layout.addWidget(Label(theme, tr("What is different from what you allowed:"), "caption_strong", "secondary", wrap=True))
            layout.addWidget(DiffView(theme, request.diff, tr("What is different in {name}", name=request.entry), width=px(INNER_WIDTH)))

    @property
    def is_on(self) -> bool:
        """Whether the user has switched it on."""
        return self._switch.isChecked()

    def _title(self) -> QHBoxLayout:
        theme, request = self._theme, self.request
        line = fill(row(spacing=8), (ElidedLabel(theme, request.entry, "strong", mode=Qt.TextElideMode.ElideMiddle), 1))
        if request.is_inside:
            inside = Chip(theme, tr("Lies in the project"), "warning")
            inside.setToolTip(tr("Anyone who can change the project can change what it starts."))
            line.addWidget(inside)
        return fill(line, Chip(theme, request.transport), Chip(theme, *said.request_chip(request)), self._switch)

    def _fact(self, name: str, value: QWidget) -> QHBoxLayout:
        line, label = row(margins=(0, 6, 0, 6)), ElidedLabel(self._theme, name, "caption", "muted", hugs=True)
        label.setFixedWidth(px(FACT_WIDTH))
        line.addWidget(label, 0, Qt.AlignmentFlag.AlignTop)
        return fill(line, (value, 1))

    def _fact_words(self) -> Iterator[tuple[str, QWidget]]:
        request = self.request
        if request.asked_by:
            yield tr("Asked for by"), self._plain(tr("the program with the token {name}", name=request.asked_by))
        if request.command:
            yield tr("Starts"), self._code(request.target)
            yield tr("In the folder"), self._code(visible_path(request.cwd or request.project))
            if request.files:
                yield tr("Files of it"), self._code("\n".join(request.files))
        else:
            yield tr("Connects to"), self._code(request.host or request.target)
            yield tr("Address"), self._code(request.target)
        if request.secrets:
            yield tr("Gets secrets"), self._code(", ".join(request.secrets))
        if request.variables:
            yield tr("Gets variables"), self._code(said.variable_lines(request))
        if not (request.secrets or request.variables):
            yield tr("Gets"), self._plain(_environment(request) if request.command else tr("none of your secrets, none of your variables"))
        for name, lines in ((tr("Sets"), request.env), (tr("Sends"), request.headers), (tr("Other fields"), request.others)):
            if lines:  # exactly as they are in the file
                yield name, self._code("\n".join(lines))
        yield tr("Runs without asking"), self._plain(said.unasked(request))
        if request.confinement is not None:
            yield tr("Sandbox"), self._plain(in_full(request.confinement))
        if place := said.line_word(request.line):
            yield tr("In the file"), self._plain(place)

    def _plain(self, text: str) -> Label:
        return Label(self._theme, text, "caption", "secondary", wrap=True)

    def _code(self, text: str) -> QWidget:
        if len(text) <= LONGEST_WHOLE:
            return CodeLabel(self._theme, text)
        view = CodeView(self._theme, text, tr("What {name} starts", name=self.request.entry))
        view.wrap(px(INNER_WIDTH) - px(FACT_WIDTH) - px(8), MOST_LINES)
        return view


def _environment(request: TrustRequest) -> str:
    if request.confinement is not None and in_short(request.confinement):
        return tr("only paths, language and proxies of your environment")
    return tr("your whole environment, like every program that you start")


MOST_ENTRIES = 12  # at once: nobody reads more before a yes, and each of them is a dozen widgets


class TrustSheet(SheetView):
    """A sheet with the servers of one project that need approval.

    Args:
        requests: of one project, at least one.
        read: reads what the page shows of files and requests.
        title: in place of the question whether the servers are allowed.
    """

    def __init__(self, context: PageContext, requests: Sequence[TrustRequest], read: Work, *, title: str = "") -> None:
        self._project, file = (requests[0].project, requests[0].file) if requests else ("", "")
        question = tr("Allow servers of {folder}?", folder=folder_name(self._project)) if self._project else tr("Let a program do this?")
        super().__init__(context, title or question, WIDTH)
        theme, self._read = context.theme, read
        self._is_busy = False
        self._entries: dict[str, TrustEntry] = {}
        self._guard = timer(self, GUARD_MS, self._draw)
        self._text = Label(theme, "", "body", "secondary", wrap=True)
        self._more = Label(theme, "", "caption", "muted", wrap=True)
        self._unseen = Label(theme, "", "caption", "warning", wrap=True)
        self._unseen.hide()
        fill(self.body, self._text, self._more, self._unseen)
        if self._project:
            look = Button(theme, tr("Open the file"), "ghost", "external", on_click=lambda: context.wishes.file_requested.emit(file))
            self.buttons.addWidget(look)
        elif requests:
            self.buttons.addWidget(Button(theme, tr("Decline"), "ghost", "trash", on_click=self._on_refuse))
        later = Button(theme, tr("Not now"), heeds_enter=False, on_click=self.close_requested.emit)
        self._go = Button(theme, tr("Allow"), "primary", heeds_enter=False, on_click=self._on_go)
        fill(self.buttons, 1, later, self._go)
        self.set_first_focus(later)
        self._show(requests)

    @property
    def shown(self) -> tuple[TrustRequest, ...]:
        """The entries that are shown."""
        return tuple(entry.request for entry in self._entries.values())

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._begin_guard()
        self.run(self._read_profiles())

    async def _read_profiles(self) -> None:
        """Shows which AI clients will not see the servers because of their profiles."""
        views = self.hub.views
        with contextlib.suppress(TooltrayError):  # what is asked here is more important
            found = await views.get_profiles(), await views.get_client_modes(), await views.get_sessions()
            text = said.unseen_by(self._project, self._entries, *found)
            self._unseen.setText(text)
            self._unseen.setVisible(bool(text))

    def set_requests(self, requests: Sequence[TrustRequest]) -> None:
        """Shows what waits now; closes if nothing of this project waits."""
        own = [request for request in requests if request.project == self._project]
        if not own:
            self.close_requested.emit()
        elif tuple(own[:MOST_ENTRIES]) != self.shown:
            self.show_problem(None)
            self._show(own)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure at the top, and takes an approval again after a moment; None removes it."""
        super().show_problem(problem)
        if problem is not None:
            self._is_busy = False
            self._begin_guard()

    def _show(self, requests: Sequence[TrustRequest]) -> None:
        self._text.setText(self._head(requests))
        before, self._entries = self._entries, {}
        for place, request in enumerate(requests[:MOST_ENTRIES]):
            known = before.get(request.entry)
            if known is not None and known.request == request:
                self._entries[request.entry] = before.pop(request.entry)
                continue
            is_changed = known is not None and said.is_another(request, known.request)
            is_on = self._is_on_at_first(requests) if known is None else known.is_on and not is_changed
            entry = TrustEntry(self._theme, request, self._draw, is_on=is_on, is_changed=is_changed)
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

    def _is_on_at_first(self, requests: Sequence[TrustRequest]) -> bool:
        """Returns whether entries are switched on at first: only one that is the whole question."""
        return len(requests) == 1 and not requests[0].warnings  # one that needs care takes more than one click

    def _head(self, requests: Sequence[TrustRequest]) -> str:
        """Returns the text above the entries."""
        return said.trust_text(requests)

    @property
    def _wanted(self) -> dict[str, str]:
        return {name: entry.request.digest for name, entry in self._entries.items() if entry.is_on}

    def _draw(self) -> None:
        count = len(self._wanted)
        self._go.setEnabled(bool(count) and not self._is_busy and not self._guard.isActive())
        self._go.setText(tr("Allow {count} servers", count=count) if count > 1 else tr("Allow"))

    def _on_go(self) -> None:
        wanted = self._wanted
        self._is_busy = True
        self.show_problem(None)
        self._draw()
        self.run(self._trust(wanted), then=self._read)  # also after a failure: it may be another one by now, and the sheet shows that

    async def _trust(self, wanted: dict[str, str]) -> None:
        names = await self.hub.files.trust_entries(self._project, wanted)
        self.context.say(tr("Allowed: {names}", names=", ".join(names)))
        self.close_requested.emit()

    def _on_refuse(self) -> None:
        """Refuses the entries that are switched off, or all if none is."""
        names = [name for name, entry in self._entries.items() if not entry.is_on] or list(self._entries)
        self.run(self._refuse(names), then=self._read, toast=tr("Declined: {names}", names=", ".join(names)))

    async def _refuse(self, names: Sequence[str]) -> None:
        for name in names:
            await self.hub.files.distrust_entries("", name)
        self.close_requested.emit()


class FolderSheet(TrustSheet):
    """A sheet that asks whether a folder may be a project.

    Args:
        folder: its path, as chosen.
        requests: of its file; empty: nothing there waits.
        trusted: the servers of its file that are allowed already.
        read: reads what the page shows.
        problem: why its file cannot be read; None: it can, or has none.
    """

    def __init__(
        self,
        context: PageContext,
        folder: str,
        requests: Sequence[TrustRequest],
        read: Work,
        *,
        trusted: Sequence[TrustedEntry] = (),
        problem: Problem | None = None,
    ) -> None:
        self._folder, self._trusted, self._is_readable = folder, trusted, problem is None
        self._deferred = [server.name for server in context.servers.servers if server.is_deferred]
        super().__init__(context, requests, read, title=tr("Allow the folder {folder}?", folder=folder_name(folder)))
        self.body.insertWidget(0, CodeLabel(context.theme, visible_path(folder)))
        self.body.insertWidget(2, Label(context.theme, self._file_words(requests), "body", "secondary", wrap=True))
        if problem is not None:
            self.show_problem(problem)

    def set_requests(self, requests: Sequence[TrustRequest]) -> None:
        """Shows what waits now; the folder's own requests are among them only once it is in use."""
        own = [request for request in requests if request.project == self._project]
        if self._project and own:
            super().set_requests(own)

    def _is_on_at_first(self, requests: Sequence[TrustRequest]) -> bool:
        """Returns False: allowing the folder is the question, and its servers come besides."""
        return False

    def _head(self, requests: Sequence[TrustRequest]) -> str:
        about = tr("AI clients may work in it and in all folders below it, and servers that wait for a project may start for it.")
        if not self._deferred:
            return about + " " + tr("None of your servers waits for a project.")
        return about + " " + tr("Your servers that wait for one: {names}.", names=", ".join(self._deferred))

    def _file_words(self, requests: Sequence[TrustRequest]) -> str:
        allowed = tr("Allowed there already: {names}.", names=", ".join(each.entry for each in self._trusted)) if self._trusted else ""
        if requests:
            text = many(len(requests), "Its file .mcp.json has 1 server that waits.", "Its file .mcp.json has {count} servers that wait.")
            return " ".join(filter(None, (text, tr("What you switch on runs, the rest waits."), allowed)))
        if self._is_readable and not allowed:
            return tr("The folder has no servers of its own.")
        return allowed

    def _draw(self) -> None:
        count = len(self._wanted)
        self._go.setEnabled(not self._is_busy and not self._guard.isActive())
        self._go.setText(many(count, "Allow folder and 1 server", "Allow folder and {count} servers") if count else tr("Allow folder"))

    async def _trust(self, wanted: dict[str, str]) -> None:
        """Allows the servers before the folder: if one has changed meanwhile, nothing is allowed."""
        if wanted:
            await self.hub.files.trust_entries(self._project, wanted)
        allowed = await self.hub.projects.allow_folder(self._folder)
        toast = tr("{folder} is allowed", folder=allowed)
        self.context.offer_undo(toast, partial(self._revoke, allowed, tuple(wanted)))
        self.close_requested.emit()

    async def _revoke(self, folder: str, entries: Sequence[str]) -> None:
        for entry in entries:
            await self.hub.files.distrust_entries(self._project, entry)
        await self.hub.projects.disallow_folder(folder)
        await self._read()
