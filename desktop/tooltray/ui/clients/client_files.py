"""What is changed in AI clients' files: connecting, disconnecting, importing from them, and undoing that; and the sheet that shows what
connecting or disconnecting changes before it is done, and then the outcome."""

from collections.abc import Callable, Coroutine, Mapping, Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.ai_clients import AiClient, ClientChange, ClientEdit
from tooltray.ui.clients import client_words as said
from tooltray.ui.clients.client_words import change_look, change_note, change_word, edit_word, is_copy_plain, undo_word
from tooltray.ui.clients.import_sheet import ImportSheet
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.secrets_help import KeyringWait
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.kit.view import View
from tooltray.ui.origins import visible_path
from tooltray.ui.problem_words import in_a_row, sentences, title, whole
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import Chip, StateBadge
from tooltray.ui.widgets.choice import Option
from tooltray.ui.widgets.code_view import DiffView
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.setting_rows import add_lines
from tooltray.ui.widgets.surface import Surface, clear, column, fill, row
from tooltray.ui.zoom import px

WIDTH = 760
FIRST_BLOCKS = 3  # as many as a sheet has room for
MOST_IN_TOAST = 3  # changes; a longer list is read in the sheet
DIFF_WIDTH = WIDTH - 2 * 24 - 2 * 14  # px; what margins of sheet and card leave
HUNK = "@@"  # begins the line above each part; what stands before the first names the file


def diff_lines(diff: str) -> list[str]:
    """Returns the visible lines of a unified diff: without its headers, with a gap between hunks."""
    lines: list[str] = []
    is_in_hunk = False
    for line in diff.splitlines():
        if line.startswith(HUNK):
            lines += [" …"] if is_in_hunk else []
            is_in_hunk = True
        elif is_in_hunk:
            lines.append(line or " ")
    return lines


class EditBlock(Surface):
    """The block of one file: its change, the difference, and a box; `changed` is called when the box was ticked or cleared."""

    def __init__(self, theme: Theme, edit: ClientEdit, name: str, changed: Callable[[], object]) -> None:
        super().__init__(theme, "surface.raised", "border", "m")
        self.edit = edit
        self.can_be_made = edit.problem is None and bool(edit.diff or edit.command)
        self.control = Option(theme, edit_word(edit, name), is_round=False)
        self.control.setChecked(self.can_be_made and not edit.needs_own_yes)
        self.control.setEnabled(self.can_be_made)
        self.control.setAccessibleDescription(visible_path(edit.path))
        self.control.clicked.connect(changed)
        shared = [Chip(theme, tr("Under version control"), "warning")] if edit.needs_own_yes else []
        layout = fill(column(self, margins=(14, 10, 14, 12), spacing=8), fill(row(spacing=8), (self.control, 1), *shared))
        if edit.path:
            layout.addWidget(CodeLabel(theme, visible_path(edit.path), "secondary"))
        if edit.problem is not None:
            layout.addWidget(Banner(theme, "error", title(edit.problem), sentences(edit.problem)))
            return
        if edit.needs_own_yes:
            text = tr("Others get this file with the repository. It changes only if you tick it.")
            layout.addWidget(Label(theme, text, "caption", "warning", wrap=True))
        if edit.command:
            command = CodeLabel(theme, " ".join(map(quoted, edit.command)))
            fill(layout, Label(theme, tr("The client's own command does it:"), "caption", "muted"), command)
        if edit.diff:
            layout.addWidget(DiffView(theme, diff_lines(edit.diff), tr("What changes in {file}", file=edit.path), width=px(DIFF_WIDTH)))
        elif not edit.command:
            layout.addWidget(Label(theme, tr("Nothing has to change."), "caption", "muted"))

    @property
    def is_chosen(self) -> bool:
        return self.control.isChecked()


def undo_button(theme: Theme, change: ClientChange, what: str, undo: Callable[[Sequence[str]], object]) -> Button:
    """Makes the button that undoes a change.

    Args:
        what: was done, in words.
        undo: gets the change's id, in a list, when the user wants it undone.
    """
    button = Button(theme, tr("Undo"), small=True, on_click=lambda: undo([change.id]))
    button.setAccessibleName(tr("Undo: {what}", what=what))
    button.setToolTip(undo_word(change))
    return button


class EditsSheet(SheetView):
    """A sheet with the changes of files. It decides nothing: a file under version control is changed only if the user ticked it."""

    def __init__(self, files: "ClientFiles", edits: Sequence[ClientEdit]) -> None:
        super().__init__(files.context, _title(edits, files.names), WIDTH)
        self._files, self._names = files, files.names
        self._is_busy = False
        self._waiting = list(edits)  # whose blocks are not built yet
        self.blocks: list[EditBlock] = []
        text = tr("This is all that changes. Secrets are covered here. A copy of each file is kept for 30 days, for Undo.")
        self.body.addWidget(Label(self._theme, text, "body", "secondary", wrap=True))
        self._cancel = self.add_button(tr("Cancel"), self.leave)
        self.set_first_focus(self._cancel)
        self._go = self.add_button("", self._on_go, "primary")
        self._go.setToolTip("Ctrl+Enter")
        add_accept_keys(self, self._on_go)
        self._keyring = KeyringWait(self._theme, self.hub)
        self.add_above_buttons(self._keyring)
        self._build(FIRST_BLOCKS)

    def _build(self, count: int = 1) -> None:
        """Builds some blocks, and the others after pending events: thirty diffs take half a second."""
        for edit in self._waiting[:count]:
            self.blocks.append(EditBlock(self._theme, edit, self._names.get(edit.client, edit.client), self._draw))
            self.body.addWidget(self.blocks[-1])
        self._waiting = self._waiting[count:]
        if self._waiting:
            QTimer.singleShot(0, self, self._build)
        self._draw()

    def show_changes(self, changes: Sequence[ClientChange]) -> None:
        """Shows the outcome in place of the planned changes."""
        self.show_problem(None)
        self._keyring.stop()
        clear(self.body)
        self.blocks, self._waiting = [], []
        box = Surface(self._theme, "surface.raised", "border", "m")
        add_lines(column(box), map(self._outcome, changes))
        self.body.addWidget(box)
        self._go.hide()
        self._cancel.setText(tr("Close"))
        self._cancel.setEnabled(True)
        self._cancel.setFocus(Qt.FocusReason.OtherFocusReason)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why nothing could be changed; the ticks stay. None removes it."""
        if problem is not None:
            self._set_busy(False)
        super().show_problem(problem)

    def _outcome(self, change: ClientChange) -> QWidget:
        """Returns the outcome of one change."""
        theme, widget, name = self._theme, QWidget(), self._names.get(change.client, change.client)
        words = change_word(change, name) if change.problem is None else name
        head = fill(row(spacing=10), (Label(theme, words, "strong"), 1), StateBadge(theme, change_look(change)))
        if change.undo != "none" and change.problem is None:
            head.addWidget(undo_button(theme, change, words, self._files.undo))
        path = CodeLabel(theme, visible_path(change.path), "secondary")
        layout = fill(column(widget, margins=(14, 10, 14, 10), spacing=4), head, path)
        if change.problem is not None:
            layout.addWidget(Banner(theme, "error", title(change.problem), sentences(change.problem)))
        elif note := change_note(change):
            layout.addWidget(Label(theme, note, "caption", "secondary", wrap=True))
        return widget

    def _chosen(self) -> list[EditBlock]:
        return [block for block in self.blocks if block.is_chosen]

    def _draw(self) -> None:
        chosen = self._chosen()
        self._go.setText(_go_word([block.edit for block in chosen or self.blocks], len(chosen)))
        self._go.setEnabled(bool(chosen) and not self._is_busy and not self._waiting)  # a yes is for what has been shown

    def _set_busy(self, is_busy: bool) -> None:
        self._is_busy = is_busy
        for block in self.blocks:
            block.setEnabled(not is_busy)
        self._draw()
        if is_busy:
            self._go.setText(tr("Writing…"))
            self._keyring.start()
        else:
            self._keyring.stop()

    def _on_go(self) -> None:
        if self._go.isEnabled() and self._go.isVisibleTo(self):
            self.show_problem(None)
            edits = {block.edit.id: block.edit.revision for block in self._chosen()}
            self._set_busy(True)
            self.run(self._apply(edits))

    async def _apply(self, edits: dict[str, str]) -> None:
        changes = await self.hub.ai_clients.apply_client_edits(edits)
        if len(changes) <= MOST_IN_TOAST and all(change.problem is None and not is_copy_plain(change) for change in changes):
            self.close_requested.emit()
            self._files.offer_undo(changes)
        elif self.is_there:
            self.show_changes(changes)
        self._files.refresh()


def _title(edits: Sequence[ClientEdit], names: Mapping[str, str]) -> str:
    clients = list(dict.fromkeys(edit.client for edit in edits))
    if len(clients) == 1:
        return edit_word(edits[0], names.get(clients[0], clients[0]))
    is_disconnecting = bool(edits) and all(edit.action == "disconnect" for edit in edits)
    count = len(clients)
    return tr("Disconnect {count} AI clients", count=count) if is_disconnecting else tr("Connect {count} AI clients", count=count)


def _go_word(edits: Sequence[ClientEdit], count: int) -> str:
    is_disconnecting = bool(edits) and all(edit.action in ("disconnect", "remove") for edit in edits)
    if count > 1:
        return tr("Change {count} files", count=count)
    return tr("Disconnect") if is_disconnecting else tr("Mend") if edits and edits[0].action == "mend" else tr("Connect")


Preview = Callable[[list[str]], Coroutine[object, object, Sequence[ClientEdit]]]


class ClientFiles:
    """Changes AI clients' files as the user wants it.

    Args:
        page: shows failures.
        read: reads what the page shows of changes.
    """

    def __init__(self, page: View, read: Work) -> None:
        self.context, self._page, self._read = page.context, page, read

    @property
    def names(self) -> dict[str, str]:
        """The names of clients by their ids."""
        scan = self.context.scans.scan
        return {client.id: client.name for client in scan.clients} if scan is not None else {}

    def connect_or_disconnect(self, client: AiClient) -> None:
        """Opens the sheet with what the client's button would change."""
        views = self.context.hub.ai_clients
        self._page.run(self._preview(views.preview_disconnect if said.wants_disconnect(client) else views.preview_connect, [client.id]))

    def connect(self, clients: Sequence[str]) -> None:
        """Opens the sheet with what connecting these clients would change."""
        self._page.run(self._preview(self.context.hub.ai_clients.preview_connect, clients))

    def import_from(self, clients: Sequence[str]) -> None:
        """Opens the sheet that imports servers from these clients, or from all."""
        scan = self.context.scans.scan
        only_removes = scan is not None and scan.servers and not scan.new_servers and not clients
        name = tr("Remove servers from their clients") if only_removes else tr("Import servers")
        panel = ImportSheet(self.context, name, self.names, self.refresh, self.connect)
        if (sheet := self.context.sheets.show(panel)) is not None:
            sheet.hold()
            panel.plan(clients)

    def undo(self, ids: Sequence[str]) -> None:
        """Undoes changes, the last one first."""
        self._page.run(self._undone(ids), then=self._read)

    async def _preview(self, preview: Preview, clients: Sequence[str]) -> None:
        """Opens the sheet with what would be changed; an open sheet of any kind stays."""
        edits = await preview(list(clients))
        if self.context.sheets.sheet is not None:
            return
        if not edits:
            self.context.say(tr("Nothing has to change."), "info")
            return
        self.context.sheets.show(EditsSheet(self, edits))

    async def _undone(self, ids: Sequence[str]) -> None:
        """Undoes changes up to the first failure, which leaves its file unchanged."""
        undone = []
        for id in reversed(ids):
            undone.append(await self.context.hub.ai_clients.undo_client_change(id))
            self.context.scans.look()
            if (problem := undone[-1].problem) is not None:
                raise TooltrayError(problem.title, problem.message, problem.hint)
        if isinstance(panel := self.context.sheets.panel, EditsSheet):
            panel.close_requested.emit()
        self.context.say(self._words(undone))

    def offer_undo(self, changes: Sequence[ClientChange]) -> None:
        """Shows in a toast what was changed, with Undo."""
        if ids := [change.id for change in changes if change.undo != "none"]:
            self.context.offer_undo(self._words(changes)).action_requested.connect(lambda: self.undo(ids))
        else:
            self.context.say(self._words(changes))

    def _words(self, changes: Sequence[ClientChange]) -> str:
        """Returns what was changed, and what the user should know of it, in a line for each change."""
        names = self.names
        words = [(said.change_word(change, names.get(change.client, change.client)), change_note(change)) for change in changes]
        return "\n".join(in_a_row(whole(Problem(word)), note) if note else word for word, note in words)

    def refresh(self) -> None:
        """Looks for clients again, and reads what the page shows."""
        self.context.scans.look()
        self._page.run(self._read())
