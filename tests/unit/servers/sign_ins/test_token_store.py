import json
from pathlib import Path
from typing import Any

import pytest
from msgspec.structs import replace
from tests.unit.servers.sign_ins.test_server_access import GOOD

from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.secrets.vaults import SecretsLocked
from tooltray.foundation.home.home import Home
from tooltray.servers.sign_ins.tokens import TokenStore


class CountedSecrets(SecretStore):
    """Notes what is asked of it.

    Attributes:
        error: raised by everything.
    """

    def __init__(self, home: Home) -> None:
        super().__init__(home, "memory")
        self.asked: list[str] = []
        self.error: Exception | None = None

    async def _run(self, call: Any, **how: Any) -> Any:
        if self.error:
            raise self.error
        return await super()._run(call, **how)

    async def get(self, name: str) -> str:
        self.asked.append(name)
        return await super().get(name)


@pytest.fixture
async def secrets(tmp_path: Path) -> Any:
    store = CountedSecrets(Home(tmp_path))
    yield store
    await store.close()


async def test_tokens_come_back_under_their_binding_and_under_no_other(tmp_path: Path, secrets: CountedSecrets) -> None:
    path = tmp_path / "sign-ins.json"
    await TokenStore(path, secrets).save("far", "one", GOOD)
    store = TokenStore(path, secrets)
    assert store.kept == {"far": "one"}
    assert await store.load("far", "two") is None
    assert await store.load("near", "one") is None
    assert secrets.asked == []  # no keyring is opened for nothing
    assert await store.load("far", "one") == GOOD
    assert secrets.asked == ["oauth/far"]


async def test_the_list_holds_no_token(tmp_path: Path, secrets: CountedSecrets) -> None:
    path = tmp_path / "sign-ins.json"
    await TokenStore(path, secrets).save("far", "one", GOOD)
    assert json.loads(path.read_text()) == {"far": "one"}


async def test_what_is_forgotten_is_gone_from_both_and_forgetting_nothing_asks_nobody(tmp_path: Path, secrets: CountedSecrets) -> None:
    store = TokenStore(tmp_path / "sign-ins.json", secrets)
    await store.save("far", "one", GOOD)
    await store.forget("far")
    assert (store.kept, await secrets.names()) == ({}, [])
    secrets.error = SecretsLocked("The keyring is locked")
    await store.forget("far")


async def test_what_cannot_be_reached_stays_on_the_list(tmp_path: Path, secrets: CountedSecrets) -> None:
    store = TokenStore(tmp_path / "sign-ins.json", secrets)
    await store.save("far", "one", GOOD)
    secrets.error = SecretsLocked("The keyring is locked")
    for attempt in (store.forget("far"), store.load("far", "one"), store.save("far", "two", GOOD)):
        with pytest.raises(SecretsLocked):
            await attempt
    assert store.kept == {"far": "one"}


async def test_what_no_version_wrote_is_taken_off_the_list(tmp_path: Path, secrets: CountedSecrets) -> None:
    store = TokenStore(tmp_path / "sign-ins.json", secrets)
    await store.save("far", "one", GOOD)
    await secrets.set("oauth/far", "scribble")
    assert await store.load("far", "one") is None
    assert store.kept == {}


async def test_tokens_are_hidden_with_those_just_before_them_and_what_is_older_is_let_go(tmp_path: Path, secrets: CountedSecrets) -> None:
    store = TokenStore(tmp_path / "sign-ins.json", secrets)
    for number in range(5):
        await store.save("far", "one", replace(GOOD, access_token=f"token-{number}"))
    known = secrets.known_values()
    assert {"token-3", "token-4", "renewing"} <= known
    assert not {"token-1", "token-2"} & known
    assert len(known) < 10


async def test_what_is_not_wanted_any_more_when_its_turn_comes_is_not_stored(tmp_path: Path, secrets: CountedSecrets) -> None:
    store = TokenStore(tmp_path / "sign-ins.json", secrets)
    await store.save("far", "one", GOOD, is_wanted=lambda: False)
    assert (dict(store.kept), await secrets.names()) == ({}, [])


@pytest.mark.parametrize("content", ["no json", "[]", '{"far": 1}', None])
def test_a_list_that_cannot_be_read_is_empty(tmp_path: Path, content: str | None) -> None:
    path = tmp_path / "sign-ins.json"
    if content is None:
        path.mkdir()
    else:
        path.write_text(content)
    secrets: Any = None
    assert TokenStore(path, secrets).kept == {}
