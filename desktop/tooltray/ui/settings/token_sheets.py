"""The tokens on the Settings page, of AI clients and of programs, and the sheet in which one is made.

Above it: the window, which lends the place for a sheet. Below it: the page's sections, the sheet, and TokenCommands.
"""

from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import QObject

from tooltray.ui.pages.page_context import PageContext
from tooltray.ui.settings.make_token import MakeTokenPanel
from tooltray.ui.settings.new_token import NewTokenPanel
from tooltray.ui.settings.token_commands import TokenCommands

if TYPE_CHECKING:
    from tooltray.ui.settings.settings_page import SettingsPage


class TokenSheets(QObject):
    """Joins them; an open sheet of any kind stays."""

    def __init__(self, context: PageContext, page: "SettingsPage") -> None:
        super().__init__(page)
        self._context, self._theme, self._place = context, context.theme, context.sheets
        commands = self.commands = TokenCommands(hub=context.hub, tasks=context.tasks)
        section = page.api
        section.enabled_requested.connect(commands.set_enabled)
        section.copy_requested.connect(context.copy)
        section.token_requested.connect(commands.show_token)
        section.token_copy_requested.connect(commands.copy_token)
        section.rotation_requested.connect(self._open_rotation)
        section.trust_requested.connect(partial(self._open, is_program=True, is_trusted=True))
        section.distrust_requested.connect(commands.distrust)
        section.tokens.new_requested.connect(partial(self._open, is_program=True))
        section.tokens.revoke_requested.connect(commands.revoke_program)
        page.client_tokens.new_requested.connect(partial(self._open, is_program=False))
        page.client_tokens.revoke_requested.connect(commands.revoke_client)
        page.look_requested.connect(commands.look)
        commands.http_changed.connect(page.show_http)
        commands.token_known.connect(section.show_token)
        commands.copied.connect(context.copy)
        commands.failed.connect(section.show_fault)
        commands.done.connect(context.say)
        commands.clients_known.connect(page.client_tokens.set_tokens)
        commands.programs_known.connect(section.tokens.set_tokens)

    def _open_rotation(self) -> None:
        """Asks whether programs are to get another default token."""
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
