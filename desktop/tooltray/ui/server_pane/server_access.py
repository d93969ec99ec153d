"""The tab with what an opened server may do: three choices, and the same as rules: approval, sandbox and secrets. Which settings make a
choice is the engine's."""

from collections.abc import Sequence
from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QResizeEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import ClientListUpdated, ConfigChanged, GrantsChanged, SecretsChanged, ServerFilesChanged
from tooltray.foundation.snapshots.approvals import GrantSnapshot, ServerPermissions
from tooltray.foundation.snapshots.servers import AccessChoice, ServerSnapshot
from tooltray.foundation.snapshots.setup import SecretSnapshot
from tooltray.ui.approval.allow_tools_sheet import AllowToolsSheet
from tooltray.ui.approval.permission_words import OWN, ToolRow, applies_now, covered, mode_of, modes_for, rules_for, tool_rows, why
from tooltray.ui.approval.tool_approval import ToolApproval, ToolSheet
from tooltray.ui.confinement_words import choice_text, choice_title, differs, is_open
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import OpenSecret
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import confirm
from tooltray.ui.server_pane.sandbox_section import SandboxSection
from tooltray.ui.server_pane.server_view import AccessSection, PaneState, ServerView
from tooltray.ui.settings.secret_words import is_missing, state
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.cell_delegate import CHIP_LINES_HEIGHT
from tooltray.ui.widgets.choice import Choice, Option
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import heading
from tooltray.ui.widgets.split_view import MARGIN
from tooltray.ui.widgets.surface import Surface, column, divider, fill, row
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px


class ServerAccess(ServerView):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__()
        area, content = PageScroll(tr("Access of {name}", name=name), margin=MARGIN), QWidget()
        body = column(content, margins=(MARGIN, 4, MARGIN, 16), spacing=24)
        approval, secrets = ApprovalSection(context, name), SecretsSection(context, name)
        self._sections = (AccessChoices(context, name), approval, SandboxSection(context, name), secrets)
        self._reads = (approval.refresh, secrets.refresh)
        fill(body, *self._sections, 1)
        area.setWidget(content)
        column(self).addWidget(area)
        kinds = (ConfigChanged, ClientListUpdated, GrantsChanged, ServerFilesChanged, SecretsChanged)
        context.hub.on_any(kinds, self._look, self)

    def show_state(self, state: PaneState) -> None:
        for section in self._sections:
            section.set_server(state.server)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._look()

    def _look(self) -> None:
        """Reads what the sections show; a hidden tab is read when it is shown."""
        if self.isVisible():
            for refresh in self._reads:
                refresh()


CHOICES: tuple[AccessChoice | None, ...] = ("careful", "trusted", "free", None)
TEXT_INSET = 26  # px: the text begins where the title does, beside the mark


class AccessChoices(AccessSection):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__(context, name)
        self._server: ServerSnapshot | None = None
        self._is_busy = False
        box = Surface(self._theme)
        box.setAccessibleName(tr("What {name} may do", name=name))
        lines = column(box, margins=(14, 2, 14, 2))
        self._lines: dict[AccessChoice | None, ChoiceLine] = {}
        for choice in CHOICES:
            line = self._lines[choice] = ChoiceLine(self._theme, choice_title(choice), has_edge=choice != CHOICES[0])
            line.option.clicked.connect(partial(self._on_clicked, choice))
            lines.addWidget(line)
        fill(self.body, self.notes, box)

    def set_server(self, server: ServerSnapshot) -> None:
        self._server = server
        self._draw()

    def show_problem(self, problem: Problem | None) -> None:
        super().show_problem(problem)
        self._draw()  # the choice that was not made is not shown as made

    def _draw(self) -> None:
        server = self._server
        if server is None or (access := server.access) is None:
            return
        is_process = server.confinement is not None
        for choice, line in self._lines.items():
            line.option.setChecked(choice == access.choice)
            if choice is not None:
                line.set_text(choice_text(choice, is_process=is_process))
                line.option.setEnabled(choice in access.offered)
        if "careful" not in access.offered:
            self._lines["careful"].set_text(tr("It cannot be sandboxed on this computer."))
        self._lines["careful"].setVisible(is_process)
        self._lines["trusted"].set_edge(is_process)
        self._lines[None].setVisible(access.choice is None)
        self._lines[None].set_text(differs(server))

    def _on_clicked(self, choice: AccessChoice | None) -> None:
        server = self._server
        if self._is_busy or choice is None or server is None or server.access is None or choice == server.access.choice:
            self._draw()
        else:
            self._is_busy = True
            self.run(self._choose(choice, server))

    async def _choose(self, choice: AccessChoice, server: ServerSnapshot) -> None:
        try:
            if not await self._is_confirmed(choice, server):
                return
            await self.hub.approvals.set_access(self._name, choice)
        finally:
            self._is_busy = False
        limits = (server.confinement.files, server.confinement.network) if server.confinement is not None else ()
        undo = partial(self.hub.approvals.set_access, self._name, None, list(server.auto_approve), *limits)
        self.context.offer_undo(tr("{server}: {words}", server=self._name, words=choice_title(choice)), undo)

    async def _is_confirmed(self, choice: AccessChoice, server: ServerSnapshot) -> bool:
        """Asks before a choice that never asks or that takes the sandbox away; any other needs no confirmation."""
        limits, reach = server.confinement, tr("Can read and change all your files, including keys and passwords.")
        if choice == "free":
            text = tr("No call asks first, not even one that deletes something.")
            text += f" {reach}" if limits is not None else ""
            title, yes = tr("Let {name} do everything without asking?", name=self._name), tr("Never ask")
        elif choice == "trusted" and limits is not None and not is_open(limits) and not limits.is_in_vain:
            title, text, yes = tr("Run {name} without its sandbox?", name=self._name), reach, tr("Run without sandbox")
        else:
            return True
        return await confirm(self.context, title, text, yes=yes, no=tr("Cancel"), variant="danger")


class ChoiceLine(QWidget):
    """A choice with its meaning below it."""

    def __init__(self, theme: Theme, title: str, *, has_edge: bool) -> None:
        super().__init__()
        self._edge, words = divider(), column(margins=(0, 6, 0, 8))
        self.option = Option(theme, title, is_round=True)
        words.addWidget(self.option, 0, Qt.AlignmentFlag.AlignLeft)  # the empty width beside the words is no target
        self._text = Label(theme, "", "caption", "muted", wrap=True)
        self._text.setContentsMargins(px(TEXT_INSET), 0, 0, 0)
        fill(column(self), self._edge, fill(words, self._text))
        self.set_edge(has_edge)

    def set_text(self, text: str) -> None:
        self._text.setText(text)
        self.option.setAccessibleDescription(text)

    def set_edge(self, has_edge: bool) -> None:
        """Sets whether a line separates it from the one above."""
        self._edge.setVisible(has_edge)


FEW = 8  # tools in sight; all are shown by a press
ROOM_FOR_REASONS = 640  # px; below that reasons are in tooltips only
CHOICE_WIDTH = 184
WHY = 1  # column


class ApprovalSection(AccessSection):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__(context, name)
        theme = self._theme
        self._permissions: ServerPermissions | None = None  # not known yet, or the server is gone
        self._grants: Sequence[GrantSnapshot] = ()
        self._shows_all = False
        self._tools = ToolApproval(context, self.show_problem, self._read)
        self._about = Label(theme, tr("Reading what runs without asking…"), "caption", "muted", wrap=True)
        self._allow = Button(theme, tr("Allow tools…"), small=True, on_click=lambda: self.run(self._open_allow()))
        self._mode_line = QWidget()
        self._mode = Choice(theme, [], name=tr("What runs without asking"))
        self._mode.setFixedWidth(px(CHOICE_WIDTH))
        self._mode.chosen_changed.connect(self._on_mode_chosen)
        fill(row(self._mode_line, spacing=10), Label(theme, tr("Runs without asking:"), "body"), self._mode, 1)
        self._call_rules = Label(theme, "", "caption", "secondary", wrap=True)
        fill(self.body, heading(theme, tr("Approval"), self._about, self._allow), self.notes, self._mode_line, self._call_rules)
        self._box = Surface(theme)
        self._table = Table(theme, self._columns(), tr("Tools"), lambda each: each.key, in_card=True, row_height=px(CHIP_LINES_HEIGHT))
        self._table.row_chosen.connect(self._tools.open_row)
        self._table.pressed.connect(self._tools.open_row)
        column(self._box, margins=(16, 1, 16, 1)).addWidget(self._table)
        self._all = Button(theme, "", "link", small=True, on_click=self._on_all)
        fill(self.body, self._box, self._all)
        self.refresh = self.reading(self._read)
        self._draw()

    async def _read(self) -> None:
        found = await self.hub.approvals.get_permissions(self._name)
        self._permissions, self._grants = found[0] if found else None, await self.hub.approvals.get_grants()
        self._draw()
        sheet = self.context.sheets.panel
        if isinstance(sheet, ToolSheet):
            for each in self._rows():
                if each.key == sheet.of.key:
                    sheet.show_tool(each)

    def _columns(self) -> list[Column]:
        return [
            Column(tr("Tool"), lambda of: (of.tool.tool, *applies_now(of)), Kind.TWO_LINES, 0, lambda of: f"{of.tool.tool}: {why(of)}"),
            Column(tr("Why"), why, Kind.QUIET, 240, why),
            Column("", lambda each: tr("Change…") if each.is_changeable else "", Kind.BUTTON, 72),
        ]

    def _rows(self) -> list[ToolRow]:
        known = {each.id: each for each in self._grants}
        return tool_rows([self._permissions], known) if self._permissions is not None else []

    def _draw(self) -> None:
        server, rows = self._permissions, self._rows()
        is_changeable = server is not None and server.is_changeable
        self._allow.setEnabled(is_changeable)
        self._mode_line.setVisible(is_changeable)
        rules: list[str] = []
        if server is not None:
            self._about.setText(_about(server))
            self._mode.set_options(modes_for(server))
            self._mode.choose(mode_of(server))
            rules = [covered(each) for each in server.call_rules]
        self._call_rules.setText("\n".join([tr("Rules on arguments in its settings:"), *rules]))
        self._call_rules.setVisible(bool(rules))
        self._table.set_rows(rows if self._shows_all else rows[:FEW])
        self._table.fit_height()
        self._box.setVisible(bool(rows))
        self._all.setVisible(len(rows) > FEW)
        self._all.setText(tr("Show fewer tools") if self._shows_all else tr("Show all {count} tools", count=len(rows)))

    # what a person wants

    def _on_all(self) -> None:
        self._shows_all = not self._shows_all
        self._draw()

    def _on_mode_chosen(self, mode: str) -> None:
        if (server := self._permissions) is not None and mode != OWN:
            change = partial(self.hub.approvals.set_server_auto_approve, self._name)
            toast = tr("What runs without asking of {server} is changed", server=self._name)
            self.run(change(rules_for(server, mode)), then=self._read, toast=toast, undo=partial(change, list(server.rules)))
            self._mode.choose(mode_of(server))  # until it is so

    async def _open_allow(self) -> None:
        modes = await self.hub.views.get_client_modes()
        clients = [(mode.client, mode.title or mode.client) for mode in modes if mode.is_seen and mode.client not in ("", "*")]
        self.context.sheets.show(AllowToolsSheet(self.context, self._name, clients, self._read))

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._table.setColumnHidden(WHY, self.width() < px(ROOM_FOR_REASONS))


def _about(server: ServerPermissions) -> str:
    if not server.is_listed:
        return tr("Its tools are not known yet. They are listed when it has run once.")
    if not server.tools:
        return tr("It has no tools.")
    free = sum(tool.is_free for tool in server.tools)
    return tr("{free} of {count} tools run without asking.", free=free, count=len(server.tools))


class SecretsSection(AccessSection):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__(context, name)
        text = ElidedLabel(self._theme, tr("It gets them when it starts. Their values are never shown."), "caption", "muted")
        fill(self.body, heading(self._theme, tr("Secrets"), text), self.notes)
        self._box = Surface(self._theme)
        columns = [
            Column(tr("Name"), lambda each: (each.name.removeprefix(f"{name}/"), *_state(each)), Kind.TWO_LINES, 0, lambda each: each.name),
            Column("", lambda each: tr("Enter…") if is_missing(each) else tr("Change…"), Kind.BUTTON, 72),
        ]
        of = tr("Secrets of {name}", name=name)
        self._table = Table(self._theme, columns, of, lambda each: each.name, in_card=True, row_height=px(CHIP_LINES_HEIGHT))
        self._table.row_chosen.connect(self._on_chosen)
        self._table.pressed.connect(self._on_chosen)
        column(self._box, margins=(16, 1, 16, 1)).addWidget(self._table)
        self.body.addWidget(self._box)
        self.refresh = self.reading(self._read)
        self.hide()

    def show_problem(self, problem: Problem | None) -> None:
        super().show_problem(problem)
        self.setVisible(problem is not None or bool(self._table.rows))

    async def _read(self) -> None:
        stored = await self.hub.secrets.get_secrets()
        self._table.set_rows([each for each in stored.secrets if self._name in each.used_by])
        self._table.fit_height()
        self._box.setVisible(bool(self._table.rows))
        self.setVisible(bool(self._table.rows))

    def _on_chosen(self, secret: SecretSnapshot) -> None:
        if is_missing(secret):
            self.context.wishes.secret_requested.emit(self._name, secret.name)
        else:
            self.context.go(OpenSecret(secret.name))


def _state(secret: SecretSnapshot) -> tuple[str, str]:
    if is_missing(secret):
        return tr("Missing"), "error"
    if secret.kind == "provided":
        return tr("Kept elsewhere"), ""
    word, tone = state(secret)
    return (word, tone) if word else (tr("Stored"), "")
