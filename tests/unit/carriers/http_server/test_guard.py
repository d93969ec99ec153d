"""guard.py: who may speak to the endpoints."""

import pytest
from multidict import CIMultiDict

from tooltray.carriers.http_server.guard import Guard, Refused, accepted, is_everywhere, is_json, is_loopback


def guard(host: str = "127.0.0.1", port: int = 7717, **options: object) -> Guard:
    return Guard(**{"host": host, "port": port, "requires_token": True, "owner_of": {"right": "one"}.get, **options})  # type: ignore[arg-type]


def is_let_in(guarded: Guard, host: str | None, origin: str | None = None) -> bool:
    try:
        guarded.check_place(host, origin)
    except Refused as refused:
        return refused.status != 403
    return True


@pytest.mark.parametrize("host", ["127.0.0.1:7717", "localhost:7717", "LOCALHOST:7717", "[::1]:7717"])
def test_our_own_names_with_our_port_are_let_in(host: str) -> None:
    assert is_let_in(guard(), host)


@pytest.mark.parametrize(
    "host",
    [
        None,
        "",
        "evil.example:7717",
        "127.0.0.1",
        "127.0.0.1:7718",
        "127.0.0.1:x",
        "127.0.0.1.evil.example:7717",
        "localhost:7717@evil.example",
        "evil@localhost:7717",
        "192.168.1.5:7717",
        "[::1",
        "localhost:7717/path",
    ],
)
def test_other_places_are_not(host: str | None) -> None:
    assert not is_let_in(guard(), host)


def test_the_port_of_http_itself_need_not_be_named() -> None:
    assert is_let_in(guard(port=80), "localhost")


@pytest.mark.parametrize(
    ("host", "name"), [("tools.lan", "tools.LAN:7717"), ("192.168.1.5", "192.168.1.5:7717"), ("[fd00::1]", "[fd00::1]:7717")]
)
def test_the_host_of_the_settings_is_let_in(host: str, name: str) -> None:
    assert is_let_in(guard(host), name)


def test_a_hub_on_every_address_is_reached_by_any_of_them_and_by_no_name() -> None:
    everywhere = guard("0.0.0.0")
    assert is_let_in(everywhere, "192.168.1.5:7717")
    assert is_let_in(everywhere, "localhost:7717")
    assert not is_let_in(everywhere, "evil.example:7717")


@pytest.mark.parametrize("origin", ["http://localhost:7717", "https://127.0.0.1:7717", "http://[::1]:7717"])
def test_our_own_pages_are_let_in(origin: str) -> None:
    assert is_let_in(guard(), "localhost:7717", origin)


def test_the_port_that_a_page_need_not_name_is_that_of_its_scheme() -> None:
    assert is_let_in(guard(port=80), "localhost", "http://localhost")
    assert is_let_in(guard(port=443), "localhost:443", "https://localhost")
    assert not is_let_in(guard(port=80), "localhost", "https://localhost")


def fault_of(*headers: tuple[str, str]) -> int:
    try:
        guard().check(CIMultiDict([("Host", "localhost:7717"), *headers]))
    except Refused as refused:
        return refused.status
    return 0


def test_who_believes_the_first_of_two_headers_and_who_the_last_is_no_question() -> None:
    assert fault_of(("Authorization", "Bearer right")) == 0
    assert fault_of(("Authorization", "Bearer right"), ("authorization", "Bearer right")) == 400
    assert fault_of(("Origin", "http://localhost:7717"), ("Origin", "http://localhost:7717")) == 400
    assert fault_of(("host", "localhost:7717")) == 400
    assert fault_of(("Sec-Fetch-Site", "none"), ("Sec-Fetch-Site", "none")) == 400


@pytest.mark.parametrize(("site", "status"), [("same-origin", 0), ("none", 0), ("same-site", 403), ("cross-site", 403), ("", 403)])
def test_what_a_browser_says_of_the_page_that_asks_is_believed(site: str, status: int) -> None:
    assert fault_of(("Sec-Fetch-Site", site)) == status


@pytest.mark.parametrize(
    "origin",
    [
        *("", "null", "https://evil.example", "file://localhost", "ftp://localhost", "http://localhost:x", "localhost"),
        *("http://localhost:3000", "http://localhost", "https://127.0.0.1", "http://evil.example:7717"),
    ],
)
def test_pages_of_other_places_are_not(origin: str) -> None:
    assert not is_let_in(guard(), "localhost:7717", origin)


def test_a_token_says_whose_it_is() -> None:
    assert guard().owner("Bearer right") == "one"
    assert guard().owner("bearer  right ") == "one"


@pytest.mark.parametrize("authorization", [None, "", "Bearer", "Bearer wrong", "right", "Basic right"])
def test_without_one_nobody_is_let_in(authorization: str | None) -> None:
    with pytest.raises(Refused) as refused:
        guard().owner(authorization)
    assert refused.value.status == 401


def test_where_none_is_needed_a_client_may_still_say_who_it_is() -> None:
    free = guard(requires_token=False)
    assert [free.owner(each) for each in (None, "Bearer wrong", "Bearer right")] == ["", "", "one"]


@pytest.mark.parametrize(
    ("host", "is_own", "is_all"),
    [
        ("127.0.0.1", True, False),
        ("127.8.0.1", True, False),
        ("localhost", True, False),
        ("::1", True, False),
        ("[::1]", True, False),
        ("0.0.0.0", False, True),
        ("::", False, True),
        ("192.168.1.5", False, False),
        ("tools.lan", False, False),
    ],
)
def test_addresses_of_this_machine_alone_are_told_from_others(host: str, is_own: bool, is_all: bool) -> None:
    assert (is_loopback(host), is_everywhere(host)) == (is_own, is_all)


@pytest.mark.parametrize(
    ("header", "expected"),
    [
        (None, (False, False)),
        ("application/json", (True, False)),
        ("text/event-stream; q=0.5, Application/JSON", (True, True)),
        ("*/*", (True, True)),
        ("text/*", (False, True)),
        ("application/*", (True, False)),
    ],
)
def test_what_a_client_accepts_is_read_with_its_wildcards(header: str | None, expected: tuple[bool, bool]) -> None:
    assert accepted(header) == expected


def test_json_is_json_whatever_stands_behind_it() -> None:
    assert is_json("application/json; charset=utf-8")
    assert not is_json("application/json-patch+json")
    assert not is_json(None)
