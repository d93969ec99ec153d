"""public_addresses.py: what a name of the internet may stand for."""

import ipaddress

import pytest

from tooltray.servers.confinement.public_addresses import is_own, is_public, resolve


@pytest.mark.parametrize("address", ["93.184.216.34", "2606:2800:220:1::1", "64:ff9b::5db8:d822", "2002:5db8:d822::1"])
def test_addresses_of_the_internet_are_public(address: str) -> None:
    assert is_public(ipaddress.ip_address(address))


@pytest.mark.parametrize(
    "address",
    [
        *("127.0.0.1", "127.8.8.8", "0.0.0.0", "10.1.2.3", "172.16.0.1", "192.168.1.1", "169.254.169.254", "100.64.0.1", "224.0.0.1"),
        *("198.18.0.1", "255.255.255.255", "::", "::1", "fe80::1", "fe80::1%2", "fc00::1", "ff02::1", "fec0::1", "2001::1"),
        *("64:ff9b::7f00:1", "64:ff9b:1::1", "2002:7f00:1::1", "2002:c0a8:101::1"),
    ],
)
def test_all_others_are_not(address: str) -> None:
    assert not is_public(ipaddress.ip_address(address))


def test_an_address_of_this_computer_is_its_own() -> None:
    assert is_own(ipaddress.ip_address("127.0.0.1"))
    assert not is_own(ipaddress.ip_address("93.184.216.34"))


async def test_a_name_is_resolved_by_the_system() -> None:
    assert ipaddress.ip_address("127.0.0.1") in await resolve("localhost", 80)
