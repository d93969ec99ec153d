"""What unit tests of several rooms need: a home, the settings on disk with what was read and told, a keyring, and a small hub."""

import json
from collections.abc import AsyncIterator
from pathlib import Path
from typing import Any

import pytest
from tests.fakes.hub_parts import HubParts, entry, hub_parts
from tests.fakes.scripted_server import ScriptedBuiltIn, ScriptedServer, tool
from tests.fakes.system_keyring import FakeKeyring

from tooltray.config.secrets import file_vault
from tooltray.config.settings.mcp_conf_helper import McpConfHelper
from tooltray.foundation.events import EventBus
from tooltray.foundation.home.home import Home


class Heard(list[Any]):
    """Everything that was published."""


@pytest.fixture(autouse=True, scope="session")
def shipped_scrypt_n() -> int:
    """What it costs to derive a key elsewhere; here it is next to nothing."""
    shipped, file_vault.SCRYPT_N = file_vault.SCRYPT_N, 2**4
    return shipped


@pytest.fixture
def hub_home(home: Path) -> Home:
    """A home of its own, which HOME and TOOLTRAY_HOME lead to."""
    return Home(home / ".tooltray")


@pytest.fixture
def heard() -> Heard:
    return Heard()


@pytest.fixture
async def conf(path: Path, heard: Heard) -> McpConfHelper:
    """What was read of the file at `path`, a fixture of the test file's own."""
    bus = EventBus()
    bus.subscribe_all(heard.append)
    conf = McpConfHelper(path, bus)
    await conf.load()
    return conf


@pytest.fixture
def fake_keyring() -> FakeKeyring:
    return FakeKeyring()


@pytest.fixture
def program() -> ScriptedServer:
    return ScriptedServer(tool("get_it", description="Gets it"), tool("drop"))


@pytest.fixture
async def parts(tmp_path: Path, program: ScriptedServer) -> AsyncIterator[HubParts]:
    """A hub with one server `s` that starts on demand, and the built-in `hub`; nothing runs."""
    builtins = {"hub": ScriptedBuiltIn()}
    async with hub_parts(tmp_path / "home", servers={"s": entry("program")}, programs={"program": program}, builtins=builtins) as parts:
        yield parts


def put(path: Path, document: Any) -> None:
    """Somebody writes a file of settings."""
    path.write_text(json.dumps(document))
