"""server_origins.py: where an entry is from, as far as it says so."""

from typing import Any

import pytest

from tooltray.sources.discovery.server_origins import FromRegistry, from_list, from_registry, names_here

GOOD = {"origin": {"kind": "registry", "name": "a/b", "version": "1"}}


@pytest.mark.parametrize(
    "origin", [None, 3, "registry", {}, {"kind": "link"}, {"kind": "registry"}, {"kind": "registry", "name": 3, "version": "1"}]
)
def test_an_odd_origin_counts_as_none(origin: Any) -> None:
    assert from_registry({"origin": origin}) is None
    assert from_list({"origin": origin}) == ""


def test_origins_are_read() -> None:
    assert from_registry(GOOD) == FromRegistry("a/b", "1")
    assert from_list({"origin": {"kind": "starter", "id": "git"}}) == "git"


def test_of_several_servers_of_one_name_the_first_is_here() -> None:
    assert names_here({"x": {}, "one": GOOD, "two": GOOD}) == {"a/b": "one"}
