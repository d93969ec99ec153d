"""Carries out what a person asks for on the pages of AI clients and profiles, and asks what they show.

Above it: the window, whose pages and sheets it serves. Below it: the Qt presenter layer. Knows no widget.
"""

from collections.abc import Callable, Coroutine, Mapping, Sequence
from functools import partial
from typing import Any

from PySide6.QtCore import QObject, Signal

from tooltray.errors import TooltrayError
from tooltray.snapshots.clients import ProfileSnapshot
from tooltray.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.presenter.qt_mcp_presenter import QtMcpPresenter

Verb = Callable[..., Coroutine[Any, Any, Any]]


class ViewCommands(QObject):
    sessions_changed = Signal(object)  # list[SessionSnapshot]
    clients_changed = Signal(object)  # list[ClientModeSnapshot]
    profiles_changed = Signal(object)  # list[ProfileSnapshot]
    costs_changed = Signal(object)  # ToolCosts for a client that nothing is known of
    costs_failed = Signal(object)  # Problem
    client_costs_changed = Signal(str, object)  # a client, and ToolCosts for it
    tools_listed = Signal(object)  # list[ToolSnapshot] of all servers
    failed = Signal(str, object)  # "clients" or "profiles"; Problem, or None once it is over
    profile_saved = Signal()
    profile_refused = Signal(object)  # Problem
    profile_removed = Signal(object)  # ProfileSnapshot with which it can be brought back
    done = Signal(str)  # what was done, to be said in passing

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper) -> None:
        super().__init__()
        self._hub, self._tasks = hub, tasks
        self._asking: dict[str, bool] = {}  # what is being asked; whether it has to be asked again, since it may have changed meanwhile
        self._unread: set[str] = set()  # pages whose content could not be had the last time

    # what pages show

    def look_clients(self) -> None:
        """Asks for sessions, kinds of clients, and the profiles that they can have."""
        self._ask("clients", partial(self._read, "clients", self._look_clients))

    def look_profiles(self) -> None:
        self._ask("profiles", partial(self._read, "profiles", self._look_profiles))

    def look_costs(self) -> None:
        """Asks what the definitions of all tools cost."""
        self._ask("costs", self._look_costs)

    def look_client_costs(self, client: str) -> None:
        """Asks what the definitions of all tools cost in the context of one kind of client."""
        self._do("clients", self._look_client_costs, client, clears=False)

    def list_tools(self) -> None:
        """Asks for the tools of all servers."""
        self._do("profiles", self._list_tools, clears=False)

    async def _look_clients(self) -> None:
        self.profiles_changed.emit(await self._hub.views.get_profiles())
        self.clients_changed.emit(await self._hub.views.get_client_modes())
        self.sessions_changed.emit(await self._hub.views.get_sessions())

    async def _look_profiles(self) -> None:
        self.profiles_changed.emit(await self._hub.views.get_profiles())

    async def _look_costs(self) -> None:
        try:
            self.costs_changed.emit(await self._hub.views.get_tool_costs())
        except TooltrayError as error:
            self.costs_failed.emit(error.problem)

    async def _look_client_costs(self, client: str) -> None:
        self.client_costs_changed.emit(client, await self._hub.views.get_tool_costs(client or None))

    async def _list_tools(self) -> None:
        self.tools_listed.emit(await self._hub.tools.get_tools())

    # AI clients

    def set_mode(self, client: str, mode: str) -> None:
        """Chooses how tools are shown to one kind of client; "" for the servers' settings."""
        self._do("clients", self._set_mode, client, mode)

    def set_client_profile(self, client: str, profile: str) -> None:
        """Chooses the profile of one kind of client; "" for none."""
        self._do("clients", self._set_client_profile, client, profile)

    def set_auto_approve(self, client: str, rules: Sequence[str] | None) -> None:
        """Chooses which calls of one kind of client go through unasked; None for the servers' own rules."""
        self._do("clients", self._set_auto_approve, client, rules)

    def set_project(self, session: str, folder: str) -> None:
        """Chooses on which folder a session works."""
        self._do("clients", self._set_project, session, folder)

    async def _set_mode(self, client: str, mode: str) -> None:
        try:
            await self._hub.views.set_client_mode(client, mode)
        finally:
            self.look_clients()  # the choice then stands where it truly is

    async def _set_client_profile(self, client: str, profile: str) -> None:
        try:
            await self._hub.views.set_client_profile(client, profile)
        finally:
            self.look_clients()

    async def _set_auto_approve(self, client: str, rules: Sequence[str] | None) -> None:
        try:
            await self._hub.views.set_client_auto_approve(client, None if rules is None else list(rules))
        finally:
            self.look_clients()

    async def _set_project(self, session: str, folder: str) -> None:
        await self._hub.projects.set_session_project(session, folder)
        self.look_clients()

    # profiles

    def save_profile(self, name: str, profile: Mapping[str, Any]) -> None:
        """Adds a profile or replaces it: `profile_saved`, or `profile_refused` and all is as before."""
        self._do("profiles", self._save_profile, name, dict(profile))

    def remove_profile(self, profile: ProfileSnapshot) -> None:
        """Removes a profile: `profile_removed`, or `profile_refused`."""
        self._do("profiles", self._remove_profile, profile)

    def bring_back(self, profile: ProfileSnapshot) -> None:
        """Undoes a removal."""
        self._do("profiles", self._bring_back, profile)

    async def _save_profile(self, name: str, profile: Mapping[str, Any]) -> None:
        try:
            await self._hub.views.set_profile(name, profile)
        except TooltrayError as error:
            self.profile_refused.emit(error.problem)
            return
        self.profile_saved.emit()
        self.done.emit(tr("The profile {name} is saved", name=name))
        self.look_profiles()

    async def _remove_profile(self, profile: ProfileSnapshot) -> None:
        try:
            await self._hub.views.remove_profile(profile.name)
        except TooltrayError as error:
            self.profile_refused.emit(error.problem)
            return
        self.profile_removed.emit(profile)
        self.look_profiles()

    async def _bring_back(self, profile: ProfileSnapshot) -> None:
        await self._hub.views.set_profile(profile.name, profile_settings(profile))
        self.look_profiles()

    # how it is done

    def _ask(self, what: str, verb: Verb) -> None:
        """Asks for something once at a time: a hundred changes in a row are two questions, not a hundred."""
        if what in self._asking:
            self._asking[what] = True
            return
        self._asking[what] = False
        self._tasks.spawn(self._asked(what, verb), name=f"view: {what}")

    async def _read(self, where: str, verb: Verb) -> None:
        """Reads what a page shows; success takes away that it could not be read, but not what else is said there."""
        try:
            await verb()
        except TooltrayError as error:
            self._unread.add(where)
            self.failed.emit(where, error.problem)
        else:
            if where in self._unread:
                self._unread.discard(where)
                self.failed.emit(where, None)

    async def _asked(self, what: str, verb: Verb) -> None:
        try:
            await verb()
        finally:
            is_old = self._asking.pop(what)
        if is_old:
            self._ask(what, verb)

    def _do(self, where: str, verb: Verb, *arguments: object, clears: bool = True) -> None:
        """Does something in the background; a failure is told at `where`.

        Args:
            clears: success takes away what an earlier wish there has failed of.
        """
        self._tasks.spawn(self._reported(where, verb, arguments, clears), name=f"view: {verb.__name__}")

    async def _reported(self, where: str, verb: Verb, arguments: tuple[object, ...], clears: bool) -> None:
        try:
            await verb(*arguments)
        except TooltrayError as error:
            self.failed.emit(where, error.problem)
        else:
            if clears:
                self.failed.emit(where, None)


def profile_settings(profile: ProfileSnapshot) -> dict[str, Any]:
    """Returns a profile as it stands in the settings."""
    settings: dict[str, Any] = {"tools": {server: list(tools) for server, tools in profile.tools.items()}}
    if profile.servers is not None:
        settings["servers"] = list(profile.servers)
    if profile.description:
        settings["description"] = profile.description
    return settings
