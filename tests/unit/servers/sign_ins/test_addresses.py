"""URLs as OAuth requires them, and how near an address is."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.servers.sign_ins.addresses import (
    MAX_URL_CHARACTERS,
    Reach,
    covers,
    host_reach,
    is_safe,
    is_same_issuer,
    origin_of,
    reach_of,
    read_address,
    read_url,
    resource_metadata_urls,
    resource_of,
    server_metadata_urls,
    with_query,
)

THIS_COMPUTER = [
    "127.0.0.1",
    "127.1",
    "2130706433",
    "0x7f.0.0.1",
    "0177.0.0.1",
    "127.0.0.1.",
    "0.0.0.0",
    "0",
    "::1",
    "::",
    "::ffff:127.0.0.1",
    "::127.0.0.1",
    "64:ff9b::7f00:1",
    "2002:7f00:1::",
    "localhost",
    "LOCALHOST.",
    "it.localhost",
]
THIS_NETWORK = [
    "10.0.0.1",
    "192.168.1.1",
    "172.16.0.1",
    "169.254.169.254",
    "100.64.0.1",
    "198.18.0.1",
    "224.0.0.1",
    "255.255.255.255",
    "0xa9fea9fe",
    "fe80::1",
    "fe80::1%eth0",
    "fd00::1",
    "ff02::1",
    "64:ff9b::a00:1",
    "64:ff9b:1::808:808",
    "::ffff:10.0.0.1",
]
INTERNET = ["8.8.8.8", "2606:4700::1111", "64:ff9b::808:808", "a.example", "localhost.example", "127.0.0.1.example", ""]


@pytest.mark.parametrize("url", ["https://a.example", "https://a.example/@owner/mcp", "http://127.0.0.1:80/x?y=1", "https://[::1]:8443/"])
def test_an_absolute_web_address_is_one(url: str) -> None:
    assert read_url(url)


@pytest.mark.parametrize(
    "text",
    [
        None,
        5,
        "",
        "/path",
        "javascript:alert(1)",
        "file:///etc/passwd",
        "https://",
        "https://a:99999/",
        "https://a:0/",
        "https://user@a.example/",
        "https://a.example/#part",
        "https://a.example\\@b.example/",
        "https://a b.example/",
        "https://a.example/\n",
        "https://[::1",
        "https://ä.example/",
        "https://a..example/",
        "https://xn--/",
        f"https://{'a' * 64}.example/",
        "https://a.example/" + "x" * MAX_URL_CHARACTERS,
    ],
)
def test_what_could_mean_another_place_than_it_seems_is_no_address(text: object) -> None:
    assert read_url(text) is None
    assert not is_safe(text, within=Reach.COMPUTER)


@given(st.text())
def test_no_text_is_too_odd_to_be_judged(text: str) -> None:
    read_url(text)
    resource = resource_of(text)
    assert isinstance(resource, str)
    covers(text, "https://a.example/mcp")


@pytest.mark.parametrize(
    ("url", "within", "expected"),
    [
        ("https://a.example/token", Reach.INTERNET, True),
        ("http://a.example/token", Reach.COMPUTER, False),
        ("http://127.0.0.1:1/token", Reach.COMPUTER, True),
        ("http://[::1]:1/token", Reach.COMPUTER, True),
        ("http://localhost/token", Reach.COMPUTER, True),
        ("http://127.0.0.1:1/token", Reach.INTERNET, False),
        ("http://localhost.evil.example/", Reach.COMPUTER, False),
        ("https://127.0.0.1:1/token", Reach.COMPUTER, True),
        ("https://127.0.0.1:1/token", Reach.INTERNET, False),
        ("https://localhost./token", Reach.INTERNET, False),
        ("https://it.localhost/token", Reach.INTERNET, False),
        ("https://[::ffff:127.0.0.1]/token", Reach.INTERNET, False),
        ("https://0.0.0.0/token", Reach.INTERNET, False),
        ("http://0.0.0.0/token", Reach.COMPUTER, False),
        ("https://10.0.0.1/token", Reach.INTERNET, False),
        ("https://10.0.0.1/token", Reach.NETWORK, True),
        ("http://10.0.0.1/token", Reach.COMPUTER, False),
        ("https://127.1/token", Reach.NETWORK, False),
    ],
)
def test_secrets_go_over_https_or_stay_on_this_machine(url: str, within: Reach, expected: bool) -> None:
    assert is_safe(url, within=within) is expected


@pytest.mark.parametrize(
    ("url", "resource"),
    [
        ("https://A.example:443/Mcp?key=secret#x", "https://a.example/Mcp"),
        ("https://user:password@a.example/mcp", "https://a.example/mcp"),
        ("https://a.example/", "https://a.example"),
        ("https://a.example", "https://a.example"),
        (" https://a.example/mcp/ ", "https://a.example/mcp/"),
        ("http://[::1]:8080/mcp", "http://[::1]:8080/mcp"),
        ("https://bücher.example/路?a=b", "https://xn--bcher-kva.example/%E8%B7%AF"),
        ("https://a.example/a%20b", "https://a.example/a%20b"),
        ("https://a.example:port/", ""),
        (f"https://{'ä' * 70}.example/", ""),
    ],
)
def test_what_tokens_are_for_has_no_user_query_or_fragment(url: str, resource: str) -> None:
    assert resource_of(url) == resource


def test_an_origin_has_no_usual_port() -> None:
    assert origin_of("https://a.example:443/x") == "https://a.example"
    assert origin_of("http://a.example:443/x") == "http://a.example:443"


@pytest.mark.parametrize(
    ("resource", "expected"),
    [
        ("https://a.example/team/mcp", True),
        ("https://a.example/team/mcp/", True),
        ("https://a.example/team", True),
        ("https://a.example", True),
        ("https://A.example:443/", True),
        ("https://a.example/tea", False),
        ("https://a.example/team/mcp/deeper", False),
        ("https://b.example/team/mcp", False),
        ("http://a.example/team/mcp", False),
        ("https://a.example:8443/team/mcp", False),
        ("a.example", False),
    ],
)
def test_metadata_are_about_a_server_if_they_are_about_it_or_a_folder_above(resource: str, expected: bool) -> None:
    assert covers(resource, "https://a.example/team/mcp") is expected


def test_a_server_tells_below_its_path_and_at_the_root() -> None:
    below = ["https://a.example/.well-known/oauth-protected-resource/team/mcp", "https://a.example/.well-known/oauth-protected-resource"]
    assert resource_metadata_urls("https://a.example/team/mcp/") == below
    assert resource_metadata_urls("https://a.example") == below[1:]


def test_an_authorization_server_tells_at_three_places_or_two() -> None:
    assert server_metadata_urls("https://a.example/tenant/") == [
        "https://a.example/.well-known/oauth-authorization-server/tenant",
        "https://a.example/.well-known/openid-configuration/tenant",
        "https://a.example/tenant/.well-known/openid-configuration",
    ]
    assert server_metadata_urls("https://a.example") == [
        "https://a.example/.well-known/oauth-authorization-server",
        "https://a.example/.well-known/openid-configuration",
    ]


@pytest.mark.parametrize(
    ("told", "asked", "expected"),
    [
        ("https://a.example/t", "https://a.example/t", True),
        ("https://a.example/", "https://a.example", True),
        ("https://a.example", "https://a.example/", True),
        ("https://a.example/t/", "https://a.example/t", False),
        ("https://a.example:443", "https://a.example", False),
        ("https://A.example", "https://a.example", False),
        ("https://b.example", "https://a.example", False),
        ("https://a.example/?x", "https://a.example/", False),
    ],
)
def test_an_issuer_is_the_same_to_the_character_but_for_a_slash_that_is_a_whole_path(told: str, asked: str, expected: bool) -> None:
    assert is_same_issuer(told, asked) is expected


def test_our_parameters_stand_behind_those_of_the_page_and_win() -> None:
    page = "https://a.example/authorize?tenant=x&state=theirs"
    assert with_query(page, [("state", "ours"), ("scope", "a b")]) == "https://a.example/authorize?tenant=x&state=ours&scope=a+b"


@pytest.mark.parametrize(
    ("host", "reach"),
    [
        *((host, Reach.COMPUTER) for host in THIS_COMPUTER),
        *((host, Reach.NETWORK) for host in THIS_NETWORK),
        *((host, Reach.INTERNET) for host in INTERNET),
    ],
)
def test_a_host_is_as_near_as_its_address_in_any_spelling(host: str, reach: Reach) -> None:
    assert host_reach(host) is reach


def test_an_address_of_a_tunnel_is_where_its_client_is() -> None:
    teredo = ipaddress.IPv6Address("2001:0:4136:e378:8000:63bf:80ff:fffe")  # RFC 4380; the client's address is inverted: 127.0.0.1
    assert teredo.teredo is not None
    assert reach_of(teredo) is Reach.COMPUTER


@given(st.text())
def test_every_text_is_judged(host: str) -> None:
    assert host_reach(host) in Reach
    read_address(host)
