"""Carries out what a person asks for, and says how it went.

Above it: the window and the tray, whose wishes it hears. Below it: the Qt presenter layer. Knows no widget. Nothing here decides: each wish
is a verb or two of the engine; a failure comes back as a Problem, to be shown where the wish was made.
"""

import json
from collections.abc import Callable, Coroutine, Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from PySide6.QtCore import QObject, Signal

from tooltray.errors import Problem, TooltrayError
from tooltray.snapshots.removals import ServerRemoval
from tooltray.snapshots.servers import ServerSnapshot, ServerState
from tooltray.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.origins import change_there, is_of_file, project_of
from tooltray.ui.pages.page_links import ServerWishes
from tooltray.ui.presenter.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.presenter.qt_server_manager import QtServerManager
from tooltray.ui.presenter.qt_tool_manager import QtToolManager


@dataclass(frozen=True)
class NewServer:
    """A server to be added, as it will stand in the settings; `secrets` are values by the names that the entry refers to."""

    name: str
    entry: Mapping[str, Any]
    is_default: bool
    secrets: Mapping[str, str] = field(default_factory=dict, repr=False)
    project: str = ""  # a folder, into whose own file it goes; empty: into the settings
    removal: ServerRemoval | None = None  # of one that was removed and can be brought back: what is to go with it


class Commands(QObject):
    server_failed = Signal(str, object)  # a server's name; Problem, or None once another wish for it has worked
    failed = Signal(object)  # Problem that belongs to no server
    done = Signal(str)  # what was done, to be said in passing
    server_stopped = Signal(str)  # by the person, who can start it again
    server_removed = Signal(object)  # NewServer with which it can be brought back
    tools_listed = Signal(str, object)  # a server's name, "" for all; list[ToolSnapshot]
    copied = Signal(str, str)  # text for the clipboard; what it is
    servers_added = Signal()
    storing_changed = Signal(bool)  # whether secrets of new servers are being stored, which may wait for a prompt of the keyring
    page_wanted = Signal(str, str)  # a server's name and the page at which a person signs in to it
    sign_in_over = Signal(str)  # a server's name; however it went
    adding_failed = Signal(object, bool)  # Problem; whether it is about keeping secrets
    tool_worded = Signal(str)  # its server
    entry_read = Signal(str, object)  # a server's name, and its entry with what was chosen here
    secrets_closed = Signal(object)  # Problem: servers do not start because of it; None once that is over

    def __init__(
        self, *, hub: QtMcpPresenter, servers: QtServerManager, tools: QtToolManager, wishes: ServerWishes, tasks: TaskKeeper
    ) -> None:
        super().__init__()
        self._hub, self._servers, self._tools, self._tasks = hub, servers, tools, tasks
        self._is_checking_secrets = False
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
        wishes.tool_switch_requested.connect(self.switch_tool)
        servers.server_changed.connect(self._on_server_changed)

    # servers

    def start(self, name: str) -> None:
        """Starts a server; one that is switched off in the settings is switched on first."""
        self._do(self._start, name, server=name)

    def stop(self, name: str) -> None:
        self._do(self._stop, name, server=name)

    def restart(self, name: str) -> None:
        """Ends a server if it runs, and starts it."""
        server = self._servers.find(name)
        is_stopped = server is not None and server.state in (ServerState.STOPPED, ServerState.ON_DEMAND)
        self._do(self._start if is_stopped else self._servers.api.restart_server, name, server=name)

    def set_default(self, name: str, is_default: bool) -> None:
        """Decides whether a server starts with the hub."""
        self._do(self._set_default, name, is_default, server=name)

    def remove(self, name: str) -> None:
        self._do(self._remove, name, server=name)

    def copy_entry(self, name: str) -> None:
        """Puts a server's entry on the clipboard, in the form that other programs' settings have."""
        self._do(self._copy_entry, name, server=name)

    async def _set_default(self, name: str, is_default: bool) -> None:
        if is_default:
            await self._servers.api.add_mcp_default_server(name)
            self.done.emit(tr("{name} starts with the hub from now on", name=name))
        else:
            await self._servers.api.remove_mcp_default_server(name)
            self.done.emit(tr("{name} starts when a client needs it from now on", name=name))

    async def _stop(self, name: str) -> None:
        await self._servers.api.stop_server(name)
        self.server_stopped.emit(name)

    async def _start(self, name: str) -> None:
        server = self._servers.find(name)
        if server is not None and server.is_disabled and is_of_file(server):
            raise TooltrayError(tr("'{name}' is switched off in its file", name=name), server.file, change_there(server))
        if server is not None and server.is_disabled:
            entry = (await self._servers.api.get_mcp_servers())[name]
            await self._servers.api.update_mcp_server(name, {**entry, "disable": False})
        await self._servers.api.start_server(name)

    async def _remove(self, name: str) -> None:
        server = self._servers.find(name)
        if server is not None and is_of_file(server):
            there = await self._servers.api.get_server_entry(name)
            gone = await self._servers.api.remove_mcp_server(name, keep_secrets=True)
            self.server_removed.emit(NewServer(there.name, there.entry, server.is_default, project=project_of(server), removal=gone))
            return
        entry = (await self._servers.api.get_mcp_servers()).get(name, {})
        is_default = name in await self._servers.api.get_mcp_default_servers()
        gone = await self._servers.api.remove_mcp_server(name, keep_secrets=True)
        self.server_removed.emit(NewServer(name, entry, is_default, removal=gone))

    async def _copy_entry(self, name: str) -> None:
        entry = (await self._servers.api.get_mcp_servers())[name]
        text = json.dumps({"mcpServers": {name: entry}}, indent=2, ensure_ascii=False)
        self.copied.emit(text, tr("The entry of {name} is copied", name=name))

    # projects, and when tools are shown

    def start_for(self, name: str, folder: str) -> None:
        """Starts a server for the project in a folder, which a person has chosen."""
        self._do(self._hub.projects.start_for_project, name, folder, server=name)

    def start_anyway(self, name: str) -> None:
        """Starts a server that waits for a project without one."""
        self._do(self._hub.projects.start_without_project, name, server=name)

    def reset_projects(self) -> None:
        """Stops all that runs for a project; it waits again."""
        self._do(self._reset_projects)

    def set_lazy(self, name: str, is_lazy: bool | None) -> None:
        """Decides whether a server's tools are shown only after activation; None: as for all servers."""
        self._do(self._set_lazy, name, is_lazy, server=name)

    def set_deferred(self, name: str, is_deferred: bool, template: Sequence[str] | None) -> None:
        """Decides whether a server waits for a project, and with which arguments it starts for one; None: its `args`."""
        self._do(self._set_deferred, name, is_deferred, template, server=name)

    def read_entry(self, name: str) -> None:
        """Asks for a server's entry as it counts here: `entry_read`."""
        self._do(self._read_entry, name, server=name, clears=False)

    async def _reset_projects(self) -> None:
        await self._hub.projects.reset_deferred_state()
        self.done.emit(tr("Servers that ran for a project wait again"))

    async def _set_lazy(self, name: str, is_lazy: bool | None) -> None:
        await self._hub.views.set_lazy_load(is_lazy, name)
        await self._read_entry(name)

    async def _set_deferred(self, name: str, is_deferred: bool, template: Sequence[str] | None) -> None:
        await self._hub.projects.set_deferred(name, is_deferred, None if template is None else list(template))
        await self._read_entry(name)

    async def _read_entry(self, name: str) -> None:
        self.entry_read.emit(name, (await self._servers.api.get_server_entry(name)).counts)

    # signing in

    def sign_in(self, name: str) -> None:
        """Begins to sign in to a server, or goes on with what has begun: `page_wanted`."""
        self._do(self._sign_in, name, server=name, clears=False)

    def copy_sign_in_address(self, name: str) -> None:
        self._do(self._copy_sign_in_address, name, server=name)

    def cancel_sign_in(self, name: str) -> None:
        if name in self._signing_in:
            self._cancelled.add(name)
        self._do(self._hub.sign_ins.cancel_sign_in, name, server=name)

    def sign_out(self, name: str) -> None:
        self._do(self._sign_out, name, server=name)

    def tell_no_browser(self, name: str) -> None:
        """The page could not be shown; the address still can be copied."""
        self.server_failed.emit(name, Problem(tr("No browser could be opened"), "", tr("Copy the address and open it yourself.")))

    async def _sign_in(self, name: str) -> None:
        url = await self._sign_in_page(name)
        self.server_failed.emit(name, None)  # before the page is shown, which may fail in its turn
        self.page_wanted.emit(name, url)

    async def _sign_in_page(self, name: str) -> str:
        """Begins to sign in, or goes on with it; returns the page's address. The outcome is told when it is there."""
        page = await self._hub.sign_ins.begin_sign_in(name)
        if name not in self._signing_in:  # else somebody waits for the outcome already
            self._signing_in.add(name)
            self._do(self._wait_for_sign_in, name, server=name)
        return page.url

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

    async def _copy_sign_in_address(self, name: str) -> None:
        self.copied.emit(await self._sign_in_page(name), tr("The address is copied"))

    async def _sign_out(self, name: str) -> None:
        await self._hub.sign_ins.sign_out(name)
        self.done.emit(tr("Signed out of {name}", name=name))

    # adding

    def add(self, new: Sequence[NewServer]) -> None:
        """Stores the secrets of new servers and adds them; says `servers_added`, or `adding_failed` and has added none of the rest."""
        self._do(self._add, tuple(new))

    def bring_back(self, removed: NewServer) -> None:
        """Undoes a removal."""
        self._do(self._servers.api.add_mcp_server, removed.name, removed.entry, removed.is_default, removed.project)

    def forget_secrets(self, removal: ServerRemoval) -> None:
        """A removal is not undone any more: what was kept among the secrets for that server alone goes, too."""
        if names := [*removal.secrets, *filter(None, [removal.sign_in])]:
            self._do(self._hub.secrets.remove_unused_secrets, names)

    async def _add(self, new: Sequence[NewServer]) -> None:
        is_secret = True
        try:
            for server in new:
                is_secret = True
                await self._store(server.secrets)
                is_secret = False
                await self._servers.api.add_mcp_server(server.name, server.entry, server.is_default, server.project)
        except TooltrayError as error:
            self.adding_failed.emit(error.problem, is_secret)
            return
        self.servers_added.emit()
        names = ", ".join(server.name for server in new)
        self.done.emit(tr("{name} is added", name=names) if len(new) == 1 else tr("{names} are added", names=names))

    async def _store(self, secrets: Mapping[str, str]) -> None:
        if not secrets:
            return
        self.storing_changed.emit(True)
        try:
            for name, value in secrets.items():
                await self._hub.secrets.set_secret(name, value)
        finally:
            self.storing_changed.emit(False)

    def keep_secrets(self, kind: str, passphrase: str) -> None:
        """Chooses where secrets are kept; `secrets_closed` says how it went.

        Args:
            kind: "keyring", "file" or "memory".
            passphrase: opens the file, or becomes its passphrase if there is none yet.
        """
        self._do(self._keep_secrets, kind, passphrase)

    async def _keep_secrets(self, kind: str, passphrase: str) -> None:
        try:
            await self._hub.secrets.set_secret_backend(kind)
            if kind == "file":
                await self._hub.secrets.unlock_secrets(passphrase)
        except TooltrayError as error:
            self.secrets_closed.emit(error.problem)
            return
        self.secrets_closed.emit(None)
        for server in self._servers.servers:
            if server.state is ServerState.ERROR:
                self.restart(server.name)

    def _on_server_changed(self, server: ServerSnapshot) -> None:
        if server.state is ServerState.ERROR and server.problem is not None and not self._is_checking_secrets:
            self._is_checking_secrets = True
            self._do(self._check_secrets, server.problem)

    async def _check_secrets(self, problem: Problem) -> None:
        """A server's problem is one of the secret store if the store itself says the same."""
        try:
            await self._hub.secrets.get_secret_names()
        except TooltrayError as error:
            if error.problem.title in problem.title or error.problem.title in problem.message:
                self.secrets_closed.emit(error.problem)
        finally:
            self._is_checking_secrets = False

    # tools

    def list_tools(self, server: str) -> None:
        """Asks for a server's tools, or with "" for all."""
        self._do(self._list_tools, server, server=server, clears=False)

    def switch_tool(self, server: str, tool: str, on: bool) -> None:
        """Offers a tool to AI clients, or no longer; `tool` is the server's own name for it."""
        self._do(self._switch_tool, server, tool, on, server=server)

    def word_tool(self, server: str, tool: str, name: str | None, description: str | None) -> None:
        """Shows a tool to AI clients in other words, None for its own: `tool_worded`; `tool` is the server's own name for it."""
        self._do(self._word_tool, server, tool, name, description, server=server)

    async def _word_tool(self, server: str, tool: str, name: str | None, description: str | None) -> None:
        await self._hub.views.set_tool_override(server, tool, name, description)
        self.tool_worded.emit(server)
        await self._list_tools(server)

    async def _list_tools(self, server: str) -> None:
        self.tools_listed.emit(server, await self._tools.api.get_tools(server or None))

    async def _switch_tool(self, server: str, tool: str, on: bool) -> None:
        try:
            await self._tools.api.set_tool_enabled(server, tool, on)
        finally:
            await self._list_tools(server)  # the switch then stands where it truly is

    # the hub

    def answer_question(self, id: str, action: str, content: dict[str, Any] | None) -> None:
        """Sends a person's answer to the server that asked."""
        self._do(self._hub.questions.answer_elicitation, id, action, content)

    def pause(self, is_paused: bool) -> None:
        self._do(self._hub.hub.set_mcp_enabled, not is_paused)

    def _do(self, verb: Callable[..., Coroutine[Any, Any, Any]], *arguments: object, server: str = "", clears: bool = True) -> None:
        """Does something in the background; a failure is told at `server`, or for all to see.

        Args:
            clears: success takes away what an earlier wish for this server has failed of.
        """
        self._tasks.spawn(self._reported(verb, arguments, server, clears), name=f"wish: {verb.__name__}")

    async def _reported(
        self, verb: Callable[..., Coroutine[Any, Any, Any]], arguments: Sequence[object], server: str, clears: bool
    ) -> None:
        try:
            await verb(*arguments)
        except TooltrayError as error:
            if server:
                self.server_failed.emit(server, error.problem)
            else:
                self.failed.emit(error.problem)
        else:
            if server and clears:
                self.server_failed.emit(server, None)
