"""Carries out what a person asks for about tokens, and about programs that control Tooltray over HTTP, and says how it went.

Above it: the window, whose Settings page it serves. Below it: the Qt presenter layer. Knows no widget, and keeps no token.
"""

from PySide6.QtCore import Signal

from tooltray.snapshots.http import Scope
from tooltray.ui.i18n import tr
from tooltray.ui.pages.action import Commands, action, at_sheet
from tooltray.ui.settings.token_words import client_entry, client_line, program_line, trust_note


class TokenCommands(Commands):
    http_changed = Signal(object)  # HttpStatus
    token_known = Signal(str)  # to be shown, since a person has asked for it
    copied = Signal(str, str)  # text for the clipboard; what it is
    clients_known = Signal(object)  # list[TokenLine]
    programs_known = Signal(object)  # list[TokenLine]
    made = Signal(str, str, str)  # a token, for the open sheet; the entry for an AI client; what else is to be known of it

    @action()
    async def set_enabled(self, is_on: bool) -> None:
        """Lets programs in, or no more. Which tokens are trusted stays as it is."""
        await self._set(is_on, None)

    @action()
    async def distrust(self) -> None:
        """No program decides in the person's place, whatever an older version's setting says."""
        await self._set(True, False)

    @action()
    async def look(self) -> None:
        """Asks which tokens there are: `clients_known`, `programs_known`."""
        await self._look()

    @action(at_sheet)
    async def make_client(self, name: str, _scope: str, _lasts_s: float | None, _trusted: bool) -> None:
        """Makes a token for an AI client: `made` or `refused`."""
        token = await self._hub.access.create_client_token(name)
        self.made.emit(token, client_entry(await self._hub.access.get_http_status(), token), "")
        await self._look()

    @action(at_sheet)
    async def make_program(self, name: str, scope: Scope, lasts_s: float | None, trusted: bool) -> None:
        """The same for a program."""
        made = await self._hub.access.create_api_token(name, scope, lasts_s, trusted)
        self.made.emit(made.token, "", trust_note(made))
        self.http_changed.emit(await self._hub.access.get_http_status())
        await self._look()

    @action()
    async def revoke_client(self, name: str) -> None:
        await self._hub.access.remove_client_token(name)
        await self._after_revoked(name)

    @action()
    async def revoke_program(self, name: str) -> None:
        await self._hub.access.revoke_api_token(name)
        await self._after_revoked(name)

    @action()
    async def show_token(self) -> None:
        """`token_known`."""
        self.token_known.emit(await self._hub.access.get_api_token())

    @action()
    async def copy_token(self) -> None:
        self.copied.emit(await self._hub.access.get_api_token(), tr("The token is copied"))

    @action()
    async def rotate_token(self) -> None:
        """Makes another token, which ends the one of before."""
        self.token_known.emit(await self._hub.access.rotate_api_token())
        self.done.emit(tr("The token is another one now"))

    async def _set(self, is_on: bool, is_trusted: bool | None) -> None:
        try:
            await self._hub.access.set_api_enabled(is_on, is_trusted)
        finally:
            self.http_changed.emit(await self._hub.access.get_http_status())  # the switches then stand where they truly are

    async def _look(self) -> None:
        self.clients_known.emit([client_line(each) for each in await self._hub.access.list_client_tokens()])
        self.programs_known.emit([program_line(each) for each in await self._hub.access.list_api_tokens() if not each.is_default])

    async def _after_revoked(self, name: str) -> None:
        self.done.emit(tr("The token {name} is revoked", name=name))
        self.http_changed.emit(await self._hub.access.get_http_status())
        await self._look()
