"""Carries out the user's actions on servers, and reports the outcome. Knows no widget. Nothing here decides: each action calls a verb or
two of the engine; a failure is a Problem, to be shown where the action was started."""

import json
from collections.abc import Sequence

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.snapshots.setup import ServerRemoval
from tooltray.foundation.tasks import TaskKeeper
from tooltray.foundation.verbs import JsonMapping
from tooltray.ui.add.pasted_preview import NewServer
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import CoalescedRead, Commands, action, as_notice, at_sheet
from tooltray.ui.kit.secrets_help import open_secrets
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.link.qt_server_manager import QtServerManager
from tooltray.ui.origins import change_there, is_of_file, project_of


def at_server(commands: "ServerCommands", problem: Problem | None, server: str, *_arguments: object) -> None:
    """Shows an error at its server; with "" it is about all servers and is shown above the pages."""
    if server:
        commands.server_failed.emit(server, problem)
    else:
        as_notice(commands, problem)


class ServerCommands(Commands):
    """The commands about servers. `failed` of its base carries a Problem that belongs to no server."""

    server_failed = Signal(str, object)  # a server's name; Problem, or None once another wish for it has worked
    server_stopped = Signal(str)  # by the person, who can start it again
    server_removed = Signal(object)  # NewServer with which it can be brought back
    tools_listed = Signal(str, object)  # a server's name, "" for all; list[ToolSnapshot]
    copied = Signal(str, str)  # text for the clipboard; what it is
    page_wanted = Signal(str, str)  # a server's name and the page at which a person signs in to it
    sign_in_over = Signal(str)  # a server's name; however it went
    tool_worded = Signal(str)  # its server
    costs_changed = Signal(object)  # ToolCosts for a client that nothing is known of
    costs_failed = Signal(object)  # Problem
    listing_changed = Signal(object)  # ClientModeSnapshot of the clients that nothing else is chosen for
    duplicated = Signal(str)  # the copy's name
    entry_read = Signal(str, object)  # a server's name, and its entry with what was chosen here
    secrets_closed = Signal(object)  # Problem: servers do not start because of it; None once that is over

    def __init__(
        self, *, hub: QtMcpPresenter, servers: QtServerManager, wishes: ServerWishes, tasks: TaskKeeper, parent: QObject | None
    ) -> None:
        super().__init__(hub=hub, tasks=tasks, parent=parent)
        self._servers = servers
        self._costs = CoalescedRead(self._look_costs, tasks=tasks, name="costs of tools")
        self._is_checking_secrets = self._are_secrets_closed = False
        self._signing_in: set[str] = set()  # whose outcome is waited for
        self._cancelled: set[str] = set()
        wishes.start_requested.connect(self.start)
        wishes.stop_requested.connect(self.stop)
        wishes.restart_requested.connect(self.restart)
        wishes.copy_requested.connect(self.copy_entry)
        wishes.default_requested.connect(self.set_default)
        wishes.removal_requested.connect(self.remove)
        wishes.sign_in_requested.connect(self.sign_in)
        wishes.sign_in_address_requested.connect(self.copy_sign_in_address)
        wishes.sign_in_cancel_requested.connect(self.cancel_sign_in)
        wishes.sign_out_requested.connect(self.sign_out)
        wishes.start_anyway_requested.connect(self.start_anyway)
        wishes.projects_reset_requested.connect(self.reset_projects)
        wishes.lazy_requested.connect(self.set_lazy)
        wishes.deferred_requested.connect(self.set_deferred)
        wishes.tools_requested.connect(self.list_tools)
        wishes.costs_requested.connect(self.look_costs)
        wishes.tool_switch_requested.connect(self.switch_tool)
        servers.server_changed.connect(self._on_server_changed)
        hub.secrets_changed.connect(self._on_secrets_changed)

    # servers

    @action(at_server)
    async def start(self, name: str) -> None:
        """Starts a server; a disabled one is enabled first."""
        await self.started(name)

    async def started(self, name: str) -> None:
        """Starts a server and waits until it runs; a disabled one is enabled first.

        Raises:
            TooltrayError: the server does not run, with the reason.
        """
        server = self._servers.find(name)
        if server is not None and server.is_disabled and is_of_file(server):
            raise TooltrayError(tr("'{name}' is disabled in its file", name=name), server.file, change_there(server))
        if server is not None and server.is_disabled:
            entry = (await self._hub.servers.get_mcp_servers())[name]
            await self._hub.servers.update_mcp_server(name, {**entry, "disable": False})
        await self._hub.servers.start_server(name)

    @action(at_server)
    async def stop(self, name: str) -> None:
        await self._hub.servers.stop_server(name)
        self.server_stopped.emit(name)

    def restart(self, name: str) -> None:
        """Ends a server if it runs, and starts it."""
        server = self._servers.find(name)
        is_stopped = server is not None and server.state in (ServerState.STOPPED, ServerState.ON_DEMAND)
        (self.start if is_stopped else self._restart)(name)

    @action(at_server)
    async def _restart(self, name: str) -> None:
        await self._hub.servers.restart_server(name)

    @action(at_server)
    async def set_default(self, name: str, is_default: bool) -> None:
        """Sets whether a server starts with the hub."""
        if is_default:
            await self._hub.servers.add_mcp_default_server(name)
            self.done.emit(tr("{name} starts with Tooltray from now on", name=name))
        else:
            await self._hub.servers.remove_mcp_default_server(name)
            self.done.emit(tr("{name} starts when a client needs it from now on", name=name))

    @action(at_server)
    async def remove(self, name: str) -> None:
        self.server_removed.emit(await self.taken_out(name))

    async def taken_out(self, name: str) -> NewServer:
        """Removes a server; returns what is needed to restore it.

        Raises:
            TooltrayError: it was not removed, with the reason.
        """
        server = self._servers.find(name)
        if server is not None and is_of_file(server):
            there = await self._hub.servers.get_server_entry(name)
            gone = await self._hub.servers.remove_mcp_server(name, keep_secrets=True)
            return NewServer(there.name, there.entry, server.is_default, project=project_of(server), removal=gone)
        entry = (await self._hub.servers.get_mcp_servers()).get(name, {})
        is_default = name in await self._hub.servers.get_mcp_default_servers()
        gone = await self._hub.servers.remove_mcp_server(name, keep_secrets=True)
        return NewServer(name, entry, is_default, removal=gone)

    @action(at_sheet)
    async def duplicate(self, name: str, new_name: str) -> None:
        """Adds a copy of a server under another name; emits `duplicated`."""
        self.duplicated.emit(await self._hub.servers.duplicate_mcp_server(name, new_name))

    @action(at_server)
    async def copy_entry(self, name: str) -> None:
        """Copies a server's entry to the clipboard, in the form of other programs' settings."""
        entry = (await self._hub.servers.get_mcp_servers())[name]
        text = json.dumps({"mcpServers": {name: entry}}, indent=2, ensure_ascii=False)
        self.copied.emit(text, tr("The entry of {name} is copied", name=name))

    # projects, and when tools are shown

    @action(at_server)
    async def start_for(self, name: str, folder: str) -> None:
        """Starts a server for the project in a folder, which the user has chosen."""
        await self._hub.projects.start_for_project(name, folder)

    @action(at_server)
    async def start_anyway(self, name: str) -> None:
        """Starts a server that waits for a project without one."""
        await self._hub.projects.start_without_project(name)

    @action(as_notice)
    async def reset_projects(self) -> None:
        """Stops the copies of all servers for projects; these servers wait again."""
        await self._hub.projects.reset_deferred_state()
        self.done.emit(tr("Servers that ran for a project wait again"))

    @action(at_server)
    async def set_lazy(self, name: str, is_lazy: bool | None) -> None:
        """Sets whether a server's tools are listed only after activation; None: the default."""
        await self._hub.views.set_lazy_load(is_lazy, name)
        await self._read_entry(name)

    @action(at_server)
    async def set_deferred(self, name: str, is_deferred: bool, template: Sequence[str] | None) -> None:
        """Sets whether a server waits for a project, and with which arguments it starts for one; None: its `args`."""
        await self._hub.projects.set_deferred(name, is_deferred, None if template is None else list(template))
        await self._read_entry(name)

    @action(at_server, clears=False)
    async def read_entry(self, name: str) -> None:
        """Reads a server's effective entry; emits `entry_read`."""
        await self._read_entry(name)

    async def _read_entry(self, name: str) -> None:
        self.entry_read.emit(name, (await self._hub.servers.get_server_entry(name)).counts)

    # signing in

    @action(at_server, clears=False)
    async def sign_in(self, name: str) -> None:
        """Begins to sign in to a server, or continues a sign-in: emits `page_wanted`."""
        url = await self._sign_in_page(name)
        self.server_failed.emit(name, None)  # before the page is shown, which may fail in its turn
        self.page_wanted.emit(name, url)

    @action(at_server)
    async def copy_sign_in_address(self, name: str) -> None:
        self.copied.emit(await self._sign_in_page(name), tr("The address is copied"))

    def cancel_sign_in(self, name: str) -> None:
        if name in self._signing_in:
            self._cancelled.add(name)
        self._cancel_sign_in(name)

    @action(at_server)
    async def _cancel_sign_in(self, name: str) -> None:
        await self._hub.sign_ins.cancel_sign_in(name)

    @action(at_server)
    async def sign_out(self, name: str) -> None:
        await self._hub.sign_ins.sign_out(name)
        self.done.emit(tr("Signed out of {name}", name=name))

    def tell_no_browser(self, name: str) -> None:
        """Shows that the page could not be opened; its address can be copied."""
        self.server_failed.emit(name, Problem(tr("No browser could be opened"), "", tr("Copy the address and open it yourself.")))

    async def _sign_in_page(self, name: str) -> str:
        """Begins or continues a sign-in and returns the page's address; the outcome is shown later."""
        page = await self._hub.sign_ins.begin_sign_in(name)
        if name not in self._signing_in:  # else somebody waits for the outcome already
            self._signing_in.add(name)
            self._wait_for_sign_in(name)
        return page.url

    @action(at_server)
    async def _wait_for_sign_in(self, name: str) -> None:
        try:
            await self._hub.sign_ins.finish_sign_in(name)
        except TooltrayError:
            if name in self._cancelled:
                return  # the person knows
            raise
        finally:
            self._signing_in.discard(name)
            self._cancelled.discard(name)
            self.sign_in_over.emit(name)
        self.done.emit(tr("Signed in to {name}", name=name))

    # back

    @action(as_notice)
    async def bring_back(self, removed: NewServer) -> None:
        """Undoes a removal."""
        await self._hub.servers.add_mcp_server(removed.name, removed.entry, removed.is_default, removed.project)

    def forget_secrets(self, removal: ServerRemoval) -> None:
        """Deletes the secrets that only a removed server used, when its removal can no longer be undone."""
        if names := [*removal.secrets, *filter(None, [removal.sign_in])]:
            self._remove_secrets(names)

    @action(as_notice)
    async def _remove_secrets(self, names: list[str]) -> None:
        await self._hub.secrets.remove_unused_secrets(names)

    async def open_secrets(self, kind: str, passphrase: str) -> None:
        """Carries out what `SecretsHelp` requests, and starts the servers that have failed.

        Args:
            kind: another place: "keyring", "file" or "memory"; empty: the place stays.
            passphrase: opens the file, or becomes its passphrase if the file is new.

        Raises:
            TooltrayError: the secrets cannot be used.
        """
        await open_secrets(self._hub, kind, passphrase)
        self._are_secrets_closed = False
        self.secrets_closed.emit(None)
        for server in self._servers.servers:
            if server.state is ServerState.ERROR:
                self.restart(server.name)

    def _on_server_changed(self, server: ServerSnapshot) -> None:
        if server.state is ServerState.ERROR and server.problem is not None and not self._is_checking_secrets:
            self._is_checking_secrets = True
            self._check_secrets(server.problem)

    @action(as_notice)
    async def _check_secrets(self, problem: Problem) -> None:
        """Emits `secrets_closed` if a server's problem is a problem of the secret store."""
        try:
            await self._hub.secrets.get_secret_names()
        except TooltrayError as error:
            if error.problem.title in problem.title or error.problem.title in problem.message:
                self._are_secrets_closed = True
                self.secrets_closed.emit(error.problem)
        finally:
            self._is_checking_secrets = False

    def _on_secrets_changed(self) -> None:
        if self._are_secrets_closed:
            self._check_unlocked()

    @action(as_notice)
    async def _check_unlocked(self) -> None:
        """Drops the problem of locked secrets that were unlocked elsewhere, such as at a terminal."""
        if (await self._hub.secrets.get_secrets()).problem is None:
            self._are_secrets_closed = False
            self.secrets_closed.emit(None)

    # tools

    def look_costs(self) -> None:
        """Reads what the definitions of all tools cost."""
        self._costs.ask()

    async def _look_costs(self) -> None:
        try:
            for mode in await self._hub.views.get_client_modes():
                if not mode.client:
                    self.listing_changed.emit(mode)
            self.costs_changed.emit(await self._hub.views.get_tool_costs())
        except TooltrayError as error:
            self.costs_failed.emit(error.problem)

    @action(at_server, clears=False)
    async def list_tools(self, server: str) -> None:
        """Reads a server's tools, or with "" all tools."""
        await self._list_tools(server)

    @action(at_server)
    async def switch_tool(self, server: str, tool: str, on: bool) -> None:
        """Enables or disables a tool for AI clients; `tool` is the server's own name for it."""
        try:
            await self._hub.tools.set_tool_enabled(server, tool, on)
        finally:
            await self._list_tools(server)  # the switch then stands where it truly is

    @action(at_server)
    async def word_tool(self, server: str, tool: str, override: JsonMapping, limit: tuple[int | None] | None = None) -> None:
        """Renames a tool for AI clients; emits `tool_worded`.

        Args:
            tool: the server's own name for it.
            limit: the largest result in tokens, in a tuple; None: unchanged.
        """
        given = [override.get(word) for word in ("name", "description", "title", "annotations", "icons")]
        await self._hub.views.set_tool_override(server, tool, *given)
        if limit is not None:
            await self._hub.views.set_result_limit(tokens=limit[0], server=server, tool=tool)
        self.tool_worded.emit(server)
        await self._list_tools(server)

    async def _list_tools(self, server: str) -> None:
        self.tools_listed.emit(server, await self._hub.tools.get_tools(server or None))
