"""The key with which copies of AI clients' files are encrypted: one secret in the keyring, made with the first copy.

Above it: client_edits. Below it: SecretStore.
"""

import asyncio
import os
from base64 import b64decode, b64encode

from tooltray.config.secrets.secrets import BACKUP_SECRET, SecretStore
from tooltray.config.secrets.vaults import SecretMissing
from tooltray.foundation.errors import TooltrayError
from tooltray.sources.clients.change_store import KEY_BYTES, BackupKey


class BackupKeys:
    """Belongs to one event loop."""

    def __init__(self, secrets: SecretStore) -> None:
        self._secrets = secrets
        self._lock = asyncio.Lock()  # two changes at once make one key

    async def get_or_make(self) -> BackupKey | None:
        """The key, made if there is none yet; None: no place keeps it, or the person does not unlock it."""
        if self._secrets.kind == "memory":  # it would be gone before the copy is needed
            return None
        async with self._lock:
            try:
                try:
                    return _decoded(await self._secrets.get(BACKUP_SECRET))
                except SecretMissing:
                    value = b64encode(os.urandom(KEY_BYTES)).decode()
                    await self._secrets.set(BACKUP_SECRET, value)
                    return _decoded(value)
            except TooltrayError:
                return None


def _decoded(value: str) -> BackupKey | None:
    """The key of its text; None: somebody has written something else there."""
    try:
        key = b64decode(value, validate=True)
    except ValueError:
        return None
    return BackupKey(key) if len(key) == KEY_BYTES else None
