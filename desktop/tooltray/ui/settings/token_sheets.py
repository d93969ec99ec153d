"""The tokens on the Network tab, of AI clients and of programs, and the sheet in which one is made."""

from functools import partial

from PySide6.QtCore import QObject, Signal

from tooltray.foundation.snapshots.clients import Scope
from tooltray.ui.i18n import tr
from tooltray.ui.kit.action import Commands, action, at_sheet
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.settings.api_section import ApiSection
from tooltray.ui.settings.http_section import HttpSection
from tooltray.ui.settings.make_token import MakeTokenPanel, NewTokenPanel
from tooltray.ui.settings.token_list import client_entry, client_line, program_line, trust_note


class TokenCommands(Commands):
    http_changed = Signal(object)  # HttpStatus
    token_known = Signal(str)  # to be shown, since a person has asked for it
    copied = Signal(str, str)  # text for the clipboard; what it is
    clients_known = Signal(object)  # list[TokenLine]
    programs_known = Signal(object)  # list[TokenLine]
    client_revoked = Signal(str)  # its name
    made = Signal(str, str, str)  # a token, for the open sheet; the entry for an AI client; what else is to be known of it

    @action()
    async def set_enabled(self, is_on: bool) -> None:
        """Switches programs' access on or off; trusted tokens stay trusted."""
        await self._set(is_on, None)

    @action()
    async def distrust(self) -> None:
        """Stops programs from deciding in the user's place, whatever an older version's setting allows."""
        await self._set(True, False)

    @action()
    async def look(self) -> None:
        """Reads the tokens; emits `clients_known` and `programs_known`."""
        await self._look()

    @action(at_sheet)
    async def make_client(self, name: str, _scope: str, _lasts_s: float | None, _trusted: bool) -> None:
        """Makes a token for an AI client; emits `made` or `refused`."""
        token = await self._hub.access.create_client_token(name)
        self.made.emit(token, client_entry(await self._hub.access.get_http_status(), token), "")
        await self._look()

    @action(at_sheet)
    async def make_program(self, name: str, scope: Scope, lasts_s: float | None, trusted: bool) -> None:
        """Makes a token for a program."""
        made = await self._hub.access.create_api_token(name, scope, lasts_s, trusted)
        self.made.emit(made.token, "", trust_note(made))
        self.http_changed.emit(await self._hub.access.get_http_status())
        await self._look()

    @action()
    async def revoke_client(self, name: str) -> None:
        await self._hub.access.remove_client_token(name)
        self.client_revoked.emit(name)
        await self._look()

    @action()
    async def restore_client(self, name: str) -> None:
        """Undoes the removal of a token, which is valid again."""
        try:
            await self._hub.access.restore_client_token(name)
        finally:
            await self._look()

    @action()
    async def revoke_program(self, name: str) -> None:
        await self._hub.access.revoke_api_token(name)
        await self._after_revoked(name)

    @action()
    async def show_token(self) -> None:
        """Reads the token of the interface and emits `token_known`."""
        self.token_known.emit(await self._hub.access.get_api_token())

    @action()
    async def copy_token(self) -> None:
        self.copied.emit(await self._hub.access.get_api_token(), tr("The token is copied"))

    @action()
    async def rotate_token(self) -> None:
        """Replaces the default token; the old one stops working."""
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


class TokenSheets(QObject):
    """The sheets about tokens; an open sheet of any kind stays."""

    def __init__(self, context: PageContext, parent: QObject, *, http: HttpSection, api: ApiSection) -> None:
        super().__init__(parent)
        self._context, self._theme, self._place = context, context.theme, context.sheets
        commands = self.commands = TokenCommands(hub=context.hub, tasks=context.tasks, parent=self)
        api.enabled_requested.connect(commands.set_enabled)
        api.copy_requested.connect(context.copy)
        api.token_requested.connect(commands.show_token)
        api.token_copy_requested.connect(commands.copy_token)
        api.rotation_requested.connect(self._open_rotation)
        api.trust_requested.connect(partial(self._open, is_program=True, is_trusted=True))
        api.distrust_requested.connect(commands.distrust)
        api.tokens.new_requested.connect(partial(self._open, is_program=True))
        api.tokens.revoke_requested.connect(commands.revoke_program)
        http.tokens.new_requested.connect(partial(self._open, is_program=False))
        http.tokens.revoke_requested.connect(commands.revoke_client)
        commands.token_known.connect(api.show_token)
        commands.copied.connect(context.copy)
        commands.failed.connect(api.show_problem)
        commands.done.connect(context.say)
        commands.client_revoked.connect(self._on_client_revoked)
        commands.clients_known.connect(http.tokens.set_tokens)
        commands.programs_known.connect(api.tokens.set_tokens)

    def _on_client_revoked(self, name: str) -> None:
        toast = self._context.offer_undo(tr("The token {name} is revoked", name=name))
        toast.action_requested.connect(partial(self.commands.restore_client, name))

    def _open_rotation(self) -> None:
        """Opens the sheet that confirms a new default token."""
        if self._place.sheet is None:
            panel = NewTokenPanel(self._theme)
            panel.confirmed.connect(self.commands.rotate_token)
            panel.close_requested.connect(self._place.open(panel).dismiss)

    def _open(self, *, is_program: bool, is_trusted: bool = False) -> None:
        if self._place.sheet is not None:
            return
        panel, commands = MakeTokenPanel(self._theme, is_program=is_program, is_trusted=is_trusted), self.commands
        panel.make_requested.connect(commands.make_program if is_program else commands.make_client)
        panel.copy_requested.connect(self._context.copy)
        commands.made.connect(panel.show_token)
        commands.refused.connect(panel.show_refusal)
        sheet = self._place.open(panel)
        commands.made.connect(sheet.hold)
        panel.close_requested.connect(sheet.dismiss)
