"""served_routes.py"""

from pathlib import Path

import pytest
from hypothesis import given
from hypothesis import strategies as st
from tests.fakes.heard import Record
from tests.fakes.http_hub import request
from tests.fakes.served_hub import ServedHub, entry, reading, served_hub

from tooltray.carriers.http_server.guard import Refused
from tooltray.carriers.mcp.served_routes import LOOPBACK, Address, Route, ServedTokens, address_for, find
from tooltray.config.foreign_configs.reading import read_file
from tooltray.config.secrets.secrets import SecretStore
from tooltray.config.settings.file_server import Endpoint
from tooltray.foundation.events import ProblemReported
from tooltray.foundation.home.home import Home

FETCH, SECRET_FETCH, OTHER = Route("fetch", "fetch"), Route("fetch/abc", "fetch-abc"), Route("a b", "a-b")
ROUTES = (FETCH, SECRET_FETCH, OTHER)


@pytest.mark.parametrize(
    ("path", "found"),
    [
        ("/x/fetch", (FETCH, "")),
        ("/x/fetch/", (FETCH, "")),
        ("/x/fetch/sse", (FETCH, "sse")),
        ("/x/fetch/abcd", (FETCH, "abcd")),
        ("/x/fetch/abc", (SECRET_FETCH, "")),
        ("/x/fetch/abc/mcp", (SECRET_FETCH, "mcp")),
        ("/x/a b/message", (OTHER, "message")),
        ("/x/fetcher/", None),
        ("/fetch/", None),
        ("/xfetch/", None),
        ("/x/", None),
        ("/", None),
    ],
)
def test_the_longest_name_that_fits_a_path_counts(path: str, found: tuple[Route, str] | None) -> None:
    assert find(path, "/x", ROUTES) == found


def test_without_a_base_path_names_come_first_and_odd_slashes_in_names_do_no_harm() -> None:
    assert find("/fetch/mcp", "", ROUTES) == (FETCH, "mcp")
    odd = Route("/odd//name/", "odd")
    assert find("/odd/name/sse", "", (odd,)) == (odd, "sse")


@given(path=st.text(max_size=30), base=st.sampled_from(["", "/x"]))
def test_no_path_is_too_odd_to_be_looked_up(path: str, base: str) -> None:
    find(path, base, ROUTES)


@pytest.mark.parametrize("shown", ["one", "Bearer one", "bearer one", "  Bearer   one  ", "Bearer two"])
def test_a_token_is_taken_alone_and_behind_bearer(shown: str) -> None:
    route = Route("a", "a", needs_token=True, tokens=("one", "two"))
    assert route.owner(shown) in route.owners


def test_clients_are_told_apart_by_their_tokens_and_nothing_of_a_token_shows() -> None:
    route = Route("a", "a", needs_token=True, tokens=("one", "two"))
    assert route.owner("one") != route.owner("two")
    assert route.owner("one") == route.owner("Bearer one")
    assert "one" not in route.owner("one") + repr(route)


@pytest.mark.parametrize("shown", [None, "", "Bearer", "Bearer ", "On", "one two", "Basic one", "Bearer ones", "\udcff"])
def test_without_a_right_token_nobody_gets_in(shown: str | None) -> None:
    with pytest.raises(Refused) as refused:
        Route("a", "a", needs_token=True, tokens=("one", "two")).owner(shown)
    assert (refused.value.status, refused.value.headers) == (401, {"WWW-Authenticate": "Bearer"})


@pytest.mark.parametrize("shown", [None, "", "Bearer "])
def test_where_a_token_is_needed_and_none_is_known_nobody_gets_in(shown: str | None) -> None:
    with pytest.raises(Refused):
        Route("a", "a", needs_token=True).owner(shown)


def test_where_no_token_is_needed_everybody_is_the_same_client() -> None:
    assert Route("a", "a").owner("Bearer whatever") == Route("a", "a").owner(None) == ""
    assert Route("a", "a").owners == {""}


@pytest.mark.parametrize("host", ["", "0.0.0.0", "192.0.2.7", "::"])
def test_an_endpoint_is_open_to_others_only_if_every_server_asks_for_a_token(host: str) -> None:
    with_token = Route("a", "a", needs_token=True, tokens=("t",))
    assert address_for(Endpoint(host, 9090), [with_token]) == Address(host, 9090)
    assert address_for(Endpoint(host, 9090), [with_token, FETCH]) == Address(LOOPBACK, 9090, ("fetch",))


@pytest.mark.parametrize("host", ["127.0.0.1", "localhost", "::1"])
def test_an_endpoint_of_this_machine_alone_is_open_where_it_asks_to_be(host: str) -> None:
    assert address_for(Endpoint(host, 9090), [FETCH]) == Address(host, 9090)


WITH_SECRETS = entry("fetch", tokens=("plain",), secret_tokens=("${secret:door}", "${PREFIX:-}-${secret:door}"))


async def status(hub: ServedHub, token: str) -> int:
    """What a client gets that shows this."""
    asked = request("initialize", id=0, protocolVersion="2025-11-25")
    return (await hub.client().post(asked, path="/fetch/", headers={"Authorization": token})).status


async def test_a_token_is_what_its_secret_says_and_another_when_that_changes(tmp_path: Path) -> None:
    async with served_hub(tmp_path, reading(WITH_SECRETS)) as hub:
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
        assert problem.title == "a token of 'fetch' gives no access"
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
    await tokens.look([WITH_SECRETS])
    await tokens.look([WITH_SECRETS])
    assert asked.all == ["door"] * 4
    assert tokens.of(WITH_SECRETS) == ("plain", "dummy-one", "p-dummy-one")
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
