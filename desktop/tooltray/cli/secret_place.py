"""The place of secrets, for commands that store some: checked before the user types them."""

import json
import os
from collections.abc import Callable, Sequence
from functools import partial
from typing import TypeVar

from tooltray.cli.hubs import Hub, any_hub
from tooltray.cli.person import ask_for_passphrase, ask_for_secrets, is_person_there
from tooltray.config.secrets.secrets import PASSPHRASE_VARIABLE
from tooltray.config.secrets.vaults import SecretsLocked
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home
from tooltray.foundation.regular_file import read_regular

KEYRING_TIMEOUT_S = None  # the keyring may show a dialog and wait for the user

T = TypeVar("T")


class SecretPlace:
    """The keyring, the encrypted file or the memory of one home. The passphrase of a locked file is asked for once."""

    def __init__(self, home: Home) -> None:
        self._home = home
        self._passphrase = ""  # for each unstarted hub that this command opens
        self._check: Callable[[], None] = self._first_check

    def ask(self, names: Sequence[str], *, from_stdin: bool = False) -> dict[str, str]:
        """Asks for secrets (see `ask_for_secrets`) after checking that they can be stored.

        Raises:
            TooltrayError: they cannot be stored, or a value is missing.
        """
        if names:
            self.check()
        return ask_for_secrets(names, from_stdin=from_stdin)  # no lock is held while the user types

    def check(self) -> None:
        """Checks once for all secrets of a command that they can be stored: a locked keyring shows one prompt.

        Raises:
            TooltrayError: secrets cannot be stored; the error gives the reason.
        """
        self._check()

    def _first_check(self) -> None:
        self._check = lambda: None
        self._passphrase = os.environ.get(PASSPHRASE_VARIABLE, "")  # the hub of this check removes it
        try:
            self.run(lambda hub: hub.ask(hub.api.secrets.check_secrets(), timeout_s=KEYRING_TIMEOUT_S))
        except TooltrayError as error:
            self._check = partial(_fail, error)
            raise

    def run(self, action: Callable[[Hub], T]) -> T:
        """Runs an action that touches secrets; if the encrypted file is locked, asks for its passphrase and runs the action again.

        The error of a running hub describes how to unlock it. No lock is held while the user types.
        """
        try:
            return self._tried(action)
        except SecretsLocked:
            if chosen_backend(self._home) != "file" or not is_person_there():
                raise
        self._passphrase = ask_for_passphrase(is_new=not self._home.secrets_file.exists())
        return self._tried(action, is_typed=True)

    def _tried(self, action: Callable[[Hub], T], *, is_typed: bool = False) -> T:
        with any_hub(self._home) as hub:
            if is_typed or (self._passphrase and not hub.is_running):
                hub.ask(hub.api.secrets.unlock_secrets(passphrase=self._passphrase))
            return action(hub)


def _fail(error: TooltrayError) -> None:
    raise error


def with_secrets(home: Home, action: Callable[[Hub], T]) -> T:
    """Runs an action that touches secrets, see SecretPlace."""
    return SecretPlace(home).run(action)


def chosen_backend(home: Home) -> str | None:
    """Returns the backend in the settings; None if nothing is chosen. Only reads the file: a running hub is its only writer."""
    try:
        settings = json.loads(read_regular(home.settings))
        kind = settings["secrets"]["backend"]
    except (OSError, ValueError, KeyError, TypeError, RecursionError):
        return None
    return kind if isinstance(kind, str) else None
