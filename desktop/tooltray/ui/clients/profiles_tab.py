"""The tab Profiles of AI clients: named sets of servers and tools, one line each. Draws frozen snapshots."""

from collections.abc import Sequence

from PySide6.QtWidgets import QStackedWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.clients import ProfileSnapshot
from tooltray.ui.clients.client_words import profile_servers
from tooltray.ui.clients.profile_sheet import ProfileSheet, profile_settings
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page import Page
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.widgets.banner import FaultArea, NoticesAbove
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.empty_state import EmptyState
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.surface import column
from tooltray.ui.widgets.table import Table


class ProfilesTab(Page):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context)
        theme = context.theme
        self._theme = theme
        self._add = Button(theme, tr("New profile"), "primary", "plus")
        self._add.clicked.connect(lambda: self._open_profile(None))
        self.header_actions = (self._add,)
        layout = column(self)
        self._fault = FaultArea(theme)
        self._stack = QStackedWidget()
        layout.addWidget(NoticesAbove(self._fault, self._stack), 1)
        self._nothing = self._build_nothing()
        self._table = Table(theme, _columns(), tr("Profiles"), lambda profile: profile.name)
        self._table.row_chosen.connect(self._open_profile)
        self._stack.addWidget(self._nothing)
        self._stack.addWidget(self._table)
        self.enable(False)
        self._look = self.reading(self._read)
        self.look_requested.connect(self._look)
        for news in (context.hub.client_list_updated, context.hub.config_changed):
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

    async def _read(self) -> None:
        self.show_profiles(await self.hub.views.get_profiles())

    def _open_profile(self, profile: ProfileSnapshot | None) -> None:
        """Opens the sheet of a profile, or of a new one."""
        sheet = ProfileSheet(self.context, profile, self._read, self._offer_undo)
        if self.context.sheets.show(sheet) is not None:
            sheet.run(sheet.read_tools())

    def _offer_undo(self, profile: ProfileSnapshot) -> None:
        bring_back = self.hub.views.set_profile
        toast = self.context.offer_undo(tr("The profile {name} is removed", name=profile.name))
        toast.action_requested.connect(lambda: self.run(bring_back(profile.name, profile_settings(profile)), then=self._read))

    def _build_nothing(self) -> EmptyState:
        nothing = EmptyState(
            self._theme,
            tr("Every client gets everything"),
            tr("A profile is a named set of servers and tools for the clients that you give it to."),
            [("layers", tr("Make a profile"), tr("For example: coding, with files and git only"))],
        )
        nothing.way_chosen.connect(lambda _way: self._open_profile(None))
        return nothing


def _columns() -> list[Column]:
    def tip(profile: ProfileSnapshot) -> str:
        return ", ".join(profile.servers or ())

    return [
        Column(tr("Name"), lambda profile: profile.name, Kind.TEXT, 190),
        Column(tr("What it is for"), lambda profile: profile.description, Kind.QUIET),
        Column(tr("Servers"), profile_servers, Kind.QUIET, 130, tip),
        Column(tr("Tools"), lambda profile: f"{profile.tool_count:,}", Kind.NUMBER, 84),
    ]
