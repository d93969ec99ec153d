"""The backends in which secrets can be kept: their names, the interface of a vault, and the simplest one, in memory.

Above it: SecretStore, the settings (names only). Below it: the standard library.
"""

from typing import Literal, Protocol

SecretBackend = Literal["keyring", "file", "memory"]


class Vault(Protocol):
    """A backend. Its methods block; call them on one thread only. They raise SecretsAbsent, SecretsLocked or SecretsDenied."""

    def get(self, name: str) -> str | None: ...
    def set(self, name: str, value: str) -> None: ...
    def remove(self, name: str) -> bool: ...
    def names(self) -> list[str]: ...
    def unlock(self, passphrase: str) -> None: ...


class MemoryVault:
    """Names and values in a dictionary, lost when the hub ends: for a person who has no keyring and wants no file."""

    def __init__(self) -> None:
        self._values: dict[str, str] = {}

    def get(self, name: str) -> str | None:
        return self._values.get(name)

    def set(self, name: str, value: str) -> None:
        self._values[name] = value

    def remove(self, name: str) -> bool:
        return self._values.pop(name, None) is not None

    def names(self) -> list[str]:
        return sorted(self._values)

    def unlock(self, passphrase: str) -> None:
        """Does nothing: memory is never locked."""
