"""npm_registry.py, and the mirrors that come with Tooltray"""

import json
from pathlib import Path

import pytest

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.resources import resource
from tooltray.servers.launch.npm_registry import MIRROR, Registry, has_password, host_of, normalised, read_mirrors


@pytest.mark.parametrize(
    ("given", "kept"),
    [
        (" https://r.example ", "https://r.example/"),
        ("HTTPS://R.Example/npm//", "https://r.example/npm/"),
        ("http://127.0.0.1:4873", "http://127.0.0.1:4873/"),
        ("https://User:Pass@R.example/a/B", "https://User:Pass@r.example/a/B/"),
        ("https://[::1]:80/", "https://[::1]:80/"),
    ],
)
def test_an_address_has_one_spelling(given: str, kept: str) -> None:
    assert normalised(given) == kept
    assert normalised(kept) == kept


NO_HOSTS = [
    "",
    "r.example",
    "ftp://r.example/",
    "https://",
    "https:///x",
    "https://r.example:port/",
    "https://[::1/",
    "https://r.example:0/",
]
NO_REGISTRIES = [
    "https://r.example/a b",
    "https://r.example/\x1b[2J",
    "https://r.example/?a=b",
    "https://r.example/#a",
    f"https://r/{'x' * 3000}",
]


@pytest.mark.parametrize("given", [*NO_HOSTS, *NO_REGISTRIES])
def test_what_is_no_address_of_a_registry_is_refused(given: str) -> None:
    with pytest.raises(TooltrayError, match="no address of an npm registry"):
        normalised(given)


def test_an_error_repeats_no_password() -> None:
    with pytest.raises(TooltrayError) as caught:
        normalised("https://me:hunter2@r.example/?x")
    assert "hunter2" not in str(caught.value)


def test_nobody_sees_a_password() -> None:
    registry = Registry("https://me:hunter2@r.example/", "R", MIRROR)
    assert registry.shown == "https://r.example/"
    assert "hunter2" not in repr(registry)
    assert (has_password(registry.url), has_password(registry.shown)) == (True, False)
    assert host_of("https://me:hunter2@r.example:8/x/") == "r.example:8"


def test_mirrors_are_read_as_they_stand_in_the_file(tmp_path: Path) -> None:
    path = tmp_path / "r.json"
    mirror = {"name": "M", "url": "https://m.example", "region": "Here", "pypi": "https://p.example/simple/"}
    path.write_text(json.dumps({"registries": [mirror]}))
    assert read_mirrors(path) == (Registry("https://m.example/", "M", MIRROR, "Here", "https://p.example/simple/"),)


def test_the_mirrors_that_come_with_tooltray_are_encrypted_named_and_all_different() -> None:
    mirrors = read_mirrors(resource("npm-registries.json"))
    addresses = [address for each in mirrors for address in (each.url, each.pypi) if address]
    assert mirrors
    assert all(address.startswith("https://") and address.endswith("/") for address in addresses)
    assert len(set(addresses)) == len(addresses)
    assert all(each.name and each.region for each in mirrors)
