"""Secrets that last as long as the hub: for a person who has no keyring and wants no file.

Above it: SecretStore. Below it: nothing.
"""


class MemoryVault:
    """Names and values in a dictionary; gone when the hub ends."""

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
        """Nothing is locked in here."""
