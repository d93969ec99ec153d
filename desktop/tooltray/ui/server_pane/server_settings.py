"""The editor of an opened server's entry: a form, and its JSON beside it; each follows the other. Nothing is saved before the user presses
Save; changes made elsewhere meanwhile are shown, and never overwritten."""

import json
import os
from collections.abc import Mapping, Sequence
from contextlib import suppress
from functools import partial

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeyEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from tooltray.foundation.errors import Conflict, Problem, SecretsUnreachable, TooltrayError
from tooltray.foundation.events import SecretsChanged
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.entries import EntryError, NextStep
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import OpenServer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.secrets_help import SecretsHelp
from tooltray.ui.kit.view import View
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.origins import change_there, is_of_file, origin, secret_place
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.server_pane.entry_fields import Entry, with_values
from tooltray.ui.server_pane.entry_form import EntryForm, TypedSecrets, same_entry
from tooltray.ui.server_pane.entry_json import EntryJson, SaveSheet
from tooltray.ui.server_pane.server_view import TAB_INSET, PaneState, ServerView
from tooltray.ui.server_pane.test_panel import TestPanel
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, is_enter
from tooltray.ui.widgets.code_view import FindSpans
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.keyboard import add_accept_keys, go_to
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.split_view import MARGIN
from tooltray.ui.widgets.surface import clear, column, divider, fill, row
from tooltray.ui.zoom import px

BESIDE_GAP = 12  # px between the form's scroll bar and the JSON
ROOM_FOR_BOTH = 720  # px; below that the form or the JSON is shown
CHECKED_AFTER_MS = 150  # since the last key: reading a long entry takes some milliseconds
LONGEST_ENTRY, FORM, JSON = 256 * 1024, 0, 1  # characters of its JSON, which is read at each key; the two ways
PLACEHOLDER = "${secret:"  # what stands before the name of a secret


class ServerSettings(ServerView, View):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__()
        self.context, self._name = context, name
        theme = self._theme = context.theme
        self._server: ServerSnapshot | None = None
        self._base: Entry | None = None  # as it stands in its file, as far as is known here
        self._revision = ""
        self._slips: tuple[EntryError, ...] = ()
        self._is_json = True  # what stands there is a JSON object
        self._is_saving = self._is_gone = False
        self._wanted_secret = ""
        self._read, self._read_names = self.reading(self._read_entry), self.reading(self._read_secret_names)
        find = plain_secrets(context.local.find_secrets)
        self.form = EntryForm(
            theme,
            name,
            looks_secret=lambda key, value: bool(find(json.dumps({key: value}))),
            choose_folder=context.choose_folder,
            place=lambda: secret_place(self.hub.secret_backend),
        )
        self.form.setEnabled(False)  # what is typed before the entry is there would be lost
        self.form.changed.connect(self._on_form)
        self.form.access_requested.connect(partial(context.go, OpenServer(name, "access")))
        self._typed = TypedSecrets(theme, name, self.form, context.local.move_secrets, self._on_form)
        self.json = EntryJson(theme, find)
        self.json.edited.connect(self._on_text)
        self.test_panel = TestPanel(context, cancelled=lambda: self._test.setFocus(Qt.FocusReason.OtherFocusReason), step=self._on_step)
        self._check = QTimer(self, singleShot=True, interval=CHECKED_AFTER_MS)
        self._check.timeout.connect(self._read_text)
        self._news = column(margins=(MARGIN, 0, MARGIN, 8), spacing=8)
        self._ways = FilterTabs(theme, [tr("Form"), "JSON"], name=tr("How it is edited"), have_counts=False)
        self._ways.chosen.connect(self._arrange)
        self._way_area = QWidget()
        fill(row(self._way_area, margins=(MARGIN - TAB_INSET, 0, MARGIN, 8)), self._ways, 1)
        below = fill(column(margins=(MARGIN, 0, MARGIN, 10)), self._typed, self.test_panel)
        fill(column(self), self._news, self._way_area, (self._both(), 1), below, divider(), self._foot())
        QShortcut(QKeySequence("Ctrl+S"), self, self._on_save).setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)
        add_accept_keys(self, self._on_save_and_connect)
        context.hub.on_any((SecretsChanged,), self._read_names, self)
        self._arrange()
        self._read()

    @property
    def unsaved(self) -> str:
        return self.json.text if self._has_changes else ""

    @property
    def is_edited(self) -> bool:
        """Whether there is unsaved input; invalid values are no changes of the entry yet."""
        return self._has_changes or (self._base is not None and not self.form.is_complete)

    @property
    def _has_changes(self) -> bool:
        if self._base is None:
            return False
        return not self._is_json or not same_entry(self.form.entry, self._base) or bool(self.form.secrets)

    @property
    def can_save(self) -> bool:
        is_right = self._is_json and not self._slips and self.form.is_complete
        return self.is_edited and is_right and not self._is_saving and not self._is_served

    @property
    def _is_served(self) -> bool:
        return self._server is not None and self._server.origin == "served"

    def show_state(self, state: PaneState) -> None:
        server = state.server
        is_news = self._server is not None and server.revision != self._server.revision and server.revision != self._revision
        self._server = server
        self._draw()
        if is_news and not self._is_saving:
            if self.is_edited:
                self._say_changed()
            else:
                self._read()

    def set_gone(self) -> None:
        self._is_gone = True
        add = Button(self._theme, tr("Add it again"), small=True, on_click=self._on_add_again)
        text = tr("What you have typed is still here.")
        self._tell(Banner(self._theme, "warning", tr("{name} was removed meanwhile", name=self._name), text, add))
        self._draw()

    def restore(self, text: str) -> None:
        """Shows the user's input that was not saved."""
        self.json.set_text(text)
        self._read_text()

    def ask_secret(self, name: str) -> None:
        """Moves the focus to the value of a secret that the entry names, as soon as it is shown."""
        self._wanted_secret = "" if self.form.focus_secret(name) else name

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self.test_panel.is_running:  # nobody waits for it any more
            self.test_panel.end()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if is_enter(event) and isinstance(self.focusWidget(), QLineEdit):
            self._on_save()
        else:
            super().keyPressEvent(event)

    # building

    def _both(self) -> QHBoxLayout:
        self._area, content = PageScroll(tr("Settings of {name}", name=self._name), margin=MARGIN), QWidget()
        self._waits = Label(self._theme, tr("The form waits until the JSON can be read."), "caption", "warning", wrap=True)
        self._waits.hide()
        fill(column(content, margins=(MARGIN, 4, MARGIN, 20), spacing=10), self._waits, self.form, 1)
        self._area.setWidget(content)
        self._beside = QWidget()
        self._beside_layout = fill(column(self._beside, margins=(0, 4, MARGIN, 12)), self.json)
        return fill(row(spacing=0), (self._area, 1), (self._beside, 1))

    def _foot(self) -> QHBoxLayout:
        self._test = Button(self._theme, tr("Test"), icon="plug", on_click=self._on_test)
        self._test.setToolTip(tr("Connects once, and saves nothing"))
        self._where = ElidedLabel(self._theme, "", "caption", "muted", mode=Qt.TextElideMode.ElideMiddle)
        self._changes = Button(self._theme, tr("What changes"), "link", small=True)
        self._changes.clicked.connect(lambda: self.run(self._preview(connects=False)))
        self._discard = Button(self._theme, tr("Discard"), on_click=self._on_discard)
        self._save = Button(self._theme, tr("Save"), "primary", on_click=self._on_save)
        self._save.setToolTip(tr("Ctrl+S saves; Ctrl+Enter saves and connects"))
        line = row(margins=(MARGIN, 12, MARGIN, 14), spacing=8)
        return fill(line, self._test, (self._where, 1), self._changes, self._discard, self._save)

    def _arrange(self, *_way: int) -> None:
        """Shows both where they fit, else the one that the user chose."""
        is_wide = self.width() >= px(ROOM_FOR_BOTH)
        self._way_area.setVisible(not is_wide)
        self._area.setVisible(is_wide or self._ways.current == FORM)
        self._beside.setVisible(is_wide or self._ways.current == JSON)
        self._beside_layout.setContentsMargins(px(BESIDE_GAP if is_wide else MARGIN), px(4), px(MARGIN), px(12))

    # what there is

    async def _read_entry(self) -> None:
        server = self.context.servers.find(self._name)
        revision = server.revision if server is not None else ""  # before the entry: what changes in between is noticed when it is saved
        self._show_entry((await self.hub.servers.get_server_entry(self._name)).entry, revision)
        self._read_names()

    async def _read_secret_names(self) -> None:
        """Reads the names of stored secrets; a locked keyring may wait for the user."""
        names: Sequence[str] | None = None
        with suppress(TooltrayError):
            names = await self.hub.secrets.get_secret_names()
        self.form.set_stored(names)

    def _show_entry(self, entry: Entry, revision: str) -> None:
        if self.is_edited and revision == self._revision:
            return  # it was read again, and is as it was: what a person has typed meanwhile stays
        text = _written(entry)
        if len(text) > LONGEST_ENTRY:
            self._tell(Banner(self._theme, "warning", tr("This entry is too long to be edited here"), tr("Change it in its file.")))
            return
        self._base, self._revision, self._is_json = entry, revision, True
        self._typed.drop_choices()
        clear(self._news)
        self.form.set_entry(entry)
        self.json.set_text(text)
        self._read_text()
        if self._wanted_secret:
            self.ask_secret(self._wanted_secret)

    def _on_form(self) -> None:
        if self.form.is_complete:
            self.json.set_text(_written(self.form.entry))
            self._read_text()
        self._draw()

    def _on_text(self) -> None:
        self._check.start()
        self._draw()

    def _read_text(self) -> None:
        """Takes the entry from the JSON, and shows its errors."""
        self._check.stop()
        found = self.context.local.read_entry(self.json.text)
        self._slips, self._is_json = found.slips, found.entry is not None
        if found.entry is not None and not same_entry(found.entry, self.form.entry):
            self.form.set_entry(found.entry)
        self.form.setEnabled(found.entry is not None)
        self._waits.setVisible(found.entry is None)
        self.json.show_slips(found.slips)
        self.form.show_slips(found.slips)
        self._draw()

    def _draw(self) -> None:
        is_known, is_edited = self._base is not None, self.is_edited
        self._typed.refresh(self._base or {})
        self._save.setEnabled(is_edited and not (self._is_saving or self._is_served or self._is_gone))  # with an error, it leads there
        self._save.setText(tr("Saving…") if self._is_saving else tr("Save"))
        self._discard.setEnabled(is_edited and not self._is_saving)
        self._changes.setVisible(self._has_changes and self._is_json)
        self._test.setEnabled(is_known and self._is_json and not self._slips and self.form.is_complete)
        self.json.code.setReadOnly(self._is_saving)
        if (server := self._server) is not None:
            text = change_there(server) if self._is_served else origin(server)
            self._where.set_text(text, change_there(server) if is_of_file(server) else "")

    # saving

    def _on_save(self) -> None:
        self._begin_save(connects=False)

    def _on_save_and_connect(self) -> None:
        if not self.is_edited and self._base is not None:
            self.context.wishes.restart_requested.emit(self._name)
            self.context.go(OpenServer(self._name, "tools"))
        self._begin_save(connects=True)

    def _begin_save(self, *, connects: bool) -> None:
        if self._check.isActive():
            self._read_text()
        if not self.can_save:
            if self._save.isEnabled():
                self._go_to_fault()
            return
        if self._asks_for_secret():
            return
        if self._server is not None and is_of_file(self._server):
            self.run(self._preview(connects))
        else:
            self._write(connects)

    def _asks_for_secret(self) -> bool:
        """Moves the focus to the first empty secret; returns whether there is one."""
        missing = self.form.missing(self._base or {})
        if missing is None:
            return False
        self._ways.choose(FORM)
        self._arrange()
        missing.ask()
        return True

    def _go_to_fault(self) -> None:
        """Leads to the first field with an error, else to the line of the JSON that has it."""
        first = self.form.first_faulty() if self._is_json else None
        self._ways.choose(FORM if first is not None else JSON)
        self._arrange()
        if first is not None:
            go_to(first)
        else:
            self.json.go_to(next((slip.line for slip in self._slips if slip.line), 1))

    async def _preview(self, connects: bool) -> None:
        """Shows what saving would change, in a sheet that saves it."""
        preview = await self.hub.servers.preview_server_update(self._name, self._typed.entry)
        self.context.sheets.show(SaveSheet(self._theme, self._name, preview, partial(self._write, connects)))

    def _write(self, connects: bool) -> None:
        if not self.is_there:  # the pane was closed under the sheet
            return
        self._is_saving = True
        clear(self._news)
        self._draw()
        self.run(self._save_entry(self._typed.entry, self._typed.secrets, self._revision, connects))

    async def _save_entry(self, entry: Entry, secrets: Mapping[str, str], revision: str, connects: bool) -> None:
        """Replaces the entry and its secrets, unless it was changed meanwhile.

        Args:
            revision: of the entry that the user saw.
            connects: the user wants to see it run. A server that runs with a secret's previous value is restarted in any case.
        """
        servers, name = self.hub.servers, self._name
        found = await servers.preview_server_update(name, entry)
        if found.problem is not None:
            raise TooltrayError(found.problem.title, found.problem.message, found.problem.hint)
        before = (await servers.get_server_entry(name)).entry
        if revision and found.revision != revision:
            self._say_changed()
            return
        try:
            await servers.update_mcp_server(name, entry, found.revision, secrets)
        except Conflict:
            self._say_changed()
            return
        except SecretsUnreachable as error:
            self._show_secrets_help(error.problem)
            return
        now = await servers.preview_server_update(name, before)
        if self.is_there:
            self._show_saved(entry, before, now.revision)
        server = self.context.servers.find(name)
        is_running = server is not None and server.state is ServerState.RUNNING
        if connects or (secrets and entry == before and is_running):  # an entry that is the same makes nothing start again
            await servers.restart_server(name)
        if connects and self.is_there:
            self.context.go(OpenServer(name, "tools"))

    def _show_saved(self, entry: Entry, before: Entry, revision: str) -> None:
        self._is_saving = False
        self._base, self._revision = entry, revision
        undo = partial(_put_back, self.hub, self._name, before, revision)
        self.context.offer_undo(tr("{name} is saved", name=self._name), undo)
        if self._typed.secrets:
            self._show_without_secrets(entry)  # what was typed is stored
            self._read_names()
        if self._save.hasFocus():  # it is disabled now
            self._test.setFocus(Qt.FocusReason.OtherFocusReason)
        self._draw()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows above the form why an action failed."""
        self._is_saving = False
        if problem is not None:
            self._tell(Banner(self._theme, "error", title(problem), sentences(problem)))
        self._draw()

    def _show_secrets_help(self, problem: Problem) -> None:
        help = SecretsHelp(self._theme, problem, self.hub.secret_backend)
        help.chosen.connect(self.context.notices.secrets_choice_requested)
        self._tell(help)

    def _say_changed(self) -> None:
        theirs = Button(self._theme, tr("Show theirs"), small=True, on_click=self._read)
        text = tr("Nothing of yours was saved. Showing theirs drops what you have typed.")
        self._tell(Banner(self._theme, "warning", tr("This entry was changed meanwhile"), text, theirs))

    def _on_discard(self) -> None:
        text = self.json.text
        toast = self.context.offer_undo(tr("Your changes are discarded"))
        toast.action_requested.connect(lambda: self.restore(text))
        self.destroyed.connect(toast.deleteLater)  # there would be nothing to restore it in
        self.test_panel.end()
        if self._base is not None:
            self._show_without_secrets(self._base)
            self._read_text()
        self._read()

    def _show_without_secrets(self, entry: Entry) -> None:
        """Shows an entry, and drops the secrets that were typed into the form."""
        self.form.drop_secrets()
        self.form.set_entry(entry)
        self.json.set_text(_written(entry))

    def _on_add_again(self) -> None:
        if self._is_json and not self._slips and not self._asks_for_secret():
            self.run(self._add(self._typed.entry, self._typed.secrets))

    async def _add(self, entry: Entry, secrets: Mapping[str, str]) -> None:
        """Adds a server that was removed while the user edited it."""
        try:
            await self.hub.servers.add_mcp_server(self._name, entry, True, "", secrets)
        except SecretsUnreachable as error:
            self._show_secrets_help(error.problem)

    def _tell(self, widget: QWidget) -> None:
        clear(self._news)
        self._news.addWidget(widget)

    # testing

    def _on_test(self) -> None:
        entry = with_values(self.form.entry, self.form.secrets)
        if self._test.isEnabled() and isinstance(entry, Mapping) and not self._asks_for_secret():
            self.test_panel.test(self._name, entry)

    def _on_step(self, step: NextStep) -> None:
        """Applies a remedy to the form; it is saved with the rest."""
        entry = dict(self.form.entry)
        match step.kind:
            case "use_absolute_path":
                entry["command"] = step.value
            case "switch_registry":
                entry["customNpmRegistry"] = step.value
            case "add_to_path":
                variables = entry.get("env")
                held = dict(variables) if isinstance(variables, Mapping) else {}
                entry["env"] = {**held, "PATH": os.pathsep.join(filter(None, (step.value, str(held.get("PATH", "")))))}
            case _:
                self.ask_secret(str(step.title.fields.get("name", "")) if isinstance(step.title, Phrase) else "")
                return
        self.form.set_entry(entry)
        self._on_form()
        self._on_test()


def plain_secrets(find: FindSpans) -> FindSpans:
    """Returns a function that finds secrets in a text, but not references to stored secrets."""

    def found(text: str) -> Sequence[tuple[int, int]]:
        return [(first, last) for first, last in find(text) if not text[:first].endswith(PLACEHOLDER)]

    return found


async def _put_back(hub: QtMcpPresenter, name: str, entry: Entry, revision: str) -> None:
    """Restores the previous entry, unless the entry was changed again since."""
    try:
        await hub.servers.update_mcp_server(name, entry, revision)
    except Conflict as error:
        raise TooltrayError(tr("'{name}' is not restored", name=name), error.problem.message, error.problem.hint) from None


def _written(entry: Mapping[str, object]) -> str:
    return json.dumps(entry, indent=2, ensure_ascii=False, default=str)
