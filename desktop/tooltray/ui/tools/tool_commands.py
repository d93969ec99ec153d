"""Carries out the requests of the tab Tools: reads the tools, what they cost and how they were used; changes switches, words and profiles.
Each of the three reads can fail separately; the page then shows that its values are unknown."""

import time
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QObject, QTimer, Signal

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import CoalescedRead, Commands, action, at_sheet
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.tools.tool_rows import USED_DAYS

USE_AFTER_MS = 2_000  # after a call; a busy hub has hundreds in that time, and the page shows when a tool was used last


class ToolCommands(Commands):
    tools_changed = Signal(object)  # list[ToolSnapshot]
    costs_changed = Signal(object)  # ToolCosts, or None: not known
    use_changed = Signal(object)  # list[ToolUse], or None: not known
    definitions_read = Signal(str, object)  # a server, and its definitions by published name
    median_read = Signal(str, str, object)  # a server, its tool, and the milliseconds that half of its calls took at most; None: not known
    switched = Signal(object, bool)  # the ToolSnapshots that were switched, on or off
    profile_made = Signal(str)  # its name

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper, parent: QObject | None) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._tools = CoalescedRead(self._look, tasks=tasks, name="tools", show=self.failed.emit)
        self._costs = CoalescedRead(self._look_costs, tasks=tasks, name="costs of tools")
        self._use = CoalescedRead(self._look_use, tasks=tasks, name="use of tools")
        self._use_later = QTimer(self, singleShot=True, interval=USE_AFTER_MS)
        self._use_later.timeout.connect(self._use.ask)

    def look(self) -> None:
        """Reads everything."""
        for read in (self._tools, self._costs, self._use):
            read.ask()

    def look_at_use_soon(self) -> None:
        """Reads how tools were used a little later, since a tool was called."""
        if not self._use_later.isActive():
            self._use_later.start()

    async def _look(self) -> None:
        self.tools_changed.emit(await self._hub.tools.get_tools())

    async def _look_costs(self) -> None:
        try:
            self.costs_changed.emit(await self._hub.views.get_tool_costs())
        except TooltrayError:
            self.costs_changed.emit(None)

    async def _look_use(self) -> None:
        try:
            self.use_changed.emit(await self._hub.activity.get_tool_use(USED_DAYS))
        except TooltrayError:
            self.use_changed.emit(None)

    @action(clears=False)
    async def read_definitions(self, server: str) -> None:
        """Reads how AI clients see the tools of a server; emits `definitions_read`."""
        definitions = await self._hub.tools.get_all_tool_definitions(server)
        self.definitions_read.emit(server, {each.get("name"): each for each in definitions})

    @action(clears=False)
    async def read_median(self, server: str, tool: str) -> None:
        """Reads how long the calls of a tool took; emits `median_read`."""
        since = time.time() - USED_DAYS * 86_400
        filter = ActivityFilter(kinds=("call",), servers=(server,), tools=(tool,), since=since)
        try:
            figures = await self._hub.activity.get_activity_figures("tool", filter)
        except TooltrayError:
            figures = []
        self.median_read.emit(server, tool, figures[0].p50_ms if figures else None)

    @action()
    async def switch(self, tools: Sequence[ToolSnapshot], on: bool) -> None:
        """Enables or disables tools for AI clients; emits `switched` with the successes, and reports why others failed."""
        done: list[ToolSnapshot] = []
        problem: Problem | None = None
        for tool in tools:
            try:
                await self._hub.tools.set_tool_enabled(tool.server, tool.original_name, on)
                done.append(tool)
            except TooltrayError as error:
                problem = problem or error.problem
        self._tools.ask()  # the switches then stand where they truly are
        if done:
            self.switched.emit(done, on)
        if problem is not None:
            failed = len(tools) - len(done)
            if len(tools) == 1:
                raise TooltrayError(problem.title, problem.message, problem.hint)
            title = tr("{count} of {total} tools could not be switched", count=failed, total=len(tools))
            raise TooltrayError(title, f"{problem.title}. {problem.message}".rstrip(". "), problem.hint)

    @action(at_sheet)
    async def make_profile(self, name: str, profile: Mapping[str, object]) -> None:
        """Makes a new profile; emits `profile_made`."""
        if any(each.name == name for each in await self._hub.views.get_profiles()):
            raise TooltrayError(tr("There is a profile {name} already", name=name), "", tr("Choose another name."))
        await self._hub.views.set_profile(name, dict(profile))
        self.profile_made.emit(name)

    @action()
    async def remove_profile(self, name: str) -> None:
        """Undoes making a profile."""
        await self._hub.views.remove_profile(name)
