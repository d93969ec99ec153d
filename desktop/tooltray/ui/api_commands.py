"""Carries out what a person asks for about programs that control Tooltray over HTTP, and says how it went.

Above it: the window, whose Settings page it serves. Below it: the Qt presenter layer. Knows no widget, and keeps no token.
"""

from collections.abc import Callable, Coroutine
from typing import Any

from PySide6.QtCore import QObject, Signal

from tooltray.errors import TooltrayError
from tooltray.tasks import TaskKeeper
from tooltray.ui.i18n import tr
from tooltray.ui.presenter.qt_mcp_presenter import QtMcpPresenter


class ApiCommands(QObject):
    http_changed = Signal(object)  # HttpStatus
    token_known = Signal(str)  # to be shown, since a person has asked for it
    copied = Signal(str, str)  # text for the clipboard; what it is
    failed = Signal(object)  # Problem, or None once it is over
    done = Signal(str)  # what was done, to be said in passing

    def __init__(self, *, hub: QtMcpPresenter, tasks: TaskKeeper) -> None:
        super().__init__()
        self._hub, self._tasks = hub, tasks

    def set_enabled(self, is_on: bool) -> None:
        """Lets programs in, or no more. Whether they are trusted stays as it is."""
        self._do(self._set, is_on, None)

    def set_trusted(self, is_trusted: bool) -> None:
        """Lets programs that get in decide in the person's place, or no more."""
        self._do(self._set, True, is_trusted)

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
            await self._hub.set_api_enabled(is_on, is_trusted)
        finally:
            self.http_changed.emit(await self._hub.get_http_status())  # the switches then stand where they truly are

    async def _show_token(self) -> None:
        self.token_known.emit(await self._hub.get_api_token())

    async def _copy_token(self) -> None:
        self.copied.emit(await self._hub.get_api_token(), tr("The token is copied"))

    async def _rotate_token(self) -> None:
        self.token_known.emit(await self._hub.rotate_api_token())
        self.done.emit(tr("The token is another one now"))

    def _do(self, verb: Callable[..., Coroutine[Any, Any, None]], *arguments: object) -> None:
        self._tasks.spawn(self._reported(verb, arguments), name=f"programs: {verb.__name__}")

    async def _reported(self, verb: Callable[..., Coroutine[Any, Any, None]], arguments: tuple[object, ...]) -> None:
        try:
            await verb(*arguments)
        except TooltrayError as error:
            self.failed.emit(error.problem)
        else:
            self.failed.emit(None)
