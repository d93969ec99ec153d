"""The answers that a hub has left: what a bridge takes of them, and what it ignores."""

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

from tooltray.carriers.mcp.first_answers_file import Asked, Kind, encode, program_file, signature
from tooltray.foundation.home.home import Home
from tooltray_bridge import first_answers, hot

HELLO = request(0, "initialize", protocolVersion="2025-11-25")
INTRODUCED = b'{"protocolVersion":"2025-11-25"}'
GREETED, LISTED = b'{"serverInfo":{}}', b'{"tools":[{"name":"echo"}]}'
ANSWERS = {
    Asked(INTRODUCED, "initialize", INTRODUCED): GREETED,
    Asked(INTRODUCED, "tools/list", b"{}"): LISTED,
    Asked(b"", "tools/list", b"{}"): b'{"tools":[],"ttlMs":1}',
}


@pytest.fixture
def kept(home: Path) -> Home:
    """A home with answers for bridges in its parent folder; settings.json and a project's file decide about them."""
    kept = Home(home / ".tooltray")
    kept.root.mkdir(mode=0o700)
    kept.settings.write_text("{}")
    write(kept)
    return kept


def write(kept: Home, *, program: bytes = b"") -> None:
    inputs = {str(path): signature(path) for path in (kept.settings, kept.names)}
    project = kept.root.parent / ".mcp.json"
    kinds = {facts(kept): Kind({str(project): signature(project)}, ANSWERS), b"\0other\0": Kind({}, ANSWERS)}
    kept.first_answers.touch(0o600)
    kept.first_answers.write_bytes(encode(program or signature(program_file()), inputs, kinds))


def facts(kept: Home) -> bytes:
    return first_answers.facts(None, None, os.fsencode(kept.root.parent))


def read(kept: Home) -> first_answers.FirstAnswers | None:
    return first_answers.read(os.fsencode(kept.root), facts(kept))


def test_each_request_has_the_answer_that_the_hub_gave_to_the_same_one(kept: Home) -> None:
    answers = read(kept)

    assert answers
    for asked, result in ANSWERS.items():
        assert answers.find(asked.introduction, asked.method.encode(), asked.params)[0] == result
    assert answers.find(INTRODUCED, b"tools/list", b'{"cursor":"1"}') == (b"", b"")
    assert answers.find(b'{"protocolVersion":"2024-11-05"}', b"tools/list", b"{}") == (b"", b"")
    assert answers.find(INTRODUCED, b"prompts/list", b"{}") == (b"", b"")


SPOILS: dict[str, Callable[[Home], object]] = {
    "the settings were changed": lambda kept: kept.settings.write_text("{} "),
    "the settings were replaced": lambda kept: (kept.root / "new").write_text("{}") and (kept.root / "new").rename(kept.settings),
    "the settings are gone": lambda kept: kept.settings.unlink(),
    "a file has come": lambda kept: kept.names.write_text("{}"),
    "the project has a file now": lambda kept: (kept.root.parent / ".mcp.json").write_text("{}"),
    "others can write it": lambda kept: kept.first_answers.chmod(0o620),
    "it is a link": lambda kept: kept.first_answers.rename(kept.root / "x") and kept.first_answers.symlink_to(kept.root / "x"),
    "it is a folder": lambda kept: (kept.first_answers.unlink(), kept.first_answers.mkdir()),
    "it is a pipe": lambda kept: (kept.first_answers.unlink(), os.mkfifo(kept.first_answers)),
    "it is missing": lambda kept: kept.first_answers.unlink(),
    "it is empty": lambda kept: kept.first_answers.write_bytes(b""),
    "it is too large": lambda kept: os.truncate(kept.first_answers, first_answers.MAX_BYTES + 1),
    "it is of another format": lambda kept: replace(kept, b"answers 1 ", b"answers 2 "),
    "its size is no number": lambda kept: replace(kept, b"\n", b"x\n"),
    "its index is damaged": lambda kept: replace(kept, b"answer tools/list", b"answer tools/lisT"),
    "another version was installed": lambda kept: write(kept, program=b"1.2.3"),
}


@pytest.mark.parametrize("spoil", SPOILS.values(), ids=SPOILS.keys())
def test_answers_that_a_hub_might_not_give_now_are_ignored(kept: Home, spoil: Callable[[Home], object]) -> None:
    spoil(kept)

    assert read(kept) is None


def replace(kept: Home, old: bytes, new: bytes) -> None:
    content = kept.first_answers.read_bytes()
    assert old in content
    kept.first_answers.write_bytes(content.replace(old, new, 1))


def test_what_is_cut_or_damaged_at_any_place_gives_no_wrong_answer(kept: Home) -> None:
    whole = kept.first_answers.read_bytes()
    for size in range(len(whole)):
        for content in (whole[:size], whole[:size] + b"#" + whole[size + 1 :]):
            kept.first_answers.write_bytes(content)
            answers = read(kept)
            if answers:
                found = [answers.find(asked.introduction, asked.method.encode(), asked.params)[0] for asked in ANSWERS]
                assert all(result in (b"", right) for result, right in zip(found, ANSWERS.values(), strict=True))


def test_a_file_of_another_user_is_ignored(kept: Home, monkeypatch: pytest.MonkeyPatch) -> None:
    own = os.getuid()
    monkeypatch.setattr(first_answers.system, "getuid", lambda: own + 1)

    assert read(kept) is None


@pytest.mark.parametrize(("server", "profile", "folder"), [("echo", None, b"/"), (None, "work", b"/"), (None, None, b"/\xff")])
def test_another_kind_of_session_has_no_answers(kept: Home, server: str | None, profile: str | None, folder: bytes) -> None:
    assert first_answers.read(os.fsencode(kept.root), first_answers.facts(server, profile, folder)) is None


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
