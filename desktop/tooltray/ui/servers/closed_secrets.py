"""Finds out whether servers fail since secrets cannot be read, and shows that above the pages, with the ways out."""

from collections.abc import Callable

from PySide6.QtCore import QObject

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.events import SecretsChanged
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.ui.kit.destinations import Settings
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.secrets_help import open_secrets
from tooltray.ui.kit.view import View


class ClosedSecrets(QObject, View):
    """The notice about secrets that cannot be read.

    Args:
        restart: restarts a server, by its name.
    """

    def __init__(self, context: PageContext, parent: QObject, *, restart: Callable[[str], object]) -> None:
        super().__init__(parent)
        self.context, self._restart = context, restart
        self._is_checking = self._are_closed = False
        context.servers.server_changed.connect(self._on_server_changed)
        context.hub.on_any((SecretsChanged,), self._on_secrets_changed, self)
        context.notices.secrets_choice_requested.connect(self._on_choice)
        context.wishes.unlock_requested.connect(self._on_unlock)

    async def open(self, kind: str, passphrase: str) -> None:
        """Carries out what `SecretsHelp` requests, and restarts the servers that have failed.

        Args:
            kind: another place: "keyring", "file" or "memory"; empty: the place stays.
            passphrase: opens the file, or becomes its passphrase if the file is new.

        Raises:
            TooltrayError: the secrets cannot be used.
        """
        await open_secrets(self.hub, kind, passphrase)
        self._show(None)
        for server in self.context.servers.servers:
            if server.state is ServerState.ERROR:
                self._restart(server.name)

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
        self.run(self.open(kind, passphrase), show=self._show_failure)

    def _show_failure(self, problem: Problem | None) -> None:
        if problem is not None:
            self._show(problem)

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
