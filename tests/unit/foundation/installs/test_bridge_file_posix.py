import json
import os
import shutil
import subprocess
from pathlib import Path

import pytest

from tooltray.foundation.installs.bridge_file_posix import NO_INSTALLATION, script

SHELLS = [shell for shell in (["sh"], ["dash"], ["bash", "--posix"], ["busybox", "sh"]) if shutil.which(shell[0])]


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
