"""The sheet that imports servers from AI clients, and removes from them what is in Tooltray already: the candidates, what happens to their
keys, progress, and the outcome. Hundreds of candidates are model/view."""

from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import ImportProgressed
from tooltray.foundation.snapshots.ai_clients import AiClient, ImportCandidate, ImportedServer, ImportPlan
from tooltray.foundation.snapshots.entries import FieldValue
from tooltray.ui.clients import import_tables as said
from tooltray.ui.clients.client_words import to_connect
from tooltray.ui.clients.import_tables import MOST_LINES, CandidateDetails, CandidateTable, ImportProgressList, add_problems
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.scan_words import names_in_a_row
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.origins import secret_place
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.projects.file_words import unseen_by
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.form import Form
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.setting_rows import lines_box
from tooltray.ui.widgets.surface import clear, column, fill, row

WIDTH = 760


class ImportSheet(SheetView):
    """A sheet for an import.

    Args:
        title: its own.
        names: of clients, by their ids.
        imported: called after an import.
        connect: opens the sheet that connects clients.
    """

    def __init__(
        self,
        context: PageContext,
        title: str,
        names: Mapping[str, str],
        imported: Callable[[], object],
        connect: Callable[[Sequence[str]], object],
    ) -> None:
        super().__init__(context, title, WIDTH)
        self._names, self._imported, self._connect = names, imported, connect
        self._clients: list[str] = []
        self._file = ""
        self._plan = ImportPlan()
        self._chosen: set[str] = set()
        self._forms: dict[str, tuple[QWidget, Form]] = {}  # for values that are missing, each with a box around it
        self._progress: ImportProgressList | None = None
        self._is_busy = False
        self._failed: set[str] = set()  # ids of those that can be tried again
        self._choice, reading = QWidget(), Label(context.theme, tr("Reading what AI clients have…"), "body", "secondary")
        self._lines = fill(column(self._choice, spacing=12), reading)
        self.body.addWidget(self._choice)
        self._add_buttons()
        self._draw()
        context.hub.on(ImportProgressed, self.show_progress, self)

    # what there is

    def plan(self, clients: Sequence[str], file: str = "") -> None:
        """Reads what can be imported, and shows it.

        Args:
            clients: their ids; none, and no file: all.
        """
        self._clients, self._file = list(clients), file
        self.run(self._read_plan())

    async def _read_plan(self) -> None:
        self.show_plan(await self.hub.ai_clients.preview_client_import(self._clients, "", self._file))

    def show_plan(self, plan: ImportPlan) -> None:
        """Shows what can be imported."""
        theme = self._theme
        self.show_problem(None)
        self._plan, self._forms = plan, {}
        free = [each for each in plan.candidates if said.can_be_chosen(each) and each.is_chosen]
        self._chosen.clear()  # what can be removed is ticked only where nothing can be imported
        self._chosen |= {each.id for each in free if each.state != "same"} or {each.id for each in free}
        clear(self._lines)
        self._cancel.setText(tr("Cancel") if self._can_choose else tr("Close"))
        add_problems(theme, self._lines, "warning", [(title(each), sentences(each)) for each in plan.problems])
        if not plan.candidates:
            self._lines.addWidget(Label(theme, tr("No servers to import."), wrap=True))
            self._draw()
            return
        self._tabs = FilterTabs(theme, [tr("New"), tr("Different"), tr("Same"), tr("Broken")], name=tr("Which servers"))
        counts = [sum(each.state == state for each in plan.candidates) for state in said.GROUPS]
        self._tabs.set_counts(counts)
        self._tabs.chosen.connect(self._on_group)
        self._all = Button(theme, "", "link", small=True, on_click=self._on_all)
        tabs, self._asked, self._keys_box = QWidget(), QWidget(), QWidget()
        fill(row(tabs), self._tabs, 1, self._all)
        self._details = CandidateDetails(theme, self._names, lambda: secret_place(self.hub.secret_backend))
        self.table = CandidateTable(theme, self._names, self._chosen, self._details.show_candidate)
        self.table.make_room(max(counts))  # the same for every tab: nothing below it jumps
        self.table.switched.connect(self._on_switched)
        self._asked_lines = column(self._asked, spacing=12)
        self._keys = Label(theme, "", "body", "secondary", wrap=True)
        keys = row(self._keys_box, spacing=8)
        keys.addWidget(Icon(theme, "key", 14, "accent.text", "surface.raised"), 0, Qt.AlignmentFlag.AlignTop)
        keys.addWidget(self._keys, 1)
        fill(self._lines, tabs, lines_box(theme, [self.table], margin=1), self._details, self._asked, self._keys_box)
        self._add_tidy()
        group = next((index for index, state in enumerate(said.GROUPS) if any(each.state == state for each in plan.candidates)), 0)
        self._tabs.choose(group)
        self._on_group(group)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why the import failed; the choices stay. None removes it."""
        if problem is not None:
            self._set_busy(False)
        super().show_problem(problem)

    def _add_tidy(self) -> None:
        theme = self._theme
        self._tidy_box, self._tidy, _ = self._switch(tr("Then remove them from those clients"), on=False)
        self._connect_box, self._connects, self._connect_words = self._switch("", on=True)
        text = tr("A server is removed only once it works in Tooltray. You can undo this for 30 days.")
        self._direct = Label(theme, tr("AI clients still reach them there without Tooltray's approvals."), "body", "secondary", wrap=True)
        self._terms = Label(theme, text, "caption", "muted", wrap=True)
        self._leaving = Label(theme, "", "caption", "secondary", wrap=True)
        self._missing = Label(theme, "", "caption", "warning", wrap=True)
        below = fill(column(spacing=4), self._direct, self._terms, self._leaving, self._missing)
        fill(self._lines, self._connect_box, self._tidy_box, below)

    def _switch(self, words: str, *, on: bool) -> tuple[QWidget, Switch, Label]:
        """Makes a line with a choice about the chosen servers' clients: the line, its switch and its label."""
        line, switch, label = QWidget(), Switch(self._theme, words, on=on), Label(self._theme, words, "label")
        switch.clicked.connect(self._draw)
        fill(row(line, spacing=10), (label, 1), switch)
        return line, switch, label

    def _add_buttons(self) -> None:
        self._from_file = Button(self._theme, tr("From a file…"), "ghost", "folder", on_click=self._choose_file)
        fill(self.buttons, self._from_file, 1)
        self._cancel = self.add_button(tr("Cancel"), self._on_cancel)
        self.set_first_focus(self._cancel)
        self._go = self.add_button("", self._on_go, "primary")
        self._go.setToolTip("Ctrl+Enter")
        add_accept_keys(self, self._on_go)

    def _choose_file(self) -> None:
        self.context.choose_file(tr("Servers of a file"), lambda path: self.plan([], path))

    @property
    def _can_choose(self) -> bool:
        """Whether something can be imported, or removed from its clients."""
        return any(said.can_be_chosen(each) for each in self._plan.candidates)

    @property
    def _is_removing(self) -> bool:
        """Whether the tab has servers that are in Tooltray already, which can only be removed from their clients."""
        return bool(self._plan.candidates) and said.GROUPS[self._tabs.current] == "same"

    def _chosen_ones(self) -> list[ImportCandidate]:
        """Returns what the button imports or removes."""
        return [each for each in self._plan.candidates if each.id in self._chosen and (each.state == "same") is self._is_removing]

    def _shown_ones(self) -> list[ImportCandidate]:
        state = said.GROUPS[self._tabs.current]
        return [each for each in self._plan.candidates if each.state == state]

    def _on_group(self, _index: int) -> None:
        self.table.set_rows(self._shown_ones())
        self._details.hide()
        self._on_chosen()

    @property
    def _free_ids(self) -> set[str]:
        """The candidates of the tab that can be ticked."""
        return {each.id for each in self._shown_ones() if said.can_be_chosen(each)}

    def _on_all(self) -> None:
        free = self._free_ids
        if free <= self._chosen:
            self._chosen -= free
        else:
            self._chosen |= free
        self._on_chosen()

    def _on_switched(self, candidate: ImportCandidate, on: bool) -> None:
        (self._chosen.add if on else self._chosen.discard)(candidate.id)
        self._on_chosen()

    def _on_chosen(self) -> None:
        """Shows what is ticked now."""
        self.table.viewport().update()
        free = self._free_ids
        self._all.setVisible(len(free) > 1)
        self._all.setText(tr("Select none") if free <= self._chosen else tr("Select all"))
        self._draw()

    def _draw(self) -> None:
        chosen = self._chosen_ones()
        count = len(chosen)
        self._go.setVisible(self._progress is None and self._can_choose)
        has_sources = bool(said.clients_of(chosen))
        if self._is_removing:
            self._go.setText(many(count, "Remove 1 server from its clients", "Remove {count} servers from their clients"))
        elif has_sources and self._tidy.isChecked():
            self._go.setText(many(count, "Move 1 server", "Move {count} servers"))
        else:
            self._go.setText(many(count, "Copy 1 server", "Copy {count} servers"))
        self._go.setEnabled(bool(count) and not self._is_busy)
        if not self._plan.candidates or self._progress is not None:
            return
        self._draw_asked(chosen)
        self._keys.setText("" if self._is_removing else said.keys_text(chosen, secret_place(self.hub.secret_backend)))
        self._keys_box.setVisible(bool(self._keys.text()))
        self._draw_leaving(chosen, has_sources=has_sources)

    def _without(self, clients: Iterable[str]) -> tuple[list[AiClient], list[AiClient]]:
        """Returns which of some clients do not reach Tooltray, and which of these it can connect."""
        scan = self.context.scans.scan
        missing = said.without_tooltray(scan, clients)
        return missing, [client for client in to_connect(scan) if client in missing] if scan is not None else []

    def _draw_leaving(self, chosen: Sequence[ImportCandidate], *, has_sources: bool) -> None:
        """Shows what is removed from which files, which clients can be connected, and which are left without Tooltray."""
        self._tidy_box.setVisible(has_sources and not self._is_removing)
        self._direct.setVisible(self._is_removing and bool(self._free_ids))
        self._terms.setVisible(has_sources or self._direct.isVisibleTo(self))
        is_leaving = has_sources and (self._is_removing or self._tidy.isChecked())
        lines = said.leaving(chosen, self._names)
        more = len(lines) - MOST_LINES
        shown = lines[:MOST_LINES] + ([tr("and {count} more", count=more)] if more > 0 else [])
        self._leaving.setText("\n".join(shown))
        self._leaving.setVisible(is_leaving)
        missing, ready = self._without(said.clients_of(chosen))
        self._connect_words.setText(tr("Then connect {clients}", clients=names_in_a_row([client.name for client in ready])))
        self._connects.setAccessibleName(self._connect_words.text())
        self._connect_box.setVisible(bool(ready))
        if self._connects.isChecked():
            missing = [client for client in missing if client not in ready]
        self._missing.setText(f"{said.not_connected(missing)}. {tr('Until you connect, removed servers are missing there.')}")
        self._missing.setVisible(is_leaving and bool(missing))

    def _draw_asked(self, chosen: Sequence[ImportCandidate]) -> None:
        wanted = {each.id: each for each in chosen if each.asks and not self._is_removing}
        for id, candidate in wanted.items():
            if id not in self._forms:
                box, form = QWidget(), Form(self._theme, candidate.asks)
                self._forms[id] = box, form
                fill(column(box, spacing=8), Label(self._theme, tr("Values for {name}", name=candidate.name), "strong"), form)
                self._asked_lines.addWidget(box)
        for id, (box, _) in self._forms.items():
            box.setVisible(id in wanted)
        self._asked.setVisible(bool(wanted))

    def begin(self) -> None:
        """Imports what is ticked, if nothing is missing."""
        chosen = self._chosen_ones()
        forms = {each.id: self._forms[each.id][1] for each in chosen if each.id in self._forms and not self._is_removing}
        wrong = [form for form in forms.values() if not form.check()]
        if wrong:
            wrong[0].focus()
            return
        self.show_problem(None)
        values: dict[str, dict[str, FieldValue]] = {id: form.values for id, form in forms.items()}
        self._set_busy(True)
        self.run(self._import(chosen, values))

    async def _import(self, chosen: Sequence[ImportCandidate], values: Mapping[str, Mapping[str, FieldValue]]) -> None:
        names = {each.id: each.name for each in chosen}
        is_tidy = self._is_removing or self._tidy.isChecked()
        outcome = await self.hub.ai_clients.import_servers(list(names), names, values, is_tidy, self._clients, "", self._file)
        self._imported()
        unseen = await self._unseen([server.name for server in outcome if server.state in ("listed", "added")])
        missing, ready = self._without(said.clients_of(chosen))
        if ready and self._connects.isChecked() and all(server.state == "listed" for server in outcome) and self.is_there:
            self._is_busy = False
            self._keep(False)
            self._on_connect(ready)
            self.context.say("\n".join(filter(None, (said.outcome_title(outcome), unseen))))
            return
        self.show_outcome(outcome)
        self._show_missing(missing, ready)
        if unseen and self._progress is not None:
            self._progress.notes.addWidget(Label(self._theme, unseen, "caption", "warning", wrap=True))

    async def _unseen(self, names: Sequence[str]) -> str:
        """Returns which AI clients do not see the servers because of their profiles, as a sentence; empty if all see them."""
        views = self.hub.views
        with suppress(TooltrayError):  # the outcome is more important
            return unseen_by("", names, await views.get_profiles(), await views.get_client_modes(), await views.get_sessions())
        return ""

    def _on_go(self) -> None:
        if not self._go.isEnabled() or not self._go.isVisibleTo(self):
            return
        if self._failed:
            self._chosen.intersection_update(self._failed)
        self.begin()

    def _set_busy(self, is_busy: bool) -> None:
        """Replaces the choice by the list of progress during an import; shows the choice again if the import was refused."""
        self._is_busy = is_busy
        self._failed = set()
        self._keep(is_busy)
        self._choice.setVisible(not is_busy)
        if self._progress is not None:
            self._progress.hide()
            self._progress.deleteLater()
            self._progress = None
        if is_busy:
            self._cancel.setText(tr("Cancel"))
            self._progress = ImportProgressList(self._theme, self.hub, self._chosen_ones(), self._names, is_removing=self._is_removing)
            self.body.addWidget(self._progress)
        for button in (self._go, self._close_button, self._from_file):
            button.setVisible(not is_busy)
        if not is_busy and self._plan.candidates:
            self._draw()

    def _keep(self, is_kept: bool) -> None:
        """Keeps the sheet open while servers are being imported, which must not go out of sight."""
        if (sheet := self.context.sheets.sheet) is not None and sheet.panel is self:
            sheet.keep(is_kept)

    def _on_cancel(self) -> None:
        if self._is_busy:
            self._cancel.setEnabled(False)
            self._cancel.setText(tr("Cancelling…"))
            self.run(self.hub.ai_clients.cancel_import(), show=super().show_problem)
        else:
            self.leave()

    # how it goes

    def show_progress(self, progress: ImportProgressed) -> None:
        """Shows the progress, and which server was imported last."""
        if self._progress is not None:
            self._progress.show_progress(progress)

    def show_outcome(self, outcome: Sequence[ImportedServer]) -> None:
        if self._progress is None:
            return
        self._is_busy = False
        self._keep(False)
        self._progress.show_outcome(outcome)
        self._failed = {server.id for server in outcome if server.state == "failed"}
        if self._failed:
            self._go.setText(tr("Try again"))
            self._go.setEnabled(True)
            self._go.show()
        self._close_button.show()
        self._cancel.setEnabled(True)
        self._cancel.setText(tr("Close"))
        self._cancel.setFocus(Qt.FocusReason.OtherFocusReason)

    def _show_missing(self, missing: Sequence[AiClient], ready: Sequence[AiClient]) -> None:
        """Shows which clients of the servers are not connected, and connects those that it can."""
        if self._progress is not None and missing:
            buttons = [Button(self._theme, tr("Connect"), small=True, on_click=lambda: self._on_connect(ready))] if ready else []
            self._progress.notes.addWidget(Banner(self._theme, "warning", said.not_connected(missing), "", *buttons))

    def _on_connect(self, clients: Sequence[AiClient]) -> None:
        self.close_requested.emit()
        self._connect([client.id for client in clients])
