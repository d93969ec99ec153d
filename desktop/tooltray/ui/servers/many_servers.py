"""The user's actions on several servers at once, and the bar that offers them: each server separately, so that a failure stops no other;
one Undo reverts all."""

import asyncio
from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject
from PySide6.QtGui import QResizeEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.ui.figures import first_names
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.kit.server_actions import BY_NAME, can
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.kit.view import View
from tooltray.ui.origins import is_of_file
from tooltray.ui.server_words import OPEN, runs_everything
from tooltray.ui.servers.server_sheets import own_lazy_load
from tooltray.ui.servers.server_table import ServerTable
from tooltray.ui.servers.server_verbs import RemovedServer, ServerVerbs, bring_back, forget_secrets, take_out
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.surface import add_gap, fill, row
from tooltray.ui.zoom import px

if TYPE_CHECKING:  # it imports this
    from tooltray.ui.servers.servers_page import InstalledTab

START, STOP, RESTART, ON_DEMAND, REMOVE = "start", "stop", "restart", "on_demand", "remove"
AT_ONCE = 8  # starts of programs beside each other; more would slow each other down
MOST_NAMES = 6  # of those that failed, in one notice

OFFERED = "asking_first_offered"  # in the window's memory: it was offered once, or there was nothing to offer

NOT_STARTED = Phrase("{count} servers did not start", count=0)
NOT_STOPPED = Phrase("{count} servers could not be stopped", count=0)
NOT_REMOVED = Phrase("{count} servers could not be removed", count=0)
NOT_CHANGED = Phrase("{count} servers could not be changed", count=0)

Work = Callable[[str], Coroutine[object, object, object]]


class ManyServers(QObject, View):
    """The actions on several servers. Which servers an action failed for is shown above the pages, and the reason at each."""

    def __init__(self, page: "InstalledTab", verbs: ServerVerbs) -> None:
        super().__init__(page)
        context = self.context = page.context
        self._page, self._verbs = page, verbs
        context.wishes.many_requested.connect(self.do)
        context.wishes.lazy_many_requested.connect(self.make_compact)
        context.hub.snapshot_changed.connect(self.look_at_rules)
        context.notices.ask_first_requested.connect(self._on_ask_first)
        context.notices.keep_open_requested.connect(self._on_keep_open)

    def do(self, what: str, names: Sequence[str]) -> None:
        """Does one of START, STOP, RESTART, ON_DEMAND, REMOVE with the servers for which it makes sense."""
        found = [server for name in names if (server := self.context.servers.find(name)) is not None and can(what, server)]
        slots = {START: self._start, STOP: self._stop, RESTART: self._restart, ON_DEMAND: self._on_demand, REMOVE: self._remove}
        if found:
            self.run(slots[what](found))

    async def _start(self, servers: Sequence[ServerSnapshot]) -> None:
        stopped = [server.name for server in servers if server.state is ServerState.STOPPED]
        said = tr("{count} servers are starting", count=len(servers))
        if stopped:
            self.context.offer_undo(said, partial(self._each, stopped, self.hub.servers.stop_server, NOT_STOPPED))
        else:
            self.context.say(said)
        await self._each([server.name for server in servers], self._verbs.started, NOT_STARTED)

    async def _stop(self, servers: Sequence[ServerSnapshot]) -> None:
        names = [server.name for server in servers]
        done = await self._each(names, self.hub.servers.stop_server, NOT_STOPPED)
        if done:
            back = partial(self._each, done, self._verbs.started, NOT_STARTED)
            self.context.offer_undo(tr("{count} servers are stopped", count=len(done)), back)

    async def _restart(self, servers: Sequence[ServerSnapshot]) -> None:
        self.context.say(tr("{count} servers are being restarted", count=len(servers)))
        await self._each([server.name for server in servers], self.hub.servers.restart_server, NOT_STARTED)

    async def _on_demand(self, servers: Sequence[ServerSnapshot]) -> None:
        names = [server.name for server in servers]
        done = await self._each(names, self.hub.servers.remove_mcp_default_server, NOT_CHANGED)
        if done:
            words = tr("{count} servers start when a client needs them", count=len(done))
            self.context.offer_undo(words, partial(self._each, done, self.hub.servers.add_mcp_default_server, NOT_CHANGED))

    async def _remove(self, servers: Sequence[ServerSnapshot]) -> None:
        gone: list[RemovedServer] = []

        async def remove(name: str) -> None:
            gone.append(await take_out(self.context, name))

        await self._each([server.name for server in servers], remove, NOT_REMOVED, at_once=1)
        if gone:
            words = tr("{count} servers are removed", count=len(gone))
            if any(is_of_file(server) for server in servers):
                words = tr("{count} servers are removed, also from files", count=len(gone))
            toast = self.context.offer_undo(words, partial(self._bring_back, gone))
            toast.passed.connect(partial(self._forget, gone))

    def make_compact(self, names: Sequence[str]) -> None:
        """Makes the tool listing of servers compact."""
        self.run(self._make_compact(names))

    async def _make_compact(self, names: Sequence[str]) -> None:
        before: dict[str, bool | None] = {}

        async def show(name: str) -> None:
            own = own_lazy_load((await self.hub.servers.get_server_entry(name)).counts)
            await self.hub.views.set_lazy_load(True, name)
            before[name] = own

        await self._each(names, show, NOT_CHANGED, at_once=1)
        self.context.wishes.costs_requested.emit()
        if before:
            words = tr("The tool listing of {name} is compact", name=next(iter(before)))
            many = tr("The tool listing of {count} servers is compact", count=len(before))
            self.context.offer_undo(words if len(before) == 1 else many, partial(self._list_as_before, before))

    # servers that run everything without asking: offered once, since new ones ask

    def _open_servers(self) -> list[ServerSnapshot]:
        return [server for server in self.context.servers.servers if runs_everything(server)]

    def look_at_rules(self) -> None:
        """Offers once to make servers ask first that run everything without asking."""
        if self.context.hub.snapshot is None or self.context.local.memory.text(OFFERED):
            return
        names = [server.name for server in self._open_servers()]
        self.context.notices.set_open_servers(names)
        if not names:
            self.context.local.memory.remember(OFFERED, "nothing")

    def _on_keep_open(self) -> None:
        self.context.local.memory.remember(OFFERED, "answered")
        self.context.notices.set_open_servers(())

    def _on_ask_first(self) -> None:
        found = {server.name: server.auto_approve for server in self._open_servers()}
        self._on_keep_open()
        self.run(self._ask_first(found))

    async def _ask_first(self, before: Mapping[str, Sequence[str]]) -> None:
        rules = {name: ["read", *(rule for rule in rules if rule not in OPEN and rule != "read")] for name, rules in before.items()}
        done = await self._set_rules(rules)
        if done:
            words = many(len(done), "1 server asks first now", "{count} servers ask first now")
            self.context.offer_undo(words, partial(self._set_rules, {name: before[name] for name in done}))

    async def _set_rules(self, rules: Mapping[str, Sequence[str]]) -> list[str]:
        work = self.hub.approvals.set_server_auto_approve
        return await self._each(list(rules), lambda name: work(name, list(rules[name])), NOT_CHANGED, at_once=1)

    # back

    async def _list_as_before(self, before: dict[str, bool | None]) -> None:
        await self._each(list(before), lambda name: self.hub.views.set_lazy_load(before[name], name), NOT_CHANGED, at_once=1)
        self.context.wishes.costs_requested.emit()

    async def _bring_back(self, removed: Sequence[RemovedServer]) -> None:
        for each in removed:
            self.run(bring_back(self.context, each))

    def _forget(self, removed: Sequence[RemovedServer]) -> None:
        for each in removed:
            self.run(forget_secrets(self.context, each.removal))

    async def _each(self, names: Sequence[str], work: Work, failure: Phrase, *, at_once: int = AT_ONCE) -> list[str]:
        """Does the work with each server; returns the successes, and shows the failures.

        Args:
            failure: the title of a notice, for `count` failures.
        """
        free = asyncio.Semaphore(at_once)
        problems: dict[str, Problem] = {}

        async def one(name: str) -> None:
            async with free:
                try:
                    await work(name)
                except TooltrayError as error:
                    problems[name] = error.problem
                    self._page.show_server_problem(name, error.problem)

        await asyncio.gather(*(one(name) for name in names))
        if problems:
            failed, hint = first_names(list(problems), MOST_NAMES), tr("Open each server for the reason.")
            self.context.notices.add_notice(Problem(failure.filled(count=len(problems)), failed, hint))
        return [name for name in names if name not in problems]


ROOM_FOR_ALL = 760  # px; below that Ctrl+A alone selects all


class ManyBar(QWidget):
    """A bar with the actions for the selected servers; hidden while only one is selected.

    Args:
        head: shows the bar in the place of its first widget.
    """

    def __init__(self, theme: Theme, wishes: ServerWishes, table: ServerTable, head: QStackedWidget) -> None:
        super().__init__()
        self._wishes, self._table, self._head = wishes, table, head
        self._words = ElidedLabel(theme, "", "label", hugs=True)
        self._words.setFont(theme.font("label", tabular=True))
        line = fill(row(self, margins=(24, 10, 24, 10), spacing=4), self._words)
        add_gap(line, 6)
        self._buttons: dict[str, Button] = {}
        for what in (START, STOP, RESTART, ON_DEMAND, REMOVE):
            action, variant = BY_NAME[what], "danger" if what == REMOVE else "secondary"
            text = tr("Sleep") if what == ON_DEMAND else say(action.title)
            self._buttons[what] = Button(theme, text, variant, action.icon, small=True, on_click=partial(self._on_pressed, what))
        self._buttons[ON_DEMAND].setToolTip(tr("They start when a client needs them, not with Tooltray."))
        self._all = Button(theme, tr("Select all"), "ghost", small=True, on_click=table.selectAll)
        fill(
            line,
            *self._buttons.values(),
            1,
            self._all,
            IconButton(theme, "x", tr("Select none"), small=True, on_click=table.clearSelection),
        )
        table.picked_changed.connect(self.look)
        head.addWidget(self)

    def resizeEvent(self, event: QResizeEvent) -> None:
        super().resizeEvent(event)
        self._all.setVisible(self.width() >= px(ROOM_FOR_ALL))

    def look(self) -> None:
        """Updates the bar to the selection and the servers' states."""
        picked = self._table.picked_servers
        self._head.setCurrentIndex(self._head.indexOf(self) if len(picked) > 1 else 0)
        self._words.set_text(tr("{count} selected", count=len(picked)))
        for what, button in self._buttons.items():
            count = sum(can(what, server) for server in picked)
            button.setEnabled(count > 0)
            button.setAccessibleName(tr("{action}: {count} servers", action=button.text(), count=count))

    def _on_pressed(self, what: str) -> None:
        self._wishes.many_requested.emit(what, [server.name for server in self._table.picked_servers])
