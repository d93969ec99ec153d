"""Secrets in the keyring of the operating system, through the `keyring` library.

SecretStore calls this only on its worker thread, because every call may block on a prompt. The backend is taken from a list of our own,
never from `keyring.get_keyring()`: with the wrong package installed, or a line in a configuration file, that may be a plain text file.
Names are stored in a file, because a keyring cannot list its entries.
"""

import importlib
import json
import logging
import sys
from collections.abc import Callable, Iterable, Iterator, Mapping
from contextlib import suppress
from pathlib import Path
from typing import Protocol, TypeVar

from tooltray.config.secrets.vaults import SecretsAbsent, SecretsDenied, SecretsLocked
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.atomic_file import write_atomically
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.regular_file import read_regular

logger = logging.getLogger(__name__)

CHECKED_NAME = "tooltray-check"  # a secret that need not exist

T = TypeVar("T")

SERVICE = "tooltray"

# platform -> module and class of the one backend that is used there
ALLOWED = {
    "linux": ("keyring.backends.SecretService", "Keyring"),
    "darwin": ("keyring.backends.macOS", "Keyring"),
    "win32": ("keyring.backends.Windows", "WinVaultKeyring"),
}

CHOOSE = Phrase("Install a keyring (gnome-keyring, KWallet), or choose another place: tooltray secrets backend file (or memory)")
UNLOCK = Phrase("Unlock the keyring of your desktop session and try again, or choose another place: tooltray secrets backend file")
ANSWER = Phrase("Try again and enter the keyring's password in its prompt, or choose another place: tooltray secrets backend file")
NO_SERVICE = {
    "linux": Phrase("no keyring service runs in this session (gnome-keyring, KWallet, ...)"),
    "darwin": Phrase("the keychain does not answer"),
    "win32": Phrase("the Windows credential store does not answer"),
}
NONE, LOCKED = Phrase("No keyring found"), Phrase("The keyring is locked")
ALLOW = Phrase("Allow Tooltray to use the keyring in your system's settings, and try again")

# the libraries' errors by name, since each library is installed on one platform only; D-Bus errors have names of their own
_LOCKED = {"KeyringLocked", "LockedException", "PromptDismissedException", "TimeoutError", "org.freedesktop.Secret.Error.IsLocked"}
_DISMISSED = {"PromptDismissedException", "TimeoutError"}
_DENIED = {"KeychainDenied", "SecAuthFailure", "PasswordSetError", "PasswordDeleteError", "org.freedesktop.DBus.Error.AccessDenied"}
_ABSENT = {"NoKeyringError", "InitError", "SecretServiceNotAvailableException", "ImportError", "OSError"}


class SystemKeyring(Protocol):
    """The methods of a `keyring` backend that are used."""

    def get_password(self, service: str, username: str) -> str | None: ...
    def set_password(self, service: str, username: str, password: str) -> None: ...
    def delete_password(self, service: str, username: str) -> None: ...


def open_system_keyring(platform: str = sys.platform, allowed: Mapping[str, tuple[str, str]] = ALLOWED) -> SystemKeyring:
    """Returns the keyring of this platform.

    Args:
        platform: as `sys.platform` names it.
        allowed: module and class of the one backend per platform.

    Raises:
        SecretsAbsent: the system has no keyring, or it does not answer.
    """
    try:
        module, name = allowed[platform]
    except KeyError:
        raise SecretsAbsent(NONE, Phrase("none is known for {platform}", platform=platform), CHOOSE) from None
    try:
        backend = getattr(importlib.import_module(module), name)
        backend.priority  # noqa: B018 - reading it checks that the service answers
        keyring: SystemKeyring = backend()
    except Exception as error:  # lane 1 begins here: third-party code reports a missing service by all kinds of errors
        logger.info("no keyring: %s: %s", type(error).__name__, error)
        raise SecretsAbsent(NONE, NO_SERVICE[platform], CHOOSE) from None
    if not is_allowed(keyring, allowed):
        reason = Phrase("{module} is not on Tooltray's list", module=type(keyring).__module__)
        raise SecretsAbsent(Phrase("No secure keyring found"), reason, CHOOSE)
    return keyring


def is_allowed(keyring: object, allowed: Mapping[str, tuple[str, str]] = ALLOWED) -> bool:
    """Returns whether a backend's class is on the list; a subclass, or another class of the same name, is not."""
    return (type(keyring).__module__, type(keyring).__qualname__) in allowed.values()


class KeyringVault:
    """Values in the keyring under the service `tooltray`, names in a file.

    Args:
        names_file: where the names are stored, as a JSON list.
        open_keyring: returns the keyring; called at the first use, and again as long as it fails.
    """

    def __init__(self, names_file: Path, open_keyring: Callable[[], SystemKeyring]) -> None:
        self._names_file = names_file
        self._open_keyring = open_keyring
        self._keyring: SystemKeyring | None = None

    def check(self) -> None:
        self.get(CHECKED_NAME)

    def get(self, name: str) -> str | None:
        return self._call(lambda keyring: keyring.get_password(SERVICE, name))

    def read(self, service: str, name: str) -> str | None:
        """Returns an entry of another program."""
        return self._call(lambda keyring: keyring.get_password(service, name))

    def set(self, name: str, value: str) -> None:
        names = {*self.names(), name}
        self._call(lambda keyring: keyring.set_password(SERVICE, name, value), value)
        self._write_names(names)

    def remove(self, name: str) -> str | None:
        names = {*self.names()} - {name}
        value = self.get(name)
        if value is not None:
            self._call(lambda keyring: keyring.delete_password(SERVICE, name))
        self._write_names(names)
        return value

    def names(self) -> list[str]:
        """Returns the names of the stored secrets. A malformed file is set aside; the secrets themselves are still in the keyring."""
        try:
            names = json.loads(read_regular(self._names_file))
            return sorted({str(name) for name in list(names)})
        except FileNotFoundError:
            return []
        except OSError as error:
            raise SecretsDenied(Phrase("The names of the secrets cannot be read"), f"{self._names_file}: {error.strerror}") from None
        except (ValueError, TypeError, RecursionError):
            self._set_names_aside()
            return []

    def unlock(self, passphrase: str) -> None:
        """Does nothing: a keyring unlocks itself, with a prompt of its own."""

    def _call(self, call: Callable[[SystemKeyring], T], value: str = "") -> T:
        """Calls the keyring, and converts its errors; `value` is a secret that must not be in their text."""
        if self._keyring is None:
            self._keyring = self._open_keyring()
        try:
            return call(self._keyring)
        except Exception as error:  # lane 1 begins here: backends raise whatever their platform's library raises
            raise _classified(error, value) from None

    def _write_names(self, names: Iterable[str]) -> None:
        try:
            write_atomically(self._names_file, json.dumps(sorted(names), indent=2).encode())
        except OSError as error:
            message = Phrase("{names_file}: {reason}; the keyring itself was changed", names_file=self._names_file, reason=error.strerror)
            raise SecretsDenied(Phrase("The list of secret names could not be written"), message) from None

    def _set_names_aside(self) -> None:
        aside = self._names_file.with_name(self._names_file.name + ".broken")
        logger.warning("the list of secret names was broken and is now %s; the secrets themselves are not lost", aside)
        with suppress(OSError):
            self._names_file.replace(aside)


def _classified(error: Exception, value: str) -> TooltrayError:
    """Returns our error for one of the library; the library's own text goes to the log."""
    text = str(error).replace(value, "***") if value else str(error)
    logger.info("the keyring failed: %s: %s", type(error).__name__, text)
    for cause in reversed(list(_causes(error))):  # the innermost knows best: keyring says "locked" of a keychain that denied
        if cause & _DENIED:
            return SecretsDenied(Phrase("The keyring refused"), text, ALLOW)
        if cause & _DISMISSED:
            return SecretsLocked(LOCKED, Phrase("its prompt was closed or not answered"), ANSWER)
        if cause & _LOCKED:
            return SecretsLocked(LOCKED, Phrase("it was not unlocked"), UNLOCK)
        if cause & _ABSENT:
            return SecretsAbsent(NONE, NO_SERVICE.get(sys.platform, ""), CHOOSE)
    return SecretsDenied(Phrase("The keyring failed"), text, ALLOW)


def _causes(error: BaseException | None) -> Iterator[set[str]]:
    """Yields for an error and each of its causes: the names of its classes, and its D-Bus name if it has one."""
    while error is not None:
        yield {kind.__name__ for kind in type(error).__mro__} | {str(getattr(error, "name", ""))}
        error = error.__cause__
