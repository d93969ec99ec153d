"""The sheet that adds a server: the user pastes anything, sees what will run, and secrets are stored safely. One scroll, no wizard."""

from collections.abc import Callable, Coroutine, Mapping, Sequence

from msgspec.structs import replace
from PySide6.QtGui import QHideEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem, SecretsUnreachable, TooltrayError
from tooltray.foundation.snapshots.servers import AccessChoice
from tooltray.ui.add.new_server_preview import read_new_access
from tooltray.ui.add.other_ways import OtherWays
from tooltray.ui.add.pasted_preview import NewServer, PastedPreview
from tooltray.ui.confinement_words import is_entry_sandboxed
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.local_work import Pasted
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.secrets_help import KeyringWait, SecretsHelp
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.origins import file_name
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.server_pane.entry_fields import with_values
from tooltray.ui.server_pane.test_panel import TestPanel
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.code_view import CoveredCode
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import clear, column, row

OpenSecrets = Callable[[str, str], Coroutine[object, object, None]]
WIDTH = 680
FEWEST_LINES, MOST_LINES = 3, 12


class AddServerSheet(SheetView):
    """A sheet that adds servers; clicks beside it do not close it once something is typed.

    Args:
        open_secrets: opens the place of secrets, or another one, as `SecretsHelp.chosen` wants it.
        text: the text at the start.
        projects: folders into whose own files a server can be added.
    """

    def __init__(self, context: PageContext, open_secrets: OpenSecrets, text: str = "", projects: Sequence[str] = ()) -> None:
        super().__init__(context, tr("Add server"), WIDTH)
        theme, local = context.theme, context.local
        self._local, self._open_secrets = local, open_secrets
        self._taken = {server.name for server in context.servers.servers}
        self._has_projects = bool(projects)
        self._previews: list[PastedPreview] = []
        self._failure: QWidget | None = None
        self._is_busy = self._can_sandbox = False
        self._new_access: AccessChoice | None = None  # as the settings have it
        self.body.setSpacing(8)
        self._field = CoveredCode(theme, tr("Command, URL or config"), local.find_secrets, lines=FEWEST_LINES)
        self.body.addLayout(self._source())
        self._field.setPlaceholderText("npx -y @modelcontextprotocol/server-everything")
        self._field.textChanged.connect(self._on_text_changed)
        self.body.addWidget(self._field)
        self._complaint = Label(theme, "", "caption", "error", wrap=True)
        self.body.addWidget(self._complaint)
        self.other_ways = OtherWays(context, self.close_requested.emit)
        self.body.addWidget(self.other_ways)
        self._what = QWidget()
        self._preview_layout = column(self._what, margins=(0, 8, 0, 0), spacing=8)
        self.body.addWidget(self._what)
        self._where = Choice(theme, _places(projects), name=tr("Where it is written"))
        self._target = self._target_line()
        self.body.addWidget(self._target)
        self._test_panel = TestPanel(context)
        self.body.addWidget(self._test_panel)
        self.scroll_area.verticalScrollBar().rangeChanged.connect(self._on_range_changed)
        self._add_buttons()
        add_accept_keys(self, self._on_add)
        self.set_first_focus(self._field)
        if text:
            self._field.setPlainText(text)
        else:
            self._on_text_changed()
        self.reading(self._read_access)()

    async def _read_access(self) -> None:
        self._new_access, self._can_sandbox = await read_new_access(self.hub)
        for preview in self._previews:
            preview.show_access(self._new_access, can_sandbox=self._can_sandbox)

    @property
    def previews(self) -> Sequence[PastedPreview]:
        return tuple(self._previews)

    @property
    def complaint(self) -> str:
        """The error in the text, as shown."""
        return self._complaint.text()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why adding failed; the user's input stays."""
        if problem is not None:
            self._set_busy(False)
            self._put_below(Banner(self._theme, "error", title(problem), sentences(problem)))

    def show_secrets_help(self, problem: Problem) -> None:
        """Shows that adding failed since secrets cannot be stored, and the ways out; the user's input stays."""
        self._set_busy(False)
        help = SecretsHelp(self._theme, problem, self.hub.secret_backend)
        help.chosen.connect(self._on_secrets_choice)
        self._put_below(help)

    def _on_secrets_choice(self, kind: str, passphrase: str) -> None:
        self.run(self._open_secrets(kind, passphrase), show=self.on_secrets_tried)

    def on_secrets_tried(self, problem: Problem | None) -> None:
        """Continues adding where it waits for secrets that can be stored now, or shows why they still cannot be."""
        if not isinstance(self._failure, SecretsHelp):
            return
        if problem is not None:
            self._failure.set_problem(problem)
        else:
            self._drop_failure()
            self._on_add()

    def _put_below(self, widget: QWidget) -> None:
        self._drop_failure()
        self._failure = widget
        self.body.addWidget(widget)

    def _source(self) -> QHBoxLayout:
        line = row()
        line.addWidget(Label(self._theme, tr("Paste a command, a URL or a config"), "strong"))
        line.addStretch(1)
        self._cover = Button(self._theme, "", "link", small=True)
        self._cover.clicked.connect(self._on_cover)
        line.addWidget(self._cover)
        line.addSpacing(8)
        self._check = Icon(self._theme, "check", 14, "success.text", "surface.raised")
        line.addWidget(self._check)
        self._verdict = Label(self._theme, "", "caption", "success")
        line.addWidget(self._verdict)
        return line

    def _target_line(self) -> QWidget:
        widget = QWidget()
        line = row(widget, margins=(0, 8, 0, 0), spacing=12)
        line.addWidget(Label(self._theme, tr("Where it is written"), "strong"))
        line.addStretch(1)
        line.addWidget(self._where)
        return widget

    def _add_buttons(self) -> None:
        self._test = Button(self._theme, tr("Test"), icon="plug")
        self._test.setToolTip(tr("Connects once, and adds nothing"))
        self._test.clicked.connect(self._on_test)
        self.buttons.addWidget(self._test)
        self.buttons.addStretch(1)
        self.add_button(tr("Cancel"), self.close_requested.emit)
        self._add = self.add_button(tr("Add server"), self._on_add, "primary")
        self._add.setToolTip("Ctrl+Enter")

    def _on_text_changed(self) -> None:
        text = self._field.toPlainText()
        if text.strip():
            self.hold()
        self._test_panel.end()
        self._field.set_lines(max(FEWEST_LINES, min(MOST_LINES, text.count("\n") + 1)))
        self._drop_failure()
        self._draw_cover()
        found: Sequence[Pasted] = ()
        complaint = ""
        if text.strip():
            try:
                found = self._local.read_pasted(text)
            except TooltrayError as error:
                complaint = f"{title(error.problem)}. {sentences(error.problem)}"
        self.other_ways.setVisible(not text.strip())
        self._complaint.setText(complaint)
        self._complaint.setVisible(bool(complaint))
        self._check.setVisible(bool(found))
        self._verdict.setVisible(bool(found))
        self._verdict.setText(many(len(found), "1 server", "{count} servers"))
        self._show_previews(found)

    def _on_cover(self) -> None:
        self._field.set_covered(not self._field.is_covered)
        self._draw_cover()

    def _draw_cover(self) -> None:
        self._cover.setVisible(self._field.has_secrets)
        self._cover.set_face(tr("Show secrets") if self._field.is_covered else tr("Hide secrets"), "")

    def _show_previews(self, found: Sequence[Pasted]) -> None:
        clear(self._preview_layout)
        self._previews = []
        self._what.setVisible(bool(found))
        self._target.setVisible(bool(found) and self._has_projects)
        if found:
            is_started = any(not pasted.is_remote for pasted in found)
            words = tr("What will run") if is_started else tr("What will be connected")
            self._preview_layout.addWidget(Label(self._theme, words, "strong"))
        names = set(self._taken)
        for pasted in found:
            local = self._local
            same = next((server.name for server in self.context.servers.servers if server.target == pasted.target), "")
            preview = PastedPreview(
                self._theme, pasted, frozenset(names), find_secrets=local.find_secrets, move_secrets=local.move_secrets, same=same
            )
            preview.show_access(self._new_access, can_sandbox=self._can_sandbox)
            preview.changed.connect(self._on_preview_changed)
            preview.changed.connect(self.hold)
            names.add(preview.name)
            self._previews.append(preview)
            self._preview_layout.addWidget(preview)
        self._on_preview_changed()

    def _on_preview_changed(self) -> None:
        ready = [preview for preview in self._previews if preview.is_ready]
        self._add.setEnabled(bool(ready) and len(ready) == len(self._previews) and not self._is_busy)
        self._add.setText(tr("Add server") if len(ready) < 2 else tr("Add {count} servers", count=len(ready)))
        self._test.setVisible(len(self._previews) == 1)
        self._test.setEnabled(bool(ready) and not self._is_busy)

    def _on_test(self) -> None:
        """Tests the new server with the values of its secrets, without storing them."""
        if self._asks_for_secret():
            return
        new = self._previews[0].new_server
        entry = with_values(new.entry, new.secrets)
        if isinstance(entry, Mapping):
            if new.access == "careful" and not is_entry_sandboxed(entry):
                entry = {**entry, "confinement": "own"}
            self._test_panel.test(new.name, entry)
            self.scroll_area.ensureWidgetVisible(self._test_panel)

    def hideEvent(self, event: QHideEvent) -> None:
        super().hideEvent(event)
        self._test_panel.cancel()

    def _on_add(self) -> None:
        self._on_preview_changed()
        if self._add.isEnabled() and not self._asks_for_secret():
            self._drop_failure()
            self._test_panel.end()  # what it holds, such as a port, is to be free
            self._set_busy(True)
            new = [preview.new_server for preview in self._previews if preview.is_ready]
            self.run(self._add_servers([replace(server, project=self._where.chosen) for server in new]))

    async def _add_servers(self, new: Sequence[NewServer]) -> None:
        """Adds new servers, each with its secrets; those that are added stay so if the next one fails, or if the sheet is closed."""
        try:
            for server in new:
                await self._add_server(server)
        except SecretsUnreachable as error:
            if not self.is_there:
                raise
            self.show_secrets_help(error.problem)
            return
        if self.is_there:
            self.close_requested.emit()
        names = ", ".join(server.name for server in new)
        self.context.say(tr("{name} is added", name=names) if len(new) == 1 else tr("{names} are added", names=names))

    async def _add_server(self, server: NewServer) -> None:
        """Adds a server, and removes its preview, so that adding again after a failure adds only the rest."""
        if server.secrets and self.is_there:
            wait = KeyringWait(self._theme)
            self._put_below(wait)
            wait.start()
        try:
            await self.hub.servers.add_mcp_server(
                server.name, server.entry, server.is_default, server.project, server.secrets, server.access
            )
        finally:
            if self.is_there:
                self._drop_failure()
        if self.is_there:
            self._taken.add(server.name)
            for preview in [each for each in self._previews if each.name == server.name]:
                self._previews.remove(preview)
                preview.hide()

    def _asks_for_secret(self) -> bool:
        """Moves the focus to the first secret without a value; returns whether there is one."""
        missing = next((secret for preview in self._previews if (secret := preview.missing) is not None), None)
        if missing is not None:
            missing.ask()
            self.scroll_area.ensureWidgetVisible(missing)
        return missing is not None

    def _set_busy(self, is_busy: bool) -> None:
        self._is_busy = is_busy
        self._field.setReadOnly(is_busy)
        self._what.setEnabled(not is_busy)
        self._target.setEnabled(not is_busy)
        self._on_preview_changed()
        if is_busy:
            self._add.setText(tr("Adding…"))

    def _on_range_changed(self, _first: int, last: int) -> None:
        if self._failure is not None or not self._test_panel.isHidden():  # the last thing in the sheet, which has just got its place
            self.scroll_area.verticalScrollBar().setValue(last)

    def _drop_failure(self) -> None:
        if self._failure is not None:
            self.body.removeWidget(self._failure)
            self._failure.hide()
            self._failure.deleteLater()
            self._failure = None


def _places(projects: Sequence[str]) -> list[tuple[str, str]]:
    """Returns the places for a new server, with their names: the folder of a project's own file, or empty for the settings."""
    own = [(project, file_name(f"{project}/.mcp.json", project)) for project in projects]
    return [("", tr("Your settings, for all clients")), *own]
