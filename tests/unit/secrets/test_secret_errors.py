import pytest

from tooltray.errors import Problem, TooltrayError
from tooltray.secrets.secret_errors import SecretMissing, SecretsAbsent, SecretsDenied, SecretsLocked, missing


def test_a_missing_secret_says_who_needs_it_and_how_to_store_it() -> None:
    error = missing("my files/KEY", "server 'files' needs it in env.KEY")
    assert isinstance(error, SecretMissing)
    assert error.problem == Problem(
        "There is no secret 'my files/KEY'", "server 'files' needs it in env.KEY", "Store it: tooltray secrets set 'my files/KEY'"
    )


@pytest.mark.parametrize("kind", [SecretMissing, SecretsAbsent, SecretsDenied, SecretsLocked])
def test_each_kind_is_caught_alone_and_together(kind: type[TooltrayError]) -> None:
    others = {SecretMissing, SecretsAbsent, SecretsDenied, SecretsLocked} - {kind}
    assert issubclass(kind, TooltrayError)
    assert not any(issubclass(kind, other) for other in others)
