"""Secrets from where people keep them: the real `pass`, the real gnome-keyring, and commands as the guide has them (`op`, `bws`)."""

import json
import os
import shutil
import subprocess
import sys
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.end2end.hub_at_work import Hub, write_settings
from tests.end2end.processes import World, wait_until
from tests.end2end.test_real_keyring import UNLOCKED

VALUES = {"PASS": "swordfish-of-pass", "OP": "swordfish-of-op", "BWS": "swordfish-of-bws"}
LENGTHS = """
import json, os, sys
print("got", {name: os.environ[name] for name in ("PASS", "OP", "BWS")}, file=sys.stderr, flush=True)
for line in sys.stdin:
    message = json.loads(line)
    if message.get("method") == "initialize":
        result = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "s", "version": "1"}}
    elif message.get("method") == "tools/list":
        result = {"tools": [{"name": "lengths", "inputSchema": {"type": "object"}}]}
    elif message.get("method") == "tools/call":
        result = {"content": [{"type": "text", "text": json.dumps({name: os.environ[name][::-1] for name in ("PASS", "OP", "BWS")})}]}
    else:
        continue
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"""
OP = '#!/bin/sh\n[ "$1 $2" = "read op://Work/key/credential" ] && echo swordfish-of-op\n'
BWS = '#!/bin/sh\n[ "$1 $2 $3" = "secret get be8e0ad8" ] && printf \'{\\n  "key": "k",\\n  "value": "swordfish-of-bws"\\n}\\n\'\n'
COMMANDS = {
    "op": ["op", "read", "op://Work/key/credential"],
    "bws": ["sh", "-c", 'bws secret get be8e0ad8 | sed -n \'s/.*"value": "\\(.*\\)".*/\\1/p\''],
}
ENTRY = {
    "command": sys.executable,
    "args": ["-c", LENGTHS],
    "env": {"PASS": "${secret:pass:work/key}", "OP": "${secret:command:op}", "BWS": "${secret:command:bws}"},
    "autoApprove": ["all"],
}


@pytest.fixture
def kept(world: World) -> Iterator[dict[str, str]]:
    """The variables of a person whose `pass` has a key without a passphrase, and who has an `op` and a `bws`."""
    if not shutil.which("pass"):
        pytest.skip("pass is not installed")
    gpg, programs = world.home / "g", world.home / "bin"
    gpg.mkdir(mode=0o700)
    programs.mkdir()
    for name, text in (("op", OP), ("bws", BWS)):
        (programs / name).write_text(text)
        (programs / name).chmod(0o755)
    own = {"GNUPGHOME": str(gpg), "PASSWORD_STORE_DIR": str(world.home / "store"), "PATH": f"{programs}:{os.environ['PATH']}"}
    environ = {**own, "HOME": str(world.home)}

    def run(*command: str, text: str = "") -> None:
        subprocess.run(command, env=environ, input=text, text=True, check=True, capture_output=True)

    try:
        run("gpg", "--batch", "--passphrase", "", "--quick-gen-key", "test", "default", "default", "never")
        run("pass", "init", "test")
        run("pass", "insert", "-m", "work/key", text="swordfish-of-pass\nuser: me\n")
        (world.home / ".profile").write_text("".join(f"export {name}='{value}'\n" for name, value in own.items()))
        yield own
    finally:
        end_agent(own)


def end_agent(own: dict[str, str]) -> None:
    """gpg's own daemon, which outlives `pass`."""
    subprocess.run(["gpgconf", "--kill", "all"], env=own, check=True)


async def test_values_reach_the_server_and_nothing_else(world: World, kept: dict[str, str]) -> None:
    write_settings(world, {"s": ENTRY}, defaultServers=["s"], secretCommands=COMMANDS)
    hub_program = world.start_hub(environ=kept)
    hub = Hub(world)
    wait_until(lambda: "lengths" in world.tooltray("tools", "list").stdout, "the server's tools")
    answer = json.loads((await hub("call_tool", name="lengths", arguments={}))["content"][0]["text"])
    assert answer == {name: value[::-1] for name, value in VALUES.items()}
    shown = [await hub(verb) for verb in ("get_snapshot", "get_secrets", "get_mcp_servers", "get_diagnostics", "diagnose")]
    shown += [await hub("get_log", source="server:s"), world.tooltray("secrets", "list").stdout]
    listed = {each["name"]: each["origin"] for each in shown[1]["secrets"]}
    assert listed == {"pass:work/key": "pass, work/key", "command:op": "your command 'op'", "command:bws": "your command 'bws'"}
    assert "'PASS': '***'" in json.dumps(shown[5])
    hub.channel.close()
    end_agent(kept)
    world.stop_hub()
    assert not [value for value in VALUES.values() if value in json.dumps(shown) or value in hub_program.error_text]
    files = [path for path in world.root.rglob("*") if path.is_file()]
    assert not [path for path in files for value in VALUES.values() if value.encode() in path.read_bytes()]


FOREIGN = """
import asyncio, sys
import keyring.backends.SecretService as service
from tooltray.foundation.home.home import find_home
from tooltray.config.secrets.secrets import SecretStore

service.Keyring().set_password("https://example.org", "me", "swordfish")

async def main():
    store = SecretStore(find_home(), "memory")
    print(await store.get_foreign("https://example.org", "me"), await store.get_foreign("https://example.org", "you"))
    await store.close()

asyncio.run(main())
"""


def test_an_entry_of_another_program_is_read_from_a_real_keyring(world: World, tmp_path: Path) -> None:
    runtime = tmp_path / "run"
    runtime.mkdir(mode=0o700)
    command = ["dbus-run-session", "--", "bash", "-c", UNLOCKED, "bash", sys.executable, "-c", FOREIGN]
    program = world.start(*command, environ={"XDG_RUNTIME_DIR": str(runtime)})
    assert program.read_line() == b"swordfish None"
    assert program.wait() == 0
