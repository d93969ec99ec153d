"""Uses the programs in a folder as a person does: `python packaging/hub_selftest.py [--desktop] FOLDER`, on macOS and Linux.

The release workflow runs it on macOS with Tooltray.app/Contents/MacOS, and on Linux with an installed wheel; packaging/selftest.py tries
the packages for Linux. The programs have a home of their own. A hub starts, gets a server, answers through the one path that AI
clients point at, and ends; then nothing of it runs. With `--desktop` the same once more with tray and window, which needs a screen.
"""

import argparse
import json
import os
import subprocess
import sys
import tempfile
import time
from collections.abc import Callable
from pathlib import Path

WITHIN_S = 60.0
PASSED_ON = ("PATH", "DISPLAY", "XAUTHORITY")  # of the environment
SERVER = """\
#!/bin/sh
# an MCP server with one tool, which says what a frozen parent left in its environment
while IFS= read -r line; do
    id=${line#*'"id":'} id=${id%%[,\\}]*}
    case $line in
    *'"initialize"'*) result='{"protocolVersion":"2025-06-18","capabilities":{"tools":{}},"serverInfo":{"name":"sh","version":"1"}}' ;;
    *'"tools/list"'*) result='{"tools":[{"name":"look","inputSchema":{"type":"object"},"annotations":{"readOnlyHint":true}}]}' ;;
    *'"tools/call"'*) seen=${LD_LIBRARY_PATH-}${DYLD_LIBRARY_PATH-}${QT_PLUGIN_PATH-}
        result='{"content":[{"type":"text","text":"seen: '"$seen"'."}]}' ;;
    *'"id"'*) echo '{"jsonrpc":"2.0","id":'"$id"',"error":{"code":-32601,"message":"Method not found"}}' && continue ;;
    *) continue ;;
    esac
    echo '{"jsonrpc":"2.0","id":'"$id"',"result":'"$result"'}'
done
"""
INITIALIZE = {"protocolVersion": "2025-11-25", "capabilities": {}, "clientInfo": {"name": "selftest", "version": "1"}}


class Programs:
    """The two programs, in a person's home that is made for them."""

    def __init__(self, folder: Path, home: Path) -> None:
        self.tooltray, self.home = folder / "tooltray", home
        self.environ = {"HOME": str(home), "LANG": "C.UTF-8", **{name: os.environ[name] for name in PASSED_ON if name in os.environ}}

    def run(self, *arguments: str) -> str:
        """What a command prints, whatever its exit code."""
        command = [self.tooltray, *arguments]
        done = subprocess.run(command, env=self.environ, stdout=subprocess.PIPE, stderr=subprocess.STDOUT, text=True, timeout=WITHIN_S)
        return done.stdout

    def ask(self) -> str:
        """What an AI client gets for one call of the server's tool."""
        bridge = self.home / ".tooltray" / "bin" / "tooltray-bridge"
        client = subprocess.Popen(
            [bridge, "--server", "sh"], env={"HOME": str(self.home)}, stdin=subprocess.PIPE, stdout=subprocess.PIPE, text=True
        )
        assert client.stdin
        assert client.stdout
        with client:
            answer = ""
            for id, method, params in ((1, "initialize", INITIALIZE), (2, "tools/call", {"name": "look"})):
                client.stdin.write(json.dumps({"jsonrpc": "2.0", "id": id, "method": method, "params": params}) + "\n")
                client.stdin.flush()
                while not is_answer(answer := client.stdout.readline(), id):
                    if not answer:
                        raise SystemExit("the bridge has ended")
                if id == 1:
                    client.stdin.write('{"jsonrpc":"2.0","method":"notifications/initialized"}\n')
            client.stdin.close()
            return answer


def is_answer(line: str, id: int) -> bool:
    return bool(line) and json.loads(line).get("id") == id and "method" not in json.loads(line)


def until(is_done: Callable[[str], bool], look: Callable[[], str]) -> str:
    """Looks again and again.

    Raises:
        SystemExit: what is waited for does not come.
    """
    end = time.monotonic() + WITHIN_S
    while not is_done(seen := look()):
        if time.monotonic() > end:
            raise SystemExit(f"FAILED: {seen}")
        time.sleep(0.25)
    return seen


def processes(folder: Path) -> str:
    wide = ("ps", "-Aww", "-o", "pid=,args=")  # otherwise macOS cuts lines at 79 characters, which the folder's path fills
    listed = subprocess.run(wide, capture_output=True, text=True, check=True).stdout
    return "\n".join(line for line in listed.splitlines() if f"{folder}/" in line and "hub_selftest" not in line)


def try_hub(programs: Programs, kind: str, *arguments: str) -> None:
    """Starts a hub, which says that it is of a kind, and calls a tool through it."""
    hub = subprocess.Popen([programs.tooltray, *arguments], env=programs.environ, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL)
    try:
        until(lambda said: f"is running ({kind}" in said, lambda: programs.run("status"))
        if "sh" not in programs.run("servers", "list").split():
            programs.run("servers", "add", "sh", "--", str(programs.home / "server"))
        until(lambda answer: '"seen: ."' in answer, programs.ask)
        sys.stdout.write(f"{kind}: {programs.run('bridge', 'show').splitlines()[0]}\n")
    finally:
        programs.run("stop")
        hub.wait(WITHIN_S)
    until(lambda left: not left, lambda: processes(programs.tooltray.parent))


def try_programs(programs: Programs, *, has_screen: bool) -> None:
    server = programs.home / "server"
    server.write_text(SERVER)
    server.chmod(0o755)
    try_hub(programs, "serve", "serve")
    if has_screen:
        try_hub(programs, "desktop")


def main() -> int:
    parser = argparse.ArgumentParser(description="Uses the programs in a folder as a person does.")
    parser.add_argument("--desktop", action="store_true", help="with tray and window, too; needs a screen")
    parser.add_argument("folder", type=Path)
    asked = parser.parse_args()
    with tempfile.TemporaryDirectory(prefix="tooltray", dir="/tmp") as home:  # a socket's path must be short, and macOS's own is long
        try_programs(Programs(asked.folder.resolve(), Path(home).resolve()), has_screen=asked.desktop)
    sys.stdout.write("served, called through the bridge, ended; nothing is left\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
