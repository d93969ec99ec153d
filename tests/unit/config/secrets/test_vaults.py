import pytest

from tooltray.config.secrets.vaults import MemoryVault, SecretMissing, SecretsAbsent, SecretsDenied, SecretsLocked, missing
from tooltray.foundation.errors import Problem, TooltrayError


def test_what_was_stored_is_there_until_it_is_removed() -> None:
    vault = MemoryVault()
    vault.set("b", "1")
    vault.set("a", "2")
    vault.set("b", "3")
    assert (vault.get("b"), vault.names()) == ("3", ["a", "b"])
    assert vault.remove("b")
    assert not vault.remove("b")
    assert (vault.get("b"), vault.names()) == (None, ["a"])


def test_there_is_nothing_to_unlock_and_no_value_in_its_repr() -> None:
    vault = MemoryVault()
    vault.unlock("anything")
    vault.set("a", "hunter2")
    assert "hunter2" not in repr(vault)


def test_a_missing_secret_says_who_needs_it_and_how_to_store_it() -> None:
    error = missing("my files/KEY", "server 'files' needs it in env.KEY")
    assert isinstance(error, SecretMissing)
    assert error.problem == Problem(
        "There is no secret 'my files/KEY'",
        "server 'files' needs it in env.KEY",
        "Store it: tooltray secrets set 'my files/KEY'",
        "secret_missing",
    )


@pytest.mark.parametrize("kind", [SecretMissing, SecretsAbsent, SecretsDenied, SecretsLocked])
def test_each_kind_is_caught_alone_and_together(kind: type[TooltrayError]) -> None:
    others = {SecretMissing, SecretsAbsent, SecretsDenied, SecretsLocked} - {kind}
    assert issubclass(kind, TooltrayError)
    assert not any(issubclass(kind, other) for other in others)
