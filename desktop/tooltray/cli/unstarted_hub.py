"""The API of a hub that is not started, for commands. Imported only where no hub runs: it costs what pydantic costs."""

import asyncio
import contextvars
import os
from collections.abc import Callable, Coroutine
from typing import TypeVar

from tooltray.app.unstarted_api import unstarted_api
from tooltray.app.unstarted_parts import UnstartedParts
from tooltray.carriers.control.control_client import CALL_TIMEOUT_S
from tooltray.cli.hubs import Hub
from tooltray.cli.person import ask_to_confirm
from tooltray.cli.terminal import print_note
from tooltray.foundation.confirmation import NeedsPassphrase, asked_by
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase

T = TypeVar("T")


class UnstartedHub(Hub):
    """An API over the files of a home. The code that makes one holds the hub's lock."""

    is_running = False

    def __init__(self, home: Home, release: Callable[[], None], *, is_at_terminal: bool) -> None:
        """Reads the settings.

        Args:
            release: frees the lock; called by `close`.
            is_at_terminal: a user has typed the command at a terminal.
        """
        self._release, self._runner = release, asyncio.Runner()
        self._parts = UnstartedParts(home, print_note)
        self._asker = self._parts.consent.command(pid=os.getpid(), is_at_terminal=is_at_terminal)
        self._asker.type_passphrase = lambda: ask_to_confirm(NeedsPassphrase(Phrase("This needs the passphrase")))
        self.api = unstarted_api(self._parts)
        try:
            self._runner.run(self._parts.load())
        except BaseException:
            self.close()
            raise

    def ask(self, verb: Coroutine[object, None, T], *, timeout_s: float | None = CALL_TIMEOUT_S) -> T:
        """Runs a verb to its end; files need no limit, and a keyring's dialog waits for the user."""
        with asked_by(self._asker):
            return self._runner.run(verb, context=contextvars.copy_context())

    def close(self) -> None:
        """Frees the lock, even if closing the parts fails. May be called once."""
        try:
            self._runner.run(self._parts.close())
            self._runner.close()
        finally:
            self._release()
