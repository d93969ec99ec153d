"""publish/http_guard.py: who may speak to the endpoints."""

import pytest

from tooltray.publish.http_guard import Guard, Refused, accepted, is_everywhere, is_json, is_loopback


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


@pytest.mark.parametrize("origin", ["http://localhost:3000", "https://127.0.0.1", "http://[::1]:7717"])
def test_pages_of_this_machine_are_let_in(origin: str) -> None:
    assert is_let_in(guard(), "localhost:7717", origin)


@pytest.mark.parametrize(
    "origin", ["", "null", "https://evil.example", "file://localhost", "ftp://localhost", "http://localhost:x", "localhost"]
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
