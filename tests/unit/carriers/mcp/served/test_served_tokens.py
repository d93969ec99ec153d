"""served_tokens.py: tokens of a served config that name secrets."""

from pathlib import Path

import pytest
from tests.fakes.heard import Record
from tests.fakes.http_hub import request
from tests.fakes.served_hub import ServedHub, entry, reading, served_hub

from tooltray.carriers.mcp.served.served_tokens import ServedTokens
from tooltray.config.foreign_configs.reading import read_file
from tooltray.config.secrets.secrets import SecretStore
from tooltray.foundation.events import ProblemReported
from tooltray.foundation.home.home import Home

FETCH = entry("fetch", tokens=("plain",), secret_tokens=("${secret:door}", "${PREFIX:-}-${secret:door}"))


async def status(hub: ServedHub, token: str) -> int:
    """What a client gets that shows this."""
    asked = request("initialize", id=0, protocolVersion="2025-11-25")
    return (await hub.client().post(asked, path="/fetch/", headers={"Authorization": token})).status


async def test_a_token_is_what_its_secret_says_and_another_when_that_changes(tmp_path: Path) -> None:
    async with served_hub(tmp_path, reading(FETCH)) as hub:
        await hub.secrets.set("door", "dummy-one")
        await hub.listener.start()
        assert hub.listener.problems == ()
        assert [await status(hub, token) for token in ("dummy-one", "Bearer -dummy-one", "plain", "", "${secret:door}")] == [
            *(200, 200, 200),
            *(401, 401),
        ]
        await hub.secrets.set("door", "dummy-two")
        await hub.listener.follow()
        assert [await status(hub, token) for token in ("dummy-one", "dummy-two", "plain")] == [401, 200, 200]
        assert {"dummy-one", "dummy-two"} <= hub.secrets.known_values()


async def test_a_token_whose_secret_is_not_there_opens_nothing_until_it_is(tmp_path: Path) -> None:
    only = entry("fetch", secret_tokens=("${secret:door}",))
    async with served_hub(tmp_path, reading(only)) as hub:
        await hub.listener.start()
        (problem,) = hub.listener.problems
        assert problem.title == "a token of 'fetch' opens nothing"
        assert "server 'fetch' needs it in authTokens" in problem.message
        assert [event.problem for event in hub.heard.of(ProblemReported)] == [problem]
        assert [await status(hub, token) for token in ("", "${secret:door}", "None")] == [401, 401, 401]
        await hub.secrets.set("door", "dummy-one")
        await hub.listener.follow()
        assert await status(hub, "dummy-one") == 200
        assert hub.listener.problems == ()
        await hub.secrets.remove("door")
        await hub.listener.follow()
        assert await status(hub, "dummy-one") == 401


async def test_a_secret_that_changes_while_it_is_read_is_read_again(tmp_path: Path) -> None:
    asked: Record[str] = Record()

    class Changing(SecretStore):
        async def get(self, name: str) -> str:
            asked.add(name)
            if len(asked.all) == 1:
                tokens.forget()
            return await super().get(name)

    secrets = Changing(Home(tmp_path), "memory")
    tokens = ServedTokens(secrets, {"PREFIX": "p"})
    await secrets.set("door", "dummy-one")
    await tokens.look([FETCH])
    await tokens.look([FETCH])
    assert asked.all == ["door"] * 4
    assert tokens.of(FETCH) == ("plain", "dummy-one", "p-dummy-one")
    assert "dummy" not in repr(tokens.__dict__)
    await secrets.close()


@pytest.mark.parametrize("where", ["of all", "of one"])
def test_tokens_with_a_secret_are_left_for_later_wherever_they_stand(tmp_path: Path, where: str) -> None:
    tokens = '"options": {"authTokens": ["$HOST-${secret:door}", "plain", "${secret:door}"]}'
    proxy, server = (tokens, '"command": "a"') if where == "of all" else ('"addr": ":0"', f'"command": "a", {tokens}')
    path = tmp_path / "config.json"
    path.write_text(f'{{"mcpProxy": {{{proxy}}}, "mcpServers": {{"a": {{{server}}}}}}}')
    (found,) = read_file(path, "tbxark").entries
    assert (found.tokens, found.secret_tokens) == (("plain",), ("${HOST:-}-${secret:door}", "${secret:door}"))
    assert "secret_tokens" not in repr(found)
