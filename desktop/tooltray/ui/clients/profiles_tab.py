"""The tab Profiles of AI clients: named sets of servers and tools, one line each. Draws frozen snapshots."""

from collections.abc import Mapping, Sequence
from functools import partial

from PySide6.QtCore import QObject, Signal
from PySide6.QtWidgets import QStackedWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.clients import ProfileSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.clients.client_words import profile_servers
from tooltray.ui.clients.profile_panel import ProfilePanel
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import CoalescedRead, Commands, action
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.empty_state import EmptyState
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.surface import column
from tooltray.ui.widgets.table import Table


class ProfileCommands(Commands):
    profiles_changed = Signal(object)  # list[ProfileSnapshot]
    tools_listed = Signal(object)  # list[ToolSnapshot] of all servers
    saved = Signal()
    removed = Signal(object)  # ProfileSnapshot with which it can be brought back

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._reading = CoalescedRead(self._look, tasks=tasks, name="profiles", show=self.failed.emit)

    def look(self) -> None:
        """Reads the profiles."""
        self._reading.ask()

    async def _look(self) -> None:
        self.profiles_changed.emit(await self._hub.views.get_profiles())

    @action(clears=False)
    async def list_tools(self) -> None:
        """Reads the tools of all servers."""
        self.tools_listed.emit(await self._hub.tools.get_tools())

    @action()
    async def save(self, name: str, profile: Mapping[str, object]) -> None:
        """Adds a profile or replaces it; emits `saved`, or `refused` and changes nothing."""
        try:
            await self._hub.views.set_profile(name, dict(profile))
        except TooltrayError as error:
            self.refused.emit(error.problem)
            return
        self.saved.emit()
        self.done.emit(tr("The profile {name} is saved", name=name))
        self.look()

    @action()
    async def remove(self, profile: ProfileSnapshot) -> None:
        """Removes a profile; emits `removed`, or `refused`."""
        try:
            await self._hub.views.remove_profile(profile.name)
        except TooltrayError as error:
            self.refused.emit(error.problem)
            return
        self.removed.emit(profile)
        self.look()

    @action()
    async def bring_back(self, profile: ProfileSnapshot) -> None:
        """Undoes a removal."""
        await self._hub.views.set_profile(profile.name, profile_settings(profile))
        self.look()


def profile_settings(profile: ProfileSnapshot) -> dict[str, object]:
    """Returns a profile in the form of the settings."""
    settings: dict[str, object] = {"tools": {server: list(tools) for server, tools in profile.tools.items()}}
    if profile.servers is not None:
        settings["servers"] = list(profile.servers)
    if profile.description:
        settings["description"] = profile.description
    if profile.skills:
        settings["skills"] = {server: list(skills) for server, skills in profile.skills.items()}
    return settings


MARGIN = 16  # above the table, or a banner


class ProfilesTab(Page):
    """A tab with the profiles. `edit_requested` carries a profile, None for a new one."""

    edit_requested = Signal(object)

    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        theme = context.theme
        self._theme = theme
        self._add = Button(theme, tr("New profile"), "primary", "plus")
        self._add.clicked.connect(self._on_add)
        self.header_actions = (self._add,)
        layout = column(self)
        self._fault = FaultArea(theme)
        self._stack = QStackedWidget()
        layout.addWidget(NoticesAbove(self._fault, self._stack), 1)
        self._nothing = self._build_nothing()
        self._table = Table(theme, _columns(), tr("Profiles"), lambda profile: profile.name)
        self._table.row_chosen.connect(self.edit_requested)
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(self._table)
        self.enable(False)
        self.commands = ProfileCommands(hub=context.hub, tasks=context.tasks, parent=self)
        self._connect()

    def _connect(self) -> None:
        commands, hub = self.commands, self.context.hub
        self.look_requested.connect(commands.look)
        self.edit_requested.connect(self._open_profile)
        commands.profiles_changed.connect(self.show_profiles)
        commands.removed.connect(self._on_removed)
        commands.failed.connect(self.show_problem)
        commands.done.connect(self.context.say)
        for news in (hub.client_list_updated, hub.config_changed):
            news.connect(self.look_again)

    @property
    def table(self) -> Table:
        return self._table

    def enable(self, is_usable: bool) -> None:
        self._add.setEnabled(is_usable)
        self._stack.setEnabled(is_usable)

    def show_profiles(self, profiles: Sequence[ProfileSnapshot]) -> None:
        by_name = sorted(profiles, key=lambda profile: profile.name.casefold())
        self._table.set_rows(by_name)
        self._stack.setCurrentWidget(self._table if profiles else self._nothing)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure; None removes it."""
        self._fault.show_problem(problem)

    def _open_profile(self, profile: ProfileSnapshot | None) -> None:
        """Opens the sheet of a profile, or of a new one; an open sheet of any kind stays."""
        place, commands = self.context.sheets, self.commands
        if place.sheet is not None:
            return
        panel = ProfilePanel(self._theme, profile, self.context.servers.servers)
        panel.save_requested.connect(commands.save)
        panel.removal_requested.connect(commands.remove)
        commands.tools_listed.connect(panel.show_tools)
        commands.refused.connect(panel.show_refusal)
        sheet = place.open(panel)
        panel.close_requested.connect(sheet.dismiss)
        commands.saved.connect(sheet.dismiss)
        commands.removed.connect(sheet.dismiss)
        commands.list_tools()

    def _on_removed(self, profile: ProfileSnapshot) -> None:
        toast = self.context.offer_undo(tr("The profile {name} is removed", name=profile.name))
        toast.action_requested.connect(partial(self.commands.bring_back, profile))

    def _build_nothing(self) -> EmptyState:
        nothing = EmptyState(
            self._theme,
            tr("Every client gets everything"),
            tr("A profile is a named set of servers and tools for the clients that you give it to."),
            [("layers", tr("Make a profile"), tr("For example: coding, with files and git only"))],
        )
        nothing.way_chosen.connect(self._on_add)
        return nothing

    def _on_add(self) -> None:
        self.edit_requested.emit(None)


def _columns() -> list[Column]:
    def tip(profile: ProfileSnapshot) -> str:
        return ", ".join(profile.servers or ())

    return [
        Column(tr("Name"), lambda profile: profile.name, Kind.TEXT, 190),
        Column(tr("What it is for"), lambda profile: profile.description, Kind.QUIET),
        Column(tr("Servers"), profile_servers, Kind.QUIET, 130, tip),
        Column(tr("Tools"), lambda profile: f"{profile.tool_count:,}", Kind.NUMBER, 84),
    ]
