"""destinations.py: one spelling for each host; what a pattern covers, and what no trick makes it cover."""

import string

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.foundation.errors import TooltrayError
from tooltray.servers.confinement.destinations import Destination, HostList, entry_for, read_destination, read_pattern

LONG = "a" * 63 + ".a" * 95
"""A name, and its first label, as long as they may be."""


@pytest.mark.parametrize(
    ("authority", "host", "port"),
    [
        ("api.example.org:443", "api.example.org", 443),
        ("API.Example.ORG.:8443", "api.example.org", 8443),
        ("a:1", "a", 1),
        ("a:65535", "a", 65535),
        (LONG + ":443", LONG, 443),
        ("127.0.0.1:80", "127.0.0.1", 80),
        ("2130706433:80", "127.0.0.1", 80),
        ("0x7f.1:80", "127.0.0.1", 80),
        ("0177.0.0.1:80", "127.0.0.1", 80),
        ("[::ffff:127.0.0.1]:80", "127.0.0.1", 80),
        ("[0:0::1]:443", "::1", 443),
    ],
)
def test_a_host_has_one_spelling(authority: str, host: str, port: int) -> None:
    assert read_destination(authority) == read_destination(authority, 7) == Destination(host, port)
    assert read_destination("a", 7) == Destination("a", 7)


@pytest.mark.parametrize(
    "authority",
    [
        *("", ":443", "example.org", "example.org:", "example.org:0", "example.org:65536", "example.org:99999999999"),
        *("user@example.org:443", "example.org:443@evil", "exa mple.org:443", "example.org\0:443", "example%2eorg:443", "example.org:443 "),
        *("example。org:443", "straße.de:443", "a..b:443", ".:443", "-a:443", "a-:443", "*.example.org:443", "1.2.3.4.5:443", "a.0x7g.9:1"),
        *(
            "[::1%lo]:443",
            "[::1:443",
            "::1:443",
            "[::g]:1",
            "[example.org]:443",
            "x" * 64 + ":443",
            "aa" + ".a" * 126 + ":443",
            "example.org/:443",
        ),
    ],
)
def test_what_is_no_host_and_port_is_refused(authority: str) -> None:
    with pytest.raises(ValueError):
        read_destination(authority)


@pytest.mark.parametrize(
    ("listed", "asked", "is_allowed"),
    [
        ("example.org", "example.org:443", True),
        ("Example.ORG.", "example.org.:80", True),
        ("example.org", "example.org:8443", False),
        ("example.org", "a.example.org:443", False),
        ("example.org", "notexample.org:443", False),
        ("example.org:8443", "example.org:8443", True),
        ("example.org:8443", "example.org:443", False),
        ("*.example.org", "a.b.example.org:443", True),
        ("*.example.org", "example.org:443", False),
        ("*.example.org", "aexample.org:443", False),
        ("*.example.org:22", "a.example.org:22", True),
        ("straße.de", "xn--strae-oqa.de:443", True),
        ("例え.jp:8443", "XN--R8JZ45G.jp:8443", True),
        ("127.0.0.1:9", "127.1:9", True),
        ("127.0.0.1", "localhost:80", False),
        ("::1", "[::1]:443", True),
        ("[::1]:9", "[::1]:9", True),
        ("*", "example.org:443", False),
        ("", "example.org:443", False),
        ("https://example.org", "example.org:443", False),
        ("*.0.0.1", "127.0.0.1:443", False),
        ("*.127.0.0.1", "127.0.0.1:443", False),
    ],
)
def test_what_an_entry_covers(listed: str, asked: str, is_allowed: bool) -> None:
    assert HostList([listed]).allows(read_destination(asked)) is is_allowed


@pytest.mark.parametrize("entry", ["*", "a b", "http://a", "*.1.2.3.4", "a:b:c:d"])
def test_an_entry_that_is_none_is_said_to_be_none(entry: str) -> None:
    with pytest.raises(TooltrayError, match="' is not a host"):
        read_pattern(entry)


@given(st.text(string.printable + "。．｡\u202e@%\0", max_size=40))
def test_no_text_beside_a_listed_name_is_allowed(text: str) -> None:
    try:
        found = read_destination(f"{text}:443")
    except ValueError:
        return
    assert HostList(["example.org"]).allows(found) is (text.lower().removesuffix(".") == "example.org")


@pytest.mark.parametrize("asked", ["example.org:443", "example.org:8443", "127.0.0.1:9", "[::1]:9", "[::1]:80"])
def test_what_is_listed_for_a_refused_host_allows_it(asked: str) -> None:
    destination = read_destination(asked)
    assert HostList([entry_for(destination)]).allows(destination)
    assert str(destination) == asked
