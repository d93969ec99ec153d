"""known_clients.py"""

from pathlib import Path
from typing import Any

import msgspec
import pytest
from tests.fakes.hub_parts import hub_parts

from tooltray.catalogue.views.known_clients import ClientProfile, ClientProfiles, KnownClients, read_client_profiles
from tooltray.foundation.programs import resource
from tooltray.protocol.sessions.client_limits import KnownLimits

PROFILES = ClientProfiles((ClientProfile(("acme", "acme-beta"), "Acme"), ClientProfile(("cli-*",), "Command Line")))
CLIENTS = {"acme-beta": {"mode": "lazy"}, "other-*": {"mode": "search"}, "cli-*": {"mode": "everything"}, "cli-9": {"mode": "automatic"}}


async def known(tmp_path: Path, clients: dict[str, Any]) -> KnownClients:
    async with hub_parts(tmp_path, servers={}, settings={"publish": {"clients": clients}}) as parts:
        return KnownClients(config=parts.conf, servers=parts.servers, profiles=PROFILES, client_limits=KnownLimits())


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
    assert [clients.kind(name) for name in ("acme-beta", "cli-7", "zed", "")] == ["acme", "cli-*", "zed", ""]


@pytest.fixture(scope="module")
def shipped() -> ClientProfiles:
    return read_client_profiles(resource("client-profiles.json"))


@pytest.mark.parametrize(
    ("name", "title", "obeys_changes", "tool_cap"),
    [
        ("claude-code", "Claude Code", True, None),
        ("codex-mcp-client", "Codex", False, None),
        ("cursor-vscode", "Cursor", None, 40),
        ("Visual Studio Code", "VS Code", True, 128),
        ("qwen-cli-mcp-client-files", "Qwen Code", None, None),
        ("windsurf-client", "Windsurf", True, 100),
        ("Windsurf", "Windsurf", True, 100),
    ],
)
def test_a_client_is_known_by_the_name_that_it_gives_itself(
    shipped: ClientProfiles, name: str, title: str, obeys_changes: bool | None, tool_cap: int | None
) -> None:
    found = shipped.find(name)

    assert found is not None
    assert (found.title, found.obeys_changes, found.tool_cap) == (title, obeys_changes, tool_cap)


@pytest.mark.parametrize("name", ["", "Claude-Code", "claude-code-2", "my qwen-cli-mcp-client-files", "*"])
def test_nothing_is_known_of_others(shipped: ClientProfiles, name: str) -> None:
    assert shipped.find(name) is None


def test_a_kind_has_the_name_of_the_client_on_this_computer(shipped: ClientProfiles) -> None:
    """Else the window would list one client twice."""
    found = msgspec.json.decode(resource("ai-clients.json").read_bytes())["clients"]

    assert {each.title for each in shipped} <= {each["name"] for each in found}


def test_each_kind_of_client_says_where_it_is_known_from_and_no_name_is_two(shipped: ClientProfiles) -> None:
    profiles = list(shipped)
    names = [name for each in profiles for name in each.names]

    assert all(each.note and each.title for each in profiles)
    assert len(names) == len(set(names))


def test_a_file_that_is_none_is_no_installation(tmp_path: Path) -> None:
    (tmp_path / "profiles.json").write_text('{"clients": [{"names": ["x"]}]}')

    with pytest.raises(ValueError, match="title"):
        read_client_profiles(tmp_path / "profiles.json")
