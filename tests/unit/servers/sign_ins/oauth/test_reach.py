"""How near an address is, in each spelling of it."""

import ipaddress

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray.servers.sign_ins.oauth.reach import Reach, host_reach, reach_of, read_address

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
