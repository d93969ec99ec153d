"""views/known_clients.py"""

from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import hub_parts

from tooltray.views.client_profiles import ClientProfile, ClientProfiles
from tooltray.views.known_clients import KnownClients

PROFILES = ClientProfiles((ClientProfile(("acme", "acme-beta"), "Acme"), ClientProfile(("cli-*",), "Command Line")))
CLIENTS = {"acme-beta": {"mode": "lazy"}, "other-*": {"mode": "search"}, "cli-*": {"mode": "everything"}, "cli-9": {"mode": "automatic"}}


async def known(tmp_path: Path, clients: dict[str, Any]) -> KnownClients:
    async with hub_parts(tmp_path, servers={}, settings={"publish": {"clients": clients}}) as parts:
        return KnownClients(config=parts.conf, profiles=PROFILES)


@pytest.mark.parametrize(
    ("name", "mode"),
    [
        ("acme", "lazy"),  # the same kind of client under another of its names
        ("acme-beta", "lazy"),
        ("other-7", "search"),
        ("cli-7", "everything"),
        ("cli-9", "automatic"),  # its own name goes before a pattern
        ("nobody", None),
        ("", None),
    ],
)
async def test_the_person_s_choice_is_found_by_name_by_kind_and_by_pattern(tmp_path: Path, name: str, mode: str | None) -> None:
    assert (await known(tmp_path, CLIENTS)).settings(name).mode == mode


async def test_without_choices_there_are_none(tmp_path: Path) -> None:
    clients = await known(tmp_path, {})

    assert clients.settings("acme").mode is None
    assert [clients.title(name) for name in ("acme-beta", "cli-1", "nobody")] == ["Acme", "Command Line", "nobody"]


async def test_each_kind_is_named_once(tmp_path: Path) -> None:
    clients = await known(tmp_path, CLIENTS)
    for name in ("zed", "cli-7", "acme-beta"):
        clients.saw(name)

    assert list(clients.names()) == ["acme", "cli-*", "other-*", "zed"]
    assert [clients.is_seen(name) for name in ("acme", "cli-*", "other-*", "zed")] == [True, True, False, True]
