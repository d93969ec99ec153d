"""backup_key.py: one key in the keyring, made with the first copy."""

import asyncio
from base64 import b64encode
from pathlib import Path

import pytest
from tests.fakes.ai_client_home import ClientHome

from tooltray.config.secrets.secrets import BACKUP_SECRET
from tooltray.sources.clients.backup_key import BackupKeys


async def test_one_key_is_made_and_found_again(tmp_path: Path) -> None:
    home = ClientHome(tmp_path)
    keys = BackupKeys(home.secrets)
    one, other = await asyncio.gather(keys.get_or_make(), keys.get_or_make())
    assert one is not None
    assert one == other == await BackupKeys(home.secrets).get_or_make()
    await home.close()


@pytest.mark.parametrize("value", ["no base64", b64encode(b"short").decode()])
async def test_what_is_no_key_is_not_used(tmp_path: Path, value: str) -> None:
    home = ClientHome(tmp_path)
    await home.secrets.set(BACKUP_SECRET, value)
    assert await BackupKeys(home.secrets).get_or_make() is None
    await home.close()


async def test_a_keyring_that_does_not_answer_gives_none(tmp_path: Path) -> None:
    home = ClientHome(tmp_path)
    home.keyring.error = RuntimeError("locked")
    assert await BackupKeys(home.secrets).get_or_make() is None
    await home.close()
