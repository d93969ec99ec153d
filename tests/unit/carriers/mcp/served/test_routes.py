"""routes.py: paths, tokens and where an endpoint may be open."""

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.carriers.http_server.guard import Refused
from tooltray.carriers.mcp.served.routes import LOOPBACK, Address, Route, address_for, find
from tooltray.config.settings.file_server import Endpoint

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
