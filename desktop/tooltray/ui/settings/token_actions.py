"""Carries out what a person asks for about tokens, and about programs that control Tooltray over HTTP, and says how it went.

Above it: the window, whose Settings page it serves. Below it: the Qt presenter layer. Knows no widget, and keeps no token.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import Signal

from tooltray.snapshots.http import Scope
from tooltray.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.pages.action import PageCommands
from tooltray.ui.presenter.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.settings.token_words import client_entry, client_line, program_line, trust_note


class ApiCommands(PageCommands):
    http_changed = Signal(object)  # HttpStatus
    token_known = Signal(str)  # to be shown, since a person has asked for it
    copied = Signal(str, str)  # text for the clipboard; what it is
    clients_known = Signal(object)  # list[TokenLine]
    programs_known = Signal(object)  # list[TokenLine]
    made = Signal(str, str, str)  # a token, for the open sheet; the entry for an AI client; what else is to be known of it
    refused = Signal(object)  # Problem, for the open sheet
    done = Signal(str)  # what was done, to be said in passing

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper) -> None:
        super().__init__(name="programs", tasks=tasks)
        self._hub = hub

    def set_enabled(self, is_on: bool) -> None:
        """Lets programs in, or no more. Which tokens are trusted stays as it is."""
        self._do(self._set, is_on, None)

    def distrust(self) -> None:
        """No program decides in the person's place, whatever an older version's setting says."""
        self._do(self._set, True, False)

    def look(self) -> None:
        """Asks which tokens there are: `clients_known`, `programs_known`."""
        self._do(self._look)

    def make_client(self, name: str, _scope: str, _lasts_s: float | None, _trusted: bool) -> None:
        """Makes a token for an AI client: `made` or `refused`."""
        self._do(self._make_client, name, told=self.refused)

    def make_program(self, name: str, scope: Scope, lasts_s: float | None, trusted: bool) -> None:
        """The same for a program."""
        self._do(self._make_program, name, scope, lasts_s, trusted, told=self.refused)

    def revoke_client(self, name: str) -> None:
        self._do(self._revoke, self._hub.access.remove_client_token, name)

    def revoke_program(self, name: str) -> None:
        self._do(self._revoke, self._hub.access.revoke_api_token, name)

    def show_token(self) -> None:
        """`token_known`."""
        self._do(self._show_token)

    def copy_token(self) -> None:
        self._do(self._copy_token)

    def rotate_token(self) -> None:
        """Makes another token, which ends the one of before."""
        self._do(self._rotate_token)

    async def _set(self, is_on: bool, is_trusted: bool | None) -> None:
        try:
            await self._hub.access.set_api_enabled(is_on, is_trusted)
        finally:
            self.http_changed.emit(await self._hub.access.get_http_status())  # the switches then stand where they truly are

    async def _show_token(self) -> None:
        self.token_known.emit(await self._hub.access.get_api_token())

    async def _copy_token(self) -> None:
        self.copied.emit(await self._hub.access.get_api_token(), tr("The token is copied"))

    async def _rotate_token(self) -> None:
        self.token_known.emit(await self._hub.access.rotate_api_token())
        self.done.emit(tr("The token is another one now"))

    async def _look(self) -> None:
        self.clients_known.emit([client_line(each) for each in await self._hub.access.list_client_tokens()])
        self.programs_known.emit([program_line(each) for each in await self._hub.access.list_api_tokens() if not each.is_default])

    async def _make_client(self, name: str) -> None:
        token = await self._hub.access.create_client_token(name)
        self.made.emit(token, client_entry(await self._hub.access.get_http_status(), token), "")
        await self._look()

    async def _make_program(self, name: str, scope: Scope, lasts_s: float | None, trusted: bool) -> None:
        made = await self._hub.access.create_api_token(name, scope, lasts_s, trusted)
        self.made.emit(made.token, "", trust_note(made))
        self.http_changed.emit(await self._hub.access.get_http_status())
        await self._look()

    async def _revoke(self, revoke: Callable[[str], Coroutine[Any, Any, None]], name: str) -> None:
        await revoke(name)
        self.done.emit(tr("The token {name} is revoked", name=name))
        self.http_changed.emit(await self._hub.access.get_http_status())
        await self._look()
