"""bridge_file.py: the file that AI clients start."""

import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tooltray.foundation.installs import bridge_file
from tooltray.foundation.installs.bridge_file import NO_INSTALLATION, BridgeLauncher, script

SHELLS = [shell for shell in (["sh"], ["dash"], ["bash", "--posix"], ["busybox", "sh"]) if shutil.which(shell[0])]

ONE, TWO = ("C:\\one\\tooltray-bridge.exe",), ("C:\\a user\\python.exe", "-I", "C:\\a user\\bridge.py")

LAUNCHER = BridgeLauncher()


@pytest.fixture(params=SHELLS, ids=" ".join)
def shell(request: pytest.FixtureRequest) -> list[str]:
    program, *arguments = request.param
    return [shutil.which(program) or program, *arguments]


def bridge(path: Path, words: str) -> tuple[str, ...]:
    """A program that says who it is and what it was given."""
    path.parent.mkdir(parents=True, exist_ok=True)
    path.write_text(f'#!/bin/sh\nprintf "%s|" {words} "$@"\n')
    path.chmod(0o755)
    return (str(path),)


def run(shell: list[str], text: str, folder: Path, *arguments: str, said: bytes = b"") -> bytes:
    """What the script prints in an environment without variables."""
    path = folder / "tooltray-bridge"
    path.write_bytes(os.fsencode(text))
    done = subprocess.run([*shell, str(path), *arguments], input=said, capture_output=True, env={}, cwd="/", timeout=30, check=False)
    assert done.stderr == b""
    return done.stdout


def test_the_first_bridge_that_is_there_gets_all_arguments(shell: list[str], tmp_path: Path) -> None:
    gone, first, second = (str(tmp_path / "gone"),), bridge(tmp_path / "one", "one"), bridge(tmp_path / "two", "two")
    assert run(shell, script([gone, first, second]), tmp_path, "--server", "a b", "") == b"one|--server|a b||"


def test_a_bridge_whose_script_is_gone_is_passed_over(shell: list[str], tmp_path: Path) -> None:
    interpreter = bridge(tmp_path / "python", "python")[0]
    (there := tmp_path / "there.py").touch()
    bridges = [(interpreter, "-I", str(tmp_path / "gone.py")), (interpreter, "-I", "-S", str(there))]
    assert run(shell, script(bridges), tmp_path, "--home", "x") == f"python|-I|-S|{there}|--home|x|".encode()


@pytest.mark.parametrize("name", ["with a space", "it's", 'a "quote"', "$HOME `x` \\", "new\nline", "ünïcode 名", "-n"])
def test_a_path_may_have_any_characters(shell: list[str], tmp_path: Path, name: str) -> None:
    assert run(shell, script([bridge(tmp_path / name / "bridge", "ok")]), tmp_path) == b"ok|"


@pytest.mark.parametrize(
    ("line", "id"),
    [
        ('{"jsonrpc":"2.0","id":0,"method":"initialize","params":{}}', 0),
        ('{"method": "initialize", "params": {"a": [1]}, "id":   -17}', -17),
        ('{"jsonrpc":"2.0","id":"a-1 %s \\\\","method":"ping"}'.replace(" \\\\", ""), "a-1 %s"),
        ('{"id":null,"method":"ping"}', None),
    ],
)
def test_without_any_installation_each_request_is_answered_with_what_to_do(shell: list[str], tmp_path: Path, line: str, id: object) -> None:
    notification = '{"jsonrpc":"2.0","method":"notifications/initialized"}'
    reply = '{"jsonrpc":"2.0","id":5,"result":{}}'
    said = "\n".join([notification, line, reply, "", "no JSON", line]).encode()  # the last one is not ended
    answers = [json.loads(each) for each in run(shell, script([]), tmp_path, said=said).splitlines()]
    assert [answer["id"] for answer in answers] == [id, id]
    assert {answer["error"]["code"] for answer in answers} == {NO_INSTALLATION}
    assert all("tooltray doctor" in answer["error"]["message"] for answer in answers)


class Places:
    """A launcher among the resources, and the folder that it is copied into."""

    def __init__(self, folder: Path) -> None:
        self.resources, self.bin = folder / "resources", folder / "home" / "bin"
        (folder / "home").mkdir()
        self.resources.mkdir()

    @property
    def launcher(self) -> Path:
        return self.bin / LAUNCHER.name

    @property
    def list(self) -> str:
        return self.launcher.with_suffix(".txt").read_text()

    def bring(self, content: bytes) -> None:
        (self.resources / LAUNCHER.name).write_bytes(content)


@pytest.fixture
def places(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Places:
    places = Places(tmp_path)
    monkeypatch.setattr(bridge_file, "resource", lambda *_: places.resources / LAUNCHER.name)
    return places


def test_only_an_installation_that_brings_a_launcher_can_write_it(places: Places) -> None:
    assert not LAUNCHER.can_write()
    places.bring(b"launcher")
    assert LAUNCHER.can_write()


def test_the_launcher_is_copied_and_the_list_has_a_program_and_its_command_line_on_each_line(places: Places) -> None:
    places.bring(b"MZ one")

    assert LAUNCHER.write(places.launcher, [ONE, TWO])
    assert places.launcher.read_bytes() == b"MZ one"
    assert places.list == f'{ONE[0]}\t{ONE[0]}\n{TWO[0]}\t"{TWO[0]}" -I "{TWO[2]}"\n'


def test_what_is_as_it_should_be_is_left_alone(places: Places) -> None:
    places.bring(b"MZ one")
    LAUNCHER.write(places.launcher, [ONE])

    assert not LAUNCHER.write(places.launcher, [ONE])
    assert LAUNCHER.write(places.launcher, [TWO, ONE])


def test_a_new_launcher_takes_the_place_of_one_that_may_run(places: Places) -> None:
    places.bring(b"MZ one")
    LAUNCHER.write(places.launcher, [ONE])
    places.bring(b"MZ two")

    assert LAUNCHER.write(places.launcher, [ONE])
    assert places.launcher.read_bytes() == b"MZ two"
    (old,) = places.bin.glob("*.old")
    assert old.read_bytes() == b"MZ one"

    places.bring(b"MZ three")
    LAUNCHER.write(places.launcher, [ONE])
    (old,) = places.bin.glob("*.old")
    assert old.read_bytes() == b"MZ two"


def test_an_installation_without_a_launcher_writes_the_list_where_another_one_has_brought_it(places: Places) -> None:
    assert not LAUNCHER.write(places.launcher, [ONE])
    assert not places.bin.exists()

    places.bring(b"MZ one")
    LAUNCHER.write(places.launcher, [ONE])
    (places.resources / LAUNCHER.name).unlink()

    assert LAUNCHER.write(places.launcher, [ONE, TWO])
    assert places.launcher.read_bytes() == b"MZ one"
    assert len(places.list.splitlines()) == 2
