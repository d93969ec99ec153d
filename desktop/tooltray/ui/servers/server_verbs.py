"""Carries out what the user requests of a server, from wherever it is shown. Nothing here decides: each method calls a verb or two of the
engine, or opens a sheet. And finds out whether servers fail since secrets cannot be read, and shows the ways out above the pages."""

import json
from collections.abc import Coroutine, Iterator, Mapping
from functools import partial
from typing import TYPE_CHECKING

import msgspec
from PySide6.QtCore import QObject, QUrl
from PySide6.QtGui import QDesktopServices
from shiboken6 import isValid

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import SecretsChanged
from tooltray.foundation.snapshots.activity import HUB, SERVER
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.snapshots.setup import ServerRemoval
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.ui.add.server_review import free_name
from tooltray.ui.figures import first_names
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.destinations import OpenServer, Settings
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.secrets_help import open_secrets
from tooltray.ui.kit.view import View
from tooltray.ui.link.qt_mcp_client import QtMcpClient
from tooltray.ui.origins import change_there, is_of_file, project_of
from tooltray.ui.servers.server_sheets import (
    AddToSheet,
    NameSheet,
    OptionsSheet,
    SecretSheet,
    SignInAddressSheet,
    WhySheet,
    duplicating,
    renaming,
)
from tooltray.ui.widgets.toast import Toast

if TYPE_CHECKING:  # one is imported where it is opened, and the other imports this
    from tooltray.ui.logs.log_view import LogSheet
    from tooltray.ui.servers.servers_page import InstalledTab


MOST_NAMES = 3  # of one kind; it is to be read in the moment before it goes


class RemovedServer(msgspec.Struct, frozen=True):
    name: str
    entry: Mapping[str, object]
    is_default: bool
    removal: ServerRemoval  # what is to go with it
    project: str = ""  # the folder of the file that it was in; empty: the settings


async def take_out(context: PageContext, name: str) -> RemovedServer:
    """Removes a server; its secrets stay.

    Raises:
        TooltrayError: it was not removed, with the reason.
    """
    api, server = context.hub.servers, context.servers.find(name)
    there = await api.get_server_entry(name)
    gone = await api.remove_mcp_server(name, keep_secrets=True)
    is_default, project = (server.is_default, project_of(server)) if server is not None else (False, "")
    return RemovedServer(there.name, there.entry, is_default, gone, project)


async def bring_back(context: PageContext, removed: RemovedServer) -> None:
    """Undoes a removal."""
    await context.hub.servers.add_mcp_server(removed.name, removed.entry, removed.is_default, removed.project)


async def forget_secrets(context: PageContext, removal: ServerRemoval) -> None:
    """Deletes the secrets that only a removed server used, when its removal can no longer be undone."""
    if names := [*removal.secrets, *filter(None, [removal.sign_in])]:
        await context.hub.secrets.remove_unused_secrets(names)


def removed_words(removed: RemovedServer) -> str:
    """Returns one line about a removal; it may name secrets, and never contains their values."""
    text = tr("{name} is removed from its file", name=removed.name) if removed.project else tr("{name} is removed", name=removed.name)
    return " · ".join([text, *_of_secrets(removed.removal)])


def _of_secrets(removal: ServerRemoval) -> Iterator[str]:
    if removal.secrets:
        names = first_names(removal.secrets, MOST_NAMES)
        yield many(len(removal.secrets), "with its secret {names}", "with its secrets {names}", names=names)
    if removal.sign_in:
        yield tr("its sign-in ends")
    for shared in removal.shared:
        users = first_names(shared.users, MOST_NAMES)
        stays = tr("{name} stays, {users} still uses it", name=shared.name, users=users)
        yield stays if len(shared.users) == 1 else tr("{name} stays, {users} still use it", name=shared.name, users=users)


class ServerVerbs(QObject, View):
    """The receiver of `ServerWishes`. A failure is shown at its server; what was done in a toast, with Undo where it can be undone."""

    def __init__(self, page: "InstalledTab") -> None:
        super().__init__(page)
        self.context, self._page = page.context, page
        self._signing_in: set[str] = set()  # whose outcome is waited for
        self._cancelled: set[str] = set()
        self._stopped: tuple[str, Toast | None] = "", None  # the server that was stopped last, and what offers to start it again
        wishes = self.context.wishes
        wishes.start_requested.connect(self.start)
        wishes.stop_requested.connect(self.stop)
        wishes.restart_requested.connect(self.restart)
        wishes.default_requested.connect(self.set_default)
        wishes.removal_requested.connect(self.remove)
        wishes.copy_requested.connect(self.copy_entry)
        wishes.duplicate_requested.connect(self.duplicate)
        wishes.rename_requested.connect(self.rename)
        wishes.folder_requested.connect(self.choose_folder)
        wishes.start_anyway_requested.connect(self.start_anyway)
        wishes.projects_reset_requested.connect(self.reset_projects)
        wishes.sign_in_requested.connect(self.sign_in)
        wishes.sign_in_address_requested.connect(self.copy_sign_in_address)
        wishes.sign_in_cancel_requested.connect(self.cancel_sign_in)
        wishes.sign_out_requested.connect(self.sign_out)
        wishes.tools_requested.connect(self.list_tools)
        wishes.tool_switch_requested.connect(self.switch_tool)
        wishes.tool_requested.connect(self.open_tool)
        wishes.log_requested.connect(self.open_log)
        wishes.diagnosis_requested.connect(self.open_why)
        wishes.options_requested.connect(self.open_options)
        wishes.secret_requested.connect(self.open_secret)
        wishes.link_requested.connect(self.open_links)

    def _run_at(self, name: str, work: Coroutine[object, object, object], *, toast: str = "") -> None:
        """Awaits `work`, and shows a failure at the server; see `run`."""
        self.run(work, toast=toast, show=partial(self._page.show_server_problem, name))

    def _show_failure(self, name: str, problem: Problem | None) -> None:
        """Shows a failure at the server; what works says nothing of an earlier one."""
        if problem is not None:
            self._page.show_server_problem(name, problem)

    # start and stop

    def start(self, name: str) -> None:
        """Starts a server; a disabled one is enabled first."""
        self._run_at(name, self.started(name))

    async def started(self, name: str) -> None:
        """Starts a server and waits until it runs; a disabled one is enabled first.

        Raises:
            TooltrayError: the server does not run, with the reason.
        """
        stopped, toast = self._stopped
        if stopped == name and toast is not None and isValid(toast):
            toast.dismiss()  # there is nothing left to undo
        server = self.context.servers.find(name)
        if server is not None and server.is_disabled and is_of_file(server):
            raise TooltrayError(tr("'{name}' is disabled in its file", name=name), server.file, change_there(server))
        if server is not None and server.is_disabled:
            entry = (await self.hub.servers.get_mcp_servers())[name]
            await self.hub.servers.update_mcp_server(name, {**entry, "disable": False})
        await self.hub.servers.start_server(name)

    def stop(self, name: str) -> None:
        self._run_at(name, self._stop(name))

    async def _stop(self, name: str) -> None:
        await self.hub.servers.stop_server(name)
        toast = self.context.offer_undo(tr("{name} is stopped", name=name))
        toast.action_requested.connect(partial(self.start, name))
        self._stopped = name, toast

    def restart(self, name: str) -> None:
        """Ends a server if it runs, and starts it; says so at the end, since a quick restart leaves all as it was."""
        server = self.context.servers.find(name)
        if server is not None and server.state in (ServerState.STOPPED, ServerState.ON_DEMAND):
            self._run_at(name, self.started(name), toast=tr("{server} started", server=name))
        else:
            self._run_at(name, self.hub.servers.restart_server(name), toast=tr("{server} restarted", server=name))

    def choose_folder(self, name: str) -> None:
        """Prompts for the folder of a project, and starts the server for it."""
        self.context.choose_folder(tr("For which project does {name} start?", name=name), partial(self.start_for, name))

    def start_for(self, name: str, folder: str) -> None:
        self._run_at(name, self.hub.projects.start_for_project(name, folder))

    def start_anyway(self, name: str) -> None:
        """Starts a server that waits for a project without one."""
        self._run_at(name, self.hub.projects.start_without_project(name))

    def reset_projects(self) -> None:
        """Stops the copies of all servers for projects; these servers wait again."""
        self.run(self.hub.projects.reset_deferred_state(), toast=tr("Servers that ran for a project wait again"))

    # the entry

    def set_default(self, name: str, is_default: bool) -> None:
        """Sets whether a server starts with the hub."""
        api = self.hub.servers
        if is_default:
            self._run_at(name, api.add_mcp_default_server(name), toast=tr("{name} starts with Tooltray from now on", name=name))
        else:
            toast = tr("{name} starts when a client needs it from now on", name=name)
            self._run_at(name, api.remove_mcp_default_server(name), toast=toast)

    def remove(self, name: str) -> None:
        self._run_at(name, self._remove(name))

    async def _remove(self, name: str) -> None:
        removed = await take_out(self.context, name)
        toast = self.context.offer_undo(removed_words(removed), partial(self._bring_back, removed))
        toast.passed.connect(lambda: self.run(forget_secrets(self.context, removed.removal)))

    async def _bring_back(self, removed: RemovedServer) -> None:
        self._page.server_list.await_card(removed.name)
        await bring_back(self.context, removed)

    def copy_entry(self, name: str) -> None:
        """Copies a server's entry to the clipboard, in the form of other programs' settings."""
        self._run_at(name, self._copy_entry(name))

    async def _copy_entry(self, name: str) -> None:
        entry = (await self.hub.servers.get_mcp_servers())[name]
        text = json.dumps({"mcpServers": {name: entry}}, indent=2, ensure_ascii=False)
        self.context.copy(text, tr("The entry of {name} is copied", name=name))

    def duplicate(self, name: str) -> None:
        """Opens the sheet that names a server's copy."""
        servers = self.context.servers
        if servers.find(name) is not None:
            free = free_name(name, [each.name for each in servers.servers])
            self.context.sheets.show(NameSheet(self.context, duplicating(name), free, partial(self._duplicate, name)))

    async def _duplicate(self, name: str, new_name: str) -> None:
        self.context.go(OpenServer(await self.hub.servers.duplicate_mcp_server(name, new_name), "settings"))

    def rename(self, name: str) -> None:
        """Opens the sheet that gives a server another name."""
        if self.context.servers.find(name) is not None:
            self.context.sheets.show(NameSheet(self.context, renaming(name), name, partial(self._rename, name)))

    async def _rename(self, name: str, new_name: str) -> None:
        await self._renamed(name, new_name)
        self.context.offer_undo(tr("{name} is {other} now", name=name, other=new_name), partial(self._renamed, new_name, name))

    async def _renamed(self, name: str, new_name: str) -> None:
        """Renames a server; its details stay open."""
        details = self._page.details
        tab = details.tab if details is not None and details.server.name == name else None
        await self.hub.servers.rename_mcp_server(name, new_name)
        if tab is not None:
            self._page.show_server(new_name, tab)

    # signing in

    def sign_in(self, name: str) -> None:
        """Begins to sign in to a server, or continues a sign-in, and shows its page."""
        self.run(self._sign_in(name), show=partial(self._show_failure, name))

    async def _sign_in(self, name: str) -> None:
        url = await self._begin_sign_in(name)
        self._page.show_server_problem(name, None)  # before the page is shown, which may fail in its turn
        if not QDesktopServices.openUrl(QUrl(url)):
            self.show_sign_in_address(name, url)

    def show_sign_in_address(self, name: str, url: str) -> None:
        """Shows that no browser could be opened, and the address; while another sheet is open, only the card offers it."""
        problem = Problem(tr("No browser could be opened"), "", tr("Copy the address and open it yourself."))
        self._page.show_server_problem(name, problem)
        self.context.show_window()  # the wish may come from the tray
        self.context.sheets.show(SignInAddressSheet(self.context, name, url))

    def copy_sign_in_address(self, name: str) -> None:
        self._run_at(name, self._copy_sign_in_address(name))

    async def _copy_sign_in_address(self, name: str) -> None:
        self.context.copy(await self._begin_sign_in(name), tr("The address is copied"))

    async def _begin_sign_in(self, name: str) -> str:
        """Begins or continues a sign-in and returns the page's address; the outcome is shown later."""
        page = await self.hub.sign_ins.begin_sign_in(name)
        if name not in self._signing_in:  # else its outcome is waited for already
            self._signing_in.add(name)
            self._run_at(name, self._finish_sign_in(name))
        return page.url

    async def _finish_sign_in(self, name: str) -> None:
        try:
            await self.hub.sign_ins.finish_sign_in(name)
        except TooltrayError:
            if name in self._cancelled:
                return  # the user knows
            raise
        finally:
            self._signing_in.discard(name)
            self._cancelled.discard(name)
            panel = self.context.sheets.panel
            if isinstance(panel, SignInAddressSheet) and panel.server == name:
                panel.close_requested.emit()  # its address no longer works
        self.context.say(tr("Signed in to {name}", name=name))

    def cancel_sign_in(self, name: str) -> None:
        if name in self._signing_in:
            self._cancelled.add(name)
        self._run_at(name, self.hub.sign_ins.cancel_sign_in(name))

    def sign_out(self, name: str) -> None:
        self._run_at(name, self.hub.sign_ins.sign_out(name), toast=tr("Signed out of {name}", name=name))

    # tools

    def list_tools(self, name: str) -> None:
        """Reads a server's tools, or with "" all tools, and shows them."""
        self.run(self._list_tools(name), show=partial(self._show_failure, name))

    async def _list_tools(self, name: str) -> None:
        self._page.show_tools(name, await self.hub.tools.get_tools(name or None))

    def switch_tool(self, name: str, tool: str, on: bool) -> None:
        """Enables or disables a tool for AI clients; `tool` is the server's own name for it."""
        work, show = self.hub.tools.set_tool_enabled(name, tool, on), partial(self._page.show_server_problem, name)
        self.run(work, then=partial(self._list_tools, name), show=show)

    def open_tool(self, tool: ToolSnapshot) -> None:
        """Opens the sheet with a tool's words for AI clients."""
        server = self.context.servers.find(tool.server)
        if server is not None and not server.is_builtin and self.context.sheets.sheet is None:
            from tooltray.ui.server_pane.tool_words_sheet import ToolWordsSheet

            self.context.sheets.show(ToolWordsSheet(self.context, tool, self.list_tools))

    # sheets

    def open_log(self, name: str, at: float = 0.0) -> None:
        """Opens the log of a server, in place of an open sheet.

        Args:
            at: the time of the wanted lines, in unix seconds; 0: the newest lines.
        """
        panel = self._open_log(f"{SERVER}{name}")
        if at:
            panel.log.show_time(at)

    def open_hub_log(self) -> None:
        """Opens Tooltray's own log."""
        self._open_log(HUB)

    def _open_log(self, source: str) -> "LogSheet":
        from tooltray.ui.logs.log_view import LogSheet

        self.context.show_window()
        panel = LogSheet(self.context, source)
        panel.close_requested.connect(self.context.sheets.replace(panel).dismiss)
        return panel

    def open_why(self, name: str) -> None:
        """Opens the diagnosis of a server that does not run, and its remedies."""
        if self.context.sheets.sheet is None:
            client = QtMcpClient(self.hub, self.context.servers, name)
            self.context.sheets.show(WhySheet(self.context, client, partial(self.open_log, name)))

    def open_options(self, name: str) -> None:
        """Opens the options: when a server starts, and how its tools are listed."""
        server = self.context.servers.find(name)
        if server is not None and self.context.sheets.sheet is None:
            self.context.sheets.show(OptionsSheet(self.context, server, self._page.cost_of(name)))

    def open_secret(self, server: str, secret: str) -> None:
        """Opens a field for a secret that a server lacks; once it is stored the engine starts the server again."""
        if secret and self.context.sheets.sheet is None:
            self.context.sheets.show(SecretSheet(self.context, server, secret))

    def open_links(self, name: str) -> None:
        """Shows links that add a server to AI clients."""
        if self.context.sheets.sheet is None:
            self.context.sheets.show(AddToSheet(self.context, name))


class ClosedSecrets(QObject, View):
    """The notice about secrets that cannot be read."""

    def __init__(self, context: PageContext, parent: QObject) -> None:
        super().__init__(parent)
        self.context = context
        self._is_checking = self._are_closed = False
        context.servers.server_changed.connect(self._on_server_changed)
        context.hub.on_any((SecretsChanged,), self._on_secrets_changed, self)
        context.notices.secrets_choice_requested.connect(self._on_choice)
        context.wishes.unlock_requested.connect(self._on_unlock)

    async def _open(self, kind: str, passphrase: str) -> None:
        """Carries out what `SecretsHelp` requests, and restarts the servers that have failed.

        Args:
            kind: another place: "keyring", "file" or "memory"; empty: the place stays.
            passphrase: opens the file, or becomes its passphrase if the file is new.

        Raises:
            TooltrayError: the secrets cannot be used.
        """
        await open_secrets(self.hub, kind, passphrase)
        for server in self.context.servers.servers:
            if server.state is ServerState.ERROR:
                self.context.wishes.restart_requested.emit(server.name)

    def _show(self, problem: Problem | None) -> None:
        """Shows a problem where the user can solve it; None: secrets can be read now."""
        from tooltray.ui.add.review_sheet import ReviewSheet

        sheets = self.context.sheets
        self._are_closed = problem is not None
        if sheets.sheet is None or problem is None:
            self.context.notices.set_secrets_problem(problem, self.hub.secret_backend)
        if isinstance(sheets.panel, ReviewSheet):
            sheets.panel.on_secrets_tried(problem)

    def _on_unlock(self) -> None:
        """Shows the ways out at the notice, or in the settings where another notice is shown."""
        if not self.context.notices.open_secrets_help():
            self.context.go(Settings("secrets"))

    def _on_choice(self, kind: str, passphrase: str) -> None:
        self.run(self._open(kind, passphrase), show=self._show)

    def _on_server_changed(self, server: ServerSnapshot) -> None:
        if server.state is ServerState.ERROR and server.problem is not None and not self._is_checking:
            self._is_checking = True
            self.run(self._check(server.problem))

    async def _check(self, problem: Problem) -> None:
        """Shows the problem of the secret store if it is a server's problem."""
        try:
            await self.hub.secrets.get_secret_names()
        except TooltrayError as error:
            if error.problem.title in problem.title or error.problem.title in problem.message:
                self._show(error.problem)
        finally:
            self._is_checking = False

    def _on_secrets_changed(self) -> None:
        if self._are_closed:
            self.run(self._check_opened())

    async def _check_opened(self) -> None:
        """Drops the problem of locked secrets that were unlocked elsewhere, such as at a terminal."""
        if (await self.hub.secrets.get_secrets()).problem is None:
            self._show(None)
