"""Who answers before there is a hub, and what the client and the hub that comes see of it."""

import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Callable
from pathlib import Path
from zlib import crc32

import pytest
from tests.fakes.bridge_process import FLAGS, BridgeProcess
from tests.fakes.fake_hub import FakeHub, request
from tests.fakes.left_answers import LISTED, left_in, read, write

from tooltray.foundation.home.home import Home
from tooltray_bridge import first_answers, hot

HELLO = request(0, "initialize", protocolVersion="2025-11-25")


@pytest.fixture
def kept(home: Path) -> Home:
    return left_in(home)


SPOILS: dict[str, Callable[[Home], object]] = {
    "others can write it": lambda kept: kept.first_answers.chmod(0o620),
    "it is a link": lambda kept: kept.first_answers.rename(kept.root / "x") and kept.first_answers.symlink_to(kept.root / "x"),
    "it is a pipe": lambda kept: (kept.first_answers.unlink(), os.mkfifo(kept.first_answers)),
    "it is too large": lambda kept: os.truncate(kept.first_answers, first_answers.MAX_BYTES + 1),
}


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS.keys())
def test_a_file_that_this_user_did_not_write_is_ignored(kept: Home, spoil: Callable[[Home], object]) -> None:
    spoil(kept)

    assert read(kept) is None


def test_a_file_of_another_user_is_ignored(kept: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    own = os.getuid()
    monkeypatch.setattr(first_answers.system, "getuid", lambda: own + 1)

    assert read(kept) is None


def options_for(*arguments: str) -> hot.Options:
    options = hot.read_options([*arguments])
    assert options
    return options


def test_only_a_bridge_that_may_start_a_hub_answers_before_there_is_one(kept: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    user, other = os.fsencode(kept.root.parent), kept.root.parent / "other"
    environ = {b"HOME": user}
    monkeypatch.setattr(first_answers.paths, "ENVIRON", environ)
    assert first_answers.answers_for(options_for(), user)
    assert first_answers.answers_for(options_for("--no-start"), user) is None
    assert first_answers.answers_for(options_for("--home", str(other)), user) is None

    kept.root.rename(other)
    moved = Home(other)
    write(moved)
    kept.root.mkdir(mode=0o700)
    assert first_answers.answers_for(options_for("--home", str(other)), user) is None
    kept.homes.write_text(json.dumps([str(other)]))
    assert first_answers.answers_for(options_for("--home", str(other)), user)
    other.chmod(0o770)
    assert first_answers.answers_for(options_for("--home", str(other)), user) is None


def test_the_program_of_a_frozen_bridge_is_beside_it(home: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(first_answers.sys, "frozen", True, raising=False)
    monkeypatch.setattr(first_answers.sys, "executable", str(home / "tooltray-bridge"))

    assert first_answers._program() == os.fsencode(home / "tooltray")


def test_a_client_has_its_lists_before_there_is_a_hub_and_the_hub_hears_of_them(kept: Home) -> None:
    home = kept.root.parent
    kept.run.mkdir(mode=0o700)
    with kept.start_lock.open("w") as lock:
        hold(lock.fileno())  # as another bridge that starts a hub
        with BridgeProcess(environ={"HOME": str(home)}, cwd=home) as bridge:
            bridge.send(HELLO)
            assert bridge.message() == {"jsonrpc": "2.0", "id": 0, "result": {"serverInfo": {}}}
            bridge.send(b'{"jsonrpc":"2.0","method":"notifications/initialized"}\n' + request("a", "tools/list"))
            assert bridge.message()["result"]["tools"] == [{"name": "echo"}]
            bridge.send(request(2, "tools/call", name="echo"))

            with FakeHub(kept.socket) as hub:
                connection = hub.accept_greeted()
                repeated = [json.loads(connection.line()) for _ in range(4)]
                assert [each["method"] for each in repeated] == ["initialize", "notifications/initialized", "tools/list", "tools/call"]
                assert repeated[2]["id"].startswith(f"tooltray-ahead-{crc(LISTED)}-")
                for each in (repeated[0], repeated[2], repeated[3]):
                    connection.send(b'{"jsonrpc":"2.0","id":%b,"result":{}}\n' % json.dumps(each["id"]).encode())
                assert bridge.message() == {"jsonrpc": "2.0", "id": 2, "result": {}}


def hold(lock: int) -> None:
    fcntl.flock(lock, fcntl.LOCK_EX)


def crc(result: bytes) -> str:
    return f"{crc32(result):08x}"


def test_a_client_that_leaves_after_its_lists_starts_no_hub(kept: Home) -> None:
    home = kept.root.parent
    with BridgeProcess(environ={"HOME": str(home)}, cwd=home) as bridge:
        bridge.send(HELLO)
        bridge.close_input()

        assert json.loads(bridge.rest())["id"] == 0
        assert bridge.end() == 0
    assert not kept.run.exists()


def test_before_there_is_a_hub_nothing_large_is_imported(kept: Home) -> None:
    """The modules of the answers' own path; `cold` is imported when the client waits."""
    script = (
        "import sys; sys.path.append(sys.argv[1])\n"
        "from tooltray_bridge import hot\n"
        "from tooltray_bridge.first_answers import answers_for\n"
        "before = set(sys.modules)\n"
        "assert answers_for(hot.Options(), hot.working_folder())\n"
        "print(sorted(set(sys.modules) & {'os', 'json', 'stat', 're', 'subprocess', 'tooltray_bridge.cold'}))"
    )
    home, flags = kept.root.parent, FLAGS or ("-I", "-S")
    program = [sys.executable, *flags, "-c", script, str(Path(hot.__file__).parents[1])]
    done = subprocess.run(program, env={"HOME": str(home)}, cwd=home, capture_output=True, check=True, text=True)
    assert done.stdout == "[]\n" or not FLAGS
