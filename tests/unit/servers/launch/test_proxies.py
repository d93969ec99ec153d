"""Which proxy leads to a URL."""

import pytest
from yarl import URL

from tooltray.servers.launch.program_launch import CannotStart
from tooltray.servers.launch.proxies import proxy_for

PROXY = "http://proxy.example:3128"


def proxy_of(url: str, **environ: str) -> str | None:
    found = proxy_for(URL(url), environ)
    return str(found) if found else None


def test_each_kind_of_url_has_its_own_variable_and_one_is_for_all() -> None:
    assert proxy_of("https://far.example/", HTTPS_PROXY=PROXY) == PROXY
    assert proxy_of("http://far.example/", HTTPS_PROXY=PROXY) is None
    assert proxy_of("http://far.example/", ALL_PROXY=PROXY) == PROXY
    assert proxy_of("http://far.example/") is None


def test_lower_case_counts_first() -> None:
    assert proxy_of("http://far.example/", http_proxy=PROXY, HTTP_PROXY="http://other:1") == PROXY


def test_a_proxy_without_a_scheme_is_an_http_proxy() -> None:
    assert proxy_of("http://far.example/", http_proxy="proxy.example:3128") == PROXY


@pytest.mark.parametrize("host", ["localhost", "LOCALHOST", "127.0.0.1", "127.8.8.8", "[::1]", "x.localhost"])
def test_this_machine_is_never_reached_through_a_proxy(host: str) -> None:
    assert proxy_of(f"http://{host}:80/", all_proxy=PROXY) is None


@pytest.mark.parametrize(
    ("url", "no_proxy", "is_direct"),
    [
        ("http://far.example/", "*", True),
        ("http://far.example/", "other, far.example", True),
        ("http://a.far.example/", "far.example", True),
        ("http://a.far.example/", ".far.example", True),
        ("http://a.far.example/", "*.far.example", True),
        ("http://far.example/", ".FAR.example.", True),
        ("http://nearfar.example/", "far.example", False),
        ("http://far.example:8080/", "far.example:8080", True),
        ("http://far.example/", "far.example:8080", False),
        ("http://10.1.2.3/", "10.0.0.0/8", True),
        ("http://10.1.2.3/", "10.1.2.3:80", True),
        ("http://11.1.2.3/", "10.0.0.0/8", False),
        ("http://10.1.2.3/", "example", False),
        ("http://[fd00::1]/", "fd00::/8", True),
        ("http://[fd00::1]:90/", "[fd00::1]:90", True),
        ("http://far.example/", ",. ,", False),
    ],
)
def test_hosts_that_are_named_are_reached_directly(url: str, no_proxy: str, is_direct: bool) -> None:
    assert (proxy_of(url, all_proxy=PROXY, no_proxy=no_proxy) is None) is is_direct


def test_a_socks_proxy_is_refused_by_its_kind() -> None:
    with pytest.raises(CannotStart, match="a socks5 proxy cannot be used"):
        proxy_of("http://far.example/", ALL_PROXY="socks5://secret:word@proxy:1080")


@pytest.mark.parametrize("value", ["http://", "http://proxy:port", "://"])
def test_a_proxy_that_is_no_url_is_refused(value: str) -> None:
    with pytest.raises(CannotStart, match="cannot be read"):
        proxy_of("http://far.example/", ALL_PROXY=value)
