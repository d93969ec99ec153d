"""api_tokens.py: what makes a token trusted is kept among the secrets, and lasts for a run where it cannot be."""

from pathlib import Path

import pytest
from tests.fakes.set_clock import SetClock

from tooltray.config.secrets.keyring_vault import SystemKeyring
from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.secrets.vaults import SecretsAbsent
from tooltray.consent.tokens.api_tokens import TRUSTED_SECRET, TrustedTokens
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.home.home import Home


def without_keyring() -> SystemKeyring:
    raise SecretsAbsent("no keyring found here")


def store(home: Home, *, has_keyring: bool = True) -> SecretStore:
    return SecretStore(home, "file", passphrase="x") if has_keyring else SecretStore(home, open_keyring=without_keyring)


@pytest.fixture
def home(tmp_path: Path) -> Home:
    found = Home(tmp_path / "home")
    found.prepare()
    return found


async def test_what_is_trusted_stands_among_the_secrets_and_is_known_after_a_restart(home: Home) -> None:
    secrets = store(home)
    trusted = TrustedTokens(secrets)
    assert await trusted.add("d1")
    assert await trusted.add("d2", 2e9)
    assert (await trusted.has("d1"), await trusted.has("d3")) == (True, False)
    await secrets.close()
    again_secrets = store(home)
    again = TrustedTokens(again_secrets)
    assert await again.has("d2")
    await again.remove(["d1", "other"])
    await again.remove([])
    assert (await again.has("d1"), await again.has("d2")) == (False, True)
    await again_secrets.close()


async def test_trust_ends_with_the_token_whatever_a_file_says(home: Home) -> None:
    clock = SetClock(1000.0)
    for has_keyring in (True, False):
        secrets = store(home, has_keyring=has_keyring)
        trusted = TrustedTokens(secrets, clock=clock)
        await trusted.add("d1", clock.now + 60)
        assert await trusted.has("d1")
        clock.now += 60
        assert not await trusted.has("d1")
        await secrets.close()


async def test_without_a_place_for_secrets_a_token_is_trusted_for_this_run_alone(home: Home) -> None:
    secrets = store(home, has_keyring=False)
    trusted = TrustedTokens(secrets)
    assert await trusted.add("d1") is False
    assert (await trusted.has("d1"), await trusted.has("d2")) == (True, False)
    with pytest.raises(TooltrayError, match="no keyring"):
        await trusted.remove(["d1"])
    assert not await trusted.has("d1")
    assert not await TrustedTokens(secrets).has("d1")
    await secrets.close()


async def test_memory_keeps_trust_until_the_hub_ends(home: Home) -> None:
    secrets = SecretStore(home, "memory")
    trusted = TrustedTokens(secrets)
    assert await trusted.add("d1") is False
    assert await trusted.has("d1")
    await secrets.close()


async def test_what_makes_no_sense_there_trusts_nothing(home: Home) -> None:
    secrets = SecretStore(home, "memory")
    for odd in ("{", '["d1"]', '{"d1": "for ever"}'):
        await secrets.set(TRUSTED_SECRET, odd)
        assert not await TrustedTokens(secrets).has("d1")
    await secrets.close()
