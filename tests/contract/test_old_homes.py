"""Homes of earlier versions are read by this one, which loses nothing when it writes there again.

Each one in `tests/contract/homes/` is as that version left it; `make.py` there makes them. The hub and its commands are the real ones.
"""

import io
import json
import shutil
import urllib.error
import urllib.request
from collections.abc import Callable, Iterator
from pathlib import Path
from typing import Any

import pytest
from tests.end2end.at_terminal import at_terminal
from tests.end2end.processes import World, new_world

from tooltray.cli.run import run
from tooltray.config.secrets.secrets import SecretStore
from tooltray.foundation.home.home import Home
from tooltray.servers.sign_ins.tokens import Tokens

HOMES = Path(__file__).parent / "homes"
VERSIONS = ("a5d4206", "06e061f")
PASSPHRASE = "dummy passphrase"
COMMANDS = {
    "servers": ("servers", "list"),
    "clients": ("clients", "list"),
    "api_tokens": ("http", "api", "tokens"),
    "trust": ("trust", "list"),
    "projects": ("projects", "list"),
    "feedback": ("feedback", "history"),
}

pytestmark = pytest.mark.timeout(180)


class OldHome:
    """A copy of a home, in which a person goes on with this version."""

    def __init__(self, world: World, version: str, command: Callable[..., str]) -> None:
        self.world, self.run = world, command
        self.expected: dict[str, Any] = json.loads((HOMES / version / "expected.json").read_text())
        shutil.copytree(HOMES / version / "home", world.root)
        for path in (world.root, *world.root.rglob("*")):  # git keeps no modes
            path.chmod(0o700 if path.is_dir() else 0o600)
        self.before = self.documents()

    def documents(self) -> dict[str, Any]:
        """The content of every JSON file."""
        return {str(path.relative_to(self.world.root)): json.loads(path.read_bytes()) for path in self.world.root.rglob("*.json")}

    def read(self, *words: str) -> Any:
        return json.loads(self.run(*words, "--json"))

    def is_let_in(self, path: str, token: str) -> bool:
        """Whether a token opens an address of the hub."""
        address = json.loads((self.world.root / "run" / "hub.json").read_bytes())["http"]
        try:
            with urllib.request.urlopen(urllib.request.Request(address + path, headers={"Authorization": f"Bearer {token}"})):
                return True
        except urllib.error.HTTPError as refused:
            return refused.code not in (401, 403)


@pytest.fixture(params=VERSIONS)
def old(request: pytest.FixtureRequest, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Iterator[OldHome]:
    def command(*words: str, input: str = "") -> str:
        """Runs a command in this process; returns what it printed."""
        monkeypatch.setattr("sys.stdin", io.StringIO(input))
        code = run(["--home", str(world.root), *words], open_desktop=lambda home, **_: pytest.fail("no desktop was asked for"))
        printed = capsys.readouterr()
        assert code == 0, (words, printed.err)
        return printed.out

    with new_world() as world:
        monkeypatch.setenv("HOME", str(world.home))
        yield OldHome(world, request.param, command)


def holds(now: Any, before: Any) -> bool:
    """Whether everything that stood in a document still stands there."""
    if isinstance(before, dict):
        return isinstance(now, dict) and all(key in now and holds(now[key], value) for key, value in before.items())
    if isinstance(before, list):
        return isinstance(now, list) and all(any(holds(each, one) for each in now) for one in before)
    return bool(now == before)


def test_without_a_hub_commands_show_what_they_showed(old: OldHome) -> None:
    for name, shown in old.expected["offline"].items():
        assert holds(old.read(*COMMANDS[name]), shown), name
    assert old.documents() == old.before


async def test_secrets_and_sign_ins_are_readable(old: OldHome) -> None:
    secrets = SecretStore(Home(old.world.root), "file", passphrase=PASSPHRASE)
    assert await secrets.names() == old.expected["secrets"]
    assert await secrets.get("DIARY_TOKEN") == "dummy-diary-token"
    assert await secrets.get("web/Authorization") == "dummy-bearer"
    assert await secrets.get("proposed/KEY") == "dummy-proposed-value"
    tokens = Tokens.from_json(await secrets.get("oauth/far"))
    assert tokens is not None
    assert (tokens.access_token, tokens.scopes) == (old.expected["sign_in"]["access"], ("notes:read", "notes:write"))
    await secrets.close()


def test_a_hub_goes_on_where_the_old_one_ended_and_nothing_is_lost_when_it_writes(old: OldHome) -> None:
    world, expected = old.world, old.expected
    world.start_hub(environ={"TOOLTRAY_PASSPHRASE": PASSPHRASE})
    # lists of tools, names and overrides are those of then, although no server can be started here
    listed = {tool["name"]: tool["description"] for tool in old.read("tools", "list")}
    assert holds(listed, {name: text for name, text in expected["tools"].items() if name != "till_save_note"})  # of a folder that is gone
    states = {server["name"]: server["state"] for server in old.read("status")["servers"]}
    assert {name: states[name] for name in ("worker", "resting")} == {"worker": "waiting", "resting": "on_demand"}
    if "stopped.json" in old.before:
        assert (states["diary"], states["proposed"]) == ("stopped", "waiting")
    assert all(holds(now, was) for now, was in zip(old.read("grants", "list"), expected["grants"], strict=True))
    # who was let in is let in
    assert old.is_let_in("/mcp", expected["client_token"])
    assert old.is_let_in("/api/mcp/servers", expected["api_token"])
    assert not old.is_let_in("/mcp", expected["api_token"])
    # every file that a person changes is written again
    old.run("servers", "add", "another", "--on-demand", "--", "no-such-program")
    old.run("profiles", "set", "another", "--server", "notes")
    old.run("clients", "token", "another")
    old.run("http", "api", "token", "another", "--scope", "read")
    old.run("secrets", "set", "ANOTHER", input="dummy-other\n")
    assert at_terminal(world, "approve", "resting", "save_note")[0] == 0
    world.stop_hub()
    lost = [name for name, before in old.before.items() if not holds(old.documents().get(name), before)]
    assert lost == []
    for name, shown in expected["offline"].items():
        assert holds(old.read(*COMMANDS[name]), shown), name
