"""The editor of an opened server's entry: a form, and its JSON beside it; each follows the other. Nothing is saved before the user presses
Save; changes made elsewhere meanwhile are shown, and never overwritten."""

import json
import os
from collections.abc import Mapping, Sequence

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QHideEvent, QKeySequence, QResizeEvent, QShortcut
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.entries import EntryError, NextStep, ServerUpdatePreview
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.secrets_help import SecretsHelp
from tooltray.ui.origins import change_there, is_of_file, origin
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.server_pane.entry_commands import EntryCommands
from tooltray.ui.server_pane.entry_form import EntryForm, same_entry
from tooltray.ui.server_pane.entry_json import EntryJson
from tooltray.ui.server_pane.entry_values import Entry, with_values
from tooltray.ui.server_pane.save_sheet import SaveSheet
from tooltray.ui.server_pane.server_view import ServerView
from tooltray.ui.server_pane.test_panel import TestPanel
from tooltray.ui.server_pane.typed_secrets import TypedSecrets
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.code_view import FindSpans
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.split_view import MARGIN
from tooltray.ui.widgets.surface import clear, column, divider, row

BESIDE_GAP = 12  # px between the form's scroll bar and the JSON
ROOM_FOR_BOTH = 720  # px; below that the form or the JSON is shown
CHECKED_AFTER_MS = 150  # since the last key: reading a long entry takes some milliseconds
LONGEST_ENTRY = 256 * 1024  # characters of its JSON, which is read at each key
FORM, JSON = 0, 1
PLACEHOLDER = "${secret:"  # what stands before the name of a secret


class ServerSettings(ServerView):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__()
        self._context, self._name, theme = context, name, context.theme
        self._theme = theme
        self._server: ServerSnapshot | None = None
        self._base: Entry | None = None  # as it stands in its file, as far as is known here
        self._saving: Entry = {}  # what is being saved
        self._revision = ""
        self._slips: tuple[EntryError, ...] = ()
        self._is_json = True  # what stands there is a JSON object
        self._is_saving = self._is_gone = self._shows_preview = False
        self._wanted_secret = ""
        self.commands = EntryCommands(name, hub=context.hub, servers=context.servers, tasks=context.tasks, parent=None)
        find = plain_secrets(context.local.find_secrets)
        self._form = EntryForm(
            theme, name, looks_secret=lambda key, value: bool(find(json.dumps({key: value}))), choose_folder=context.choose_folder
        )
        self._form.setEnabled(False)  # what is typed before the entry is there would be lost
        self._form.changed.connect(self._on_form)
        self._typed = TypedSecrets(theme, name, self._form, context.local.move_secrets)
        self._typed.changed.connect(self._on_form)
        self._json = EntryJson(theme, find)
        self._json.edited.connect(self._on_text)
        self._panel = TestPanel(context)
        self._check = QTimer(self, singleShot=True, interval=CHECKED_AFTER_MS)
        self._check.timeout.connect(self._read_text)
        outer = column(self)
        self._news = column(margins=(MARGIN, 0, MARGIN, 8), spacing=8)
        outer.addLayout(self._news)
        self._ways = FilterTabs(theme, [tr("Form"), "JSON"], name=tr("How it is edited"), have_counts=False)
        self._ways.chosen.connect(self._arrange)
        ways = row(margins=(MARGIN - 11, 0, MARGIN, 8))
        ways.addWidget(self._ways)
        ways.addStretch(1)
        self._way_area = QWidget()
        self._way_area.setLayout(ways)
        outer.addWidget(self._way_area)
        outer.addLayout(self._both(), 1)
        below = column(margins=(MARGIN, 0, MARGIN, 10))
        below.addWidget(self._typed)
        below.addWidget(self._panel)
        outer.addLayout(below)
        outer.addWidget(divider())
        outer.addLayout(self._foot())
        self._connect()
        self._arrange()
        self.commands.read()

    @property
    def form(self) -> EntryForm:
        return self._form

    @property
    def json(self) -> EntryJson:
        return self._json

    @property
    def test_panel(self) -> TestPanel:
        return self._panel

    @property
    def unsaved(self) -> str:
        return self._json.text if self.is_edited else ""

    @property
    def is_edited(self) -> bool:
        """Whether there are unsaved changes."""
        if self._base is None:
            return False
        return not self._is_json or not same_entry(self._form.entry, self._base) or bool(self._form.secrets)

    @property
    def can_save(self) -> bool:
        is_right = self._is_json and not self._slips and self._form.is_complete
        return self.is_edited and is_right and not self._is_saving and not self._is_served

    @property
    def _is_served(self) -> bool:
        return self._server is not None and self._server.origin == "served"

    def set_server(self, server: ServerSnapshot) -> None:
        is_news = self._server is not None and server.revision != self._server.revision and server.revision != self._revision
        self._server = server
        self._draw()
        if is_news and not self._is_saving:
            if self.is_edited:
                self._say_changed()
            else:
                self.commands.read()

    def set_gone(self) -> None:
        self._is_gone = True
        add = Button(self._theme, tr("Add it again"), small=True)
        add.clicked.connect(self._on_add_again)
        text = tr("What you have typed is still here.")
        self._tell(Banner(self._theme, "warning", tr("{name} was removed meanwhile", name=self._name), text, add))
        self._draw()

    def restore(self, text: str) -> None:
        """Shows the user's input that was not saved."""
        self._json.set_text(text)
        self._read_text()

    def ask_secret(self, name: str) -> None:
        """Moves the focus to the value of a secret that the entry names, as soon as it is shown."""
        self._wanted_secret = "" if self._form.focus_secret(name) else name

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._arrange()

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        if self._panel.is_running:  # nobody waits for it any more
            self._panel.end()

    # building

    def _both(self) -> QHBoxLayout:
        line = row(spacing=0)
        area, content = PageScroll(tr("Settings of {name}", name=self._name), margin=MARGIN), QWidget()
        body = column(content, margins=(MARGIN, 4, MARGIN, 20), spacing=10)
        text = tr("The form waits until the JSON can be read.")
        self._waits = Label(self._theme, text, "caption", "warning", wrap=True)
        self._waits.hide()
        body.addWidget(self._waits)
        body.addWidget(self._form)
        body.addStretch(1)
        area.setWidget(content)
        self._area = area
        beside = column(margins=(0, 4, MARGIN, 12))
        beside.addWidget(self._json)
        self._beside = QWidget()
        self._beside.setLayout(beside)
        self._beside_layout = beside
        line.addWidget(area, 1)
        line.addWidget(self._beside, 1)
        return line

    def _foot(self) -> QHBoxLayout:
        line = row(margins=(MARGIN, 12, MARGIN, 14), spacing=8)
        self._test = Button(self._theme, tr("Test"), icon="plug")
        self._test.setToolTip(tr("Connects once, and saves nothing"))
        self._test.clicked.connect(self._on_test)
        line.addWidget(self._test)
        self._where = ElidedLabel(self._theme, "", "caption", "muted", mode=Qt.TextElideMode.ElideMiddle)
        line.addWidget(self._where, 1)
        self._changes = Button(self._theme, tr("What changes"), "link", small=True)
        self._changes.clicked.connect(self._on_changes)
        line.addWidget(self._changes)
        self._discard = Button(self._theme, tr("Discard"))
        self._discard.clicked.connect(self._on_discard)
        line.addWidget(self._discard)
        self._save = Button(self._theme, tr("Save"), "primary")
        self._save.setToolTip(tr("Ctrl+S saves; Ctrl+Enter saves and connects"))
        self._save.clicked.connect(self._on_save)
        line.addWidget(self._save)
        return line

    def _connect(self) -> None:
        commands = self.commands
        commands.entry_read.connect(self._on_entry)
        commands.stored_read.connect(self._form.set_stored)
        commands.stored_read.connect(self._typed.set_stored)
        commands.previewed.connect(self._on_previewed)
        commands.saved.connect(self._on_saved)
        commands.connected.connect(self._on_connected)
        commands.changed_meanwhile.connect(self._say_changed)
        commands.refused.connect(self._on_refused)
        commands.secrets_refused.connect(self._on_secrets_refused)
        self._panel.cancelled.connect(lambda: self._test.setFocus(Qt.FocusReason.OtherFocusReason))
        self._panel.step_requested.connect(self._on_step)
        for keys, act in (("Ctrl+S", self._on_save), ("Ctrl+Return", self._on_save_and_connect), ("Ctrl+Enter", self._on_save_and_connect)):
            shortcut = QShortcut(QKeySequence(keys), self, act)
            shortcut.setContext(Qt.ShortcutContext.WidgetWithChildrenShortcut)

    def _arrange(self, *_way: int) -> None:
        """Shows both where they fit, else the one that the user chose."""
        is_wide = self.width() >= ROOM_FOR_BOTH
        self._way_area.setVisible(not is_wide)
        self._area.setVisible(is_wide or self._ways.current == FORM)
        self._beside.setVisible(is_wide or self._ways.current == JSON)
        self._beside_layout.setContentsMargins(BESIDE_GAP if is_wide else MARGIN, 4, MARGIN, 12)

    # what there is

    def _on_entry(self, entry: Mapping[str, object], revision: str) -> None:
        if self.is_edited and revision == self._revision:
            return  # it was read again, and is as it was: what a person has typed meanwhile stays
        text = _written(entry)
        if len(text) > LONGEST_ENTRY:
            self._tell(Banner(self._theme, "warning", tr("This entry is too long to be edited here"), tr("Change it in its file.")))
            return
        self._base, self._revision, self._is_json = entry, revision, True
        self._typed.drop_choices()
        clear(self._news)
        self._form.set_entry(entry)
        self._json.set_text(text)
        self._read_text()
        if self._wanted_secret:
            self.ask_secret(self._wanted_secret)

    def _on_form(self) -> None:
        if self._form.is_complete:
            self._json.set_text(_written(self._form.entry))
            self._read_text()
        self._draw()

    def _on_text(self) -> None:
        self._check.start()
        self._draw()

    def _read_text(self) -> None:
        """Takes the entry from the JSON, and shows its errors."""
        self._check.stop()
        found = self._context.local.read_entry(self._json.text)
        self._slips, self._is_json = found.slips, found.entry is not None
        if found.entry is not None and not same_entry(found.entry, self._form.entry):
            self._form.set_entry(found.entry)
        self._form.setEnabled(found.entry is not None)
        self._waits.setVisible(found.entry is None)
        self._json.show_slips(found.slips)
        self._form.show_slips(found.slips)
        self._draw()

    def _draw(self) -> None:
        is_known, is_edited = self._base is not None, self.is_edited
        self._typed.refresh(self._base or {})
        self._save.setEnabled(self.can_save and not self._is_gone)
        self._save.setText(tr("Saving…") if self._is_saving else tr("Save"))
        self._discard.setEnabled(is_edited and not self._is_saving)
        self._changes.setVisible(is_edited and self._is_json)
        self._test.setEnabled(is_known and self._is_json and not self._slips and self._form.is_complete)
        self._json.code.setReadOnly(self._is_saving)
        if (server := self._server) is not None:
            text = change_there(server) if self._is_served else origin(server)
            self._where.set_text(text, change_there(server) if is_of_file(server) else "")

    # saving

    def _on_save(self) -> None:
        self._begin_save(connects=False)

    def _on_save_and_connect(self) -> None:
        if not self.is_edited and self._base is not None:
            self._context.wishes.restart_requested.emit(self._name)
            self._context.wishes.open_requested.emit(self._name, "tools")
        self._begin_save(connects=True)

    def _begin_save(self, *, connects: bool) -> None:
        if self._check.isActive():
            self._read_text()
        if not self.can_save or self._asks_for_secret():
            return
        self._connects = connects
        if self._server is not None and is_of_file(self._server):
            self._shows_preview = True
            self.commands.preview(self._typed.entry)
        else:
            self._write()

    def _asks_for_secret(self) -> bool:
        """Moves the focus to the first empty secret; returns whether there is one."""
        missing = self._form.missing(self._base or {})
        if missing is None:
            return False
        self._ways.choose(FORM)
        self._arrange()
        missing.ask()
        self._area.ensureWidgetVisible(missing)
        return True

    def _write(self) -> None:
        self._is_saving, self._saving = True, self._typed.entry
        clear(self._news)
        self._draw()
        self.commands.save(self._saving, self._typed.secrets, self._revision, self._connects)

    def _on_changes(self) -> None:
        self._connects, self._shows_preview = False, True
        self.commands.preview(self._typed.entry)

    def _on_previewed(self, preview: ServerUpdatePreview) -> None:
        if not self._shows_preview or self._context.sheets.sheet is not None:
            return
        self._shows_preview = False
        sheet = SaveSheet(self._theme, self._name, preview)
        sheet.save_requested.connect(self._write)
        sheet.close_requested.connect(self._context.sheets.open(sheet).dismiss)

    def _on_saved(self, before: Mapping[str, object], revision: str) -> None:
        self._is_saving = False
        has_secrets = bool(self._typed.secrets)
        self._base, self._revision = self._saving, revision
        self._context.offer_undo(tr("{name} is saved", name=self._name), self.commands.put_back(before, revision))
        if has_secrets:
            self._show_without_secrets(self._base)  # what was typed is stored
            self._json.set_text(_written(self._base))
            self.commands.look_at_secrets()
        self._draw()

    def _on_connected(self) -> None:
        self._context.wishes.open_requested.emit(self._name, "tools")

    def _on_refused(self, problem: Problem | None) -> None:
        self._is_saving = self._shows_preview = False
        if problem is not None:
            self._tell(Banner(self._theme, "error", title(problem), sentences(problem)))
        self._draw()

    def _on_secrets_refused(self, problem: Problem) -> None:
        self._is_saving = False
        help = SecretsHelp(self._theme, problem, self._context.hub.secret_backend)
        help.chosen.connect(self._context.notices.secrets_choice_requested)
        self._tell(help)
        self._draw()

    def _say_changed(self) -> None:
        self._is_saving = False
        theirs = Button(self._theme, tr("Show theirs"), small=True)
        theirs.clicked.connect(self.commands.read)
        text = tr("Nothing of yours was saved. Showing theirs drops what you have typed.")
        self._tell(Banner(self._theme, "warning", tr("This entry was changed meanwhile"), text, theirs))
        self._draw()

    def _on_discard(self) -> None:
        text = self._json.text
        toast = self._context.offer_undo(tr("Your changes are discarded"))
        toast.action_requested.connect(lambda: self.restore(text))
        self._panel.end()
        if self._base is not None:
            self._show_without_secrets(self._base)
            self._json.set_text(_written(self._base))
            self._read_text()
        self.commands.read()

    def _show_without_secrets(self, entry: Entry) -> None:
        """Shows an entry, and drops the secrets that were typed into the form."""
        self._form.set_entry({})
        self._form.set_entry(entry)

    def _on_add_again(self) -> None:
        if self._is_json and not self._slips and not self._asks_for_secret():
            self.commands.add_again(self._typed.entry, self._typed.secrets)

    def _tell(self, widget: QWidget) -> None:
        clear(self._news)
        self._news.addWidget(widget)

    # testing

    def _on_test(self) -> None:
        entry = with_values(self._form.entry, self._form.secrets)
        if self._test.isEnabled() and isinstance(entry, Mapping) and not self._asks_for_secret():
            self._panel.test(self._name, entry)

    def _on_step(self, step: NextStep) -> None:
        """Applies a remedy to the form; it is saved with the rest."""
        entry = dict(self._form.entry)
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
        self._form.set_entry(entry)
        self._on_form()
        self._on_test()


def plain_secrets(find: FindSpans) -> FindSpans:
    """Returns a function that finds secrets in a text, but not references to stored secrets."""

    def found(text: str) -> Sequence[tuple[int, int]]:
        return [(first, last) for first, last in find(text) if not text[:first].endswith(PLACEHOLDER)]

    return found


def _written(entry: Mapping[str, object]) -> str:
    return json.dumps(entry, indent=2, ensure_ascii=False, default=str)
