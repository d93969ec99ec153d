"""What the launcher does to itself, in children of this process; what a server can do then is in tests/end2end/test_hostile_server.py."""

import json
import os
import posix
import resource
import runpy
import signal
import subprocess
import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from pathlib import Path
from typing import NoReturn

import pytest
from tests.fakes.forked import in_child

from tooltray.foundation.programs import launcher_command
from tooltray_confine import capabilities, connects, landlock, launcher

ABI = landlock.newest_abi()
HERE = ["--read", "/", "--write", "/dev/null"]
NEEDED = ["--abi", str(ABI), "--network", "none"]


def become(monkeypatch: pytest.MonkeyPatch, look: Callable[[], object]) -> None:
    """In the place of a program: looks at what the process is by then."""

    def execve(path: str, command: Sequence[str], env: Mapping[bytes, bytes]) -> NoReturn:
        print(json.dumps({"command": command, "saw": look()}), flush=True)
        raise SystemExit

    monkeypatch.setattr(posix, "execve", execve)


def test_a_program_follows_with_fewer_rights(monkeypatch: pytest.MonkeyPatch):
    def look() -> object:
        status = dict(line.split(":\t", 1) for line in Path("/proc/self/status").read_text().splitlines() if ":\t" in line)
        limits = [resource.getrlimit(kind) for kind in (resource.RLIMIT_CORE, resource.RLIMIT_FSIZE, resource.RLIMIT_NPROC)]
        limits.append((resource.getrlimit(resource.RLIMIT_NOFILE)[0],) * 2)
        assert Path("/proc/self/oom_score_adj").read_text() == "500\n"
        return {"status": status, "limits": limits, "term": signal.getsignal(signal.SIGTERM) == signal.SIG_DFL}

    become(monkeypatch, look)
    words = [*NEEDED, *HERE, "--file-bytes", "1000000", "--processes", "5000", "--open-files", "99", "--", "/bin/x", "y"]
    ended = in_child(lambda: launcher.main(words))
    saw = json.loads(ended.said.splitlines()[0])["saw"]
    assert saw["limits"] == [[0, 0], [1000000, 1000000], [5000, 5000], [99, 99]]
    assert saw["status"]["NoNewPrivs"] == "1"
    assert saw["status"]["Seccomp"] == "2"
    assert int(saw["status"]["CapEff"], 16) in (0, 1 << 1)
    assert saw["term"]


def test_an_old_kernel_protects_the_hub_itself(monkeypatch: pytest.MonkeyPatch):
    def look() -> object:
        try:
            os.kill(os.getppid(), signal.SIGURG)
        except PermissionError:
            return "refused"
        return "sent"

    become(monkeypatch, look)
    ended = in_child(lambda: launcher.main(["--abi", "1", "--network", "all", *HERE, "--", "/bin/x"]))
    assert json.loads(ended.said.splitlines()[0])["saw"] == "refused"


def test_without_landlock_the_filter_stands_alone(monkeypatch: pytest.MonkeyPatch):
    become(monkeypatch, lambda: os.listdir("/") != [])
    ended = in_child(lambda: launcher.main(["--abi", "0", "--network", "none", "--own-ids", "--", "/bin/x"]))
    assert json.loads(ended.said.splitlines()[0])["saw"] is True


def test_variables_are_those_that_were_carried_and_the_hubs_own():
    given = {b"TOOLTRAY_CONFINED_LD_PRELOAD": b"x", b"TOOLTRAY_INSTANCE": b"1", b"PATH": b"/bin", b"TOOLTRAY_CONFINED_": b"empty"}
    assert launcher.environment(given) == {b"LD_PRELOAD": b"x", b"TOOLTRAY_INSTANCE": b"1", b"": b"empty"}


def test_the_relatives_of_a_launcher_are_the_hub_its_group_and_its_parent():
    ours = launcher.relatives(os.getpid())
    assert set(ours) == {os.getpid(), -os.getpid(), os.getppid(), -os.getpgrp()} - {0, 1}
    assert launcher.relatives(1 << 30) == (1 << 30,)


class Steps:
    """What the launcher would do to itself for good, noted in its order."""

    def __init__(self, monkeypatch: pytest.MonkeyPatch) -> None:
        monkeypatch.setattr(posix, "write", lambda *_: 0)
        self.done: list[object] = []
        self.asking: FakeAsking | None = None

        def noted(name: str, result: object = 0) -> Callable[..., object]:
            def step(*arguments: object, **named: object) -> object:
                self.done.append((name, *arguments, *named.items()))
                return result

            return step

        for place, name in ((landlock, "restrict"), (capabilities, "give_up"), (posix, "closerange"), (resource, "setrlimit")):
            monkeypatch.setattr(place, name, noted(name))
        monkeypatch.setattr(launcher, "call", noted("call", LISTENER))
        monkeypatch.setattr(posix, "execve", noted("execve"))
        monkeypatch.setattr(connects, "Asking", self._make_asking)
        self.is_outside = False

    def _make_asking(self, port: int) -> "FakeAsking":
        self.asking = FakeAsking(port, self.is_outside)
        return self.asking

    def named(self, name: str) -> list[tuple[object, ...]]:
        return [each[1:] for each in self.done if isinstance(each, tuple) and each[0] == name]


class FakeAsking:
    def __init__(self, port: int, is_outside: bool) -> None:
        self.port, self.is_outside = port, is_outside
        self.listener = 0

    def serve(self) -> int:
        return SERVED

    def hand_over(self, listener: int) -> None:
        self.listener = listener


LISTENER, SERVED = 77, 78


@pytest.fixture
def steps(monkeypatch: pytest.MonkeyPatch) -> Iterator[Steps]:
    numbers = (signal.SIGPIPE, signal.SIGXFSZ, signal.SIGTERM)
    before = [signal.getsignal(number) for number in numbers]
    yield Steps(monkeypatch)
    for number, handler in zip(numbers, before, strict=True):
        signal.signal(number, handler)


def test_rights_are_given_up_before_the_filter_and_the_program_comes_last(steps: Steps):
    launcher.main([*NEEDED, "--read", "/usr", "--write", "/own", "--", "/bin/x"])
    names = [each[0] for each in steps.done if isinstance(each, tuple)]
    assert names == ["setrlimit", "call", "restrict", "give_up", "call", "closerange", "execve"]
    assert steps.named("restrict") == [(ABI, ("read", ["/usr"]), ("write", ["/own"]), ("has_tcp_rules", ABI >= 4), ("connect_port", 0))]


def test_limits_stay_below_those_that_there_are(steps: Steps, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(resource, "getrlimit", lambda kind: (50, 100) if kind == resource.RLIMIT_NPROC else (resource.RLIM_INFINITY,) * 2)
    launcher.main([*NEEDED, "--file-bytes", "7", "--processes", "500", "--open-files", "9", "--", "/bin/x"])
    assert steps.named("setrlimit") == [
        (resource.RLIMIT_CORE, (0, 0)),
        (resource.RLIMIT_FSIZE, (7, 7)),
        (resource.RLIMIT_NPROC, (100, 100)),
        (resource.RLIMIT_NOFILE, (9, resource.RLIM_INFINITY)),
    ]


def test_a_container_that_keeps_proc_does_not_stop_it(steps: Steps, monkeypatch: pytest.MonkeyPatch):
    monkeypatch.setattr(posix, "open", lambda *_: (_ for _ in ()).throw(PermissionError()))
    launcher.main([*NEEDED, "--", "/bin/x"])
    assert len(steps.named("execve")) == 1


def test_without_landlock_there_are_no_rules_for_files(steps: Steps):
    launcher.main(["--abi", "0", "--network", "all", "--", "/bin/x"])
    assert not steps.named("restrict")
    assert len(steps.named("execve")) == 1


@pytest.mark.skipif(ABI < launcher.PROXY_ABI, reason="no rules for TCP here")
def test_for_the_proxy_one_process_stays_outside_and_gets_the_listener(steps: Steps):
    steps.is_outside = True
    words = ["--abi", str(ABI), "--network", "proxy:8080", "--", "/bin/x"]
    assert launcher.main(words) == SERVED
    assert not steps.named("give_up")
    steps.is_outside = False
    launcher.main(words)
    assert steps.asking
    assert (steps.asking.port, steps.asking.listener) == (8080, LISTENER)
    assert len(steps.named("execve")) == 1


def test_a_program_that_is_not_there_is_named(steps: Steps, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    def execve(*_: object) -> None:
        raise FileNotFoundError(2, "No such file or directory")

    monkeypatch.setattr(posix, "execve", execve)
    assert launcher.main([*NEEDED, "--", "/bin/x"]) == launcher.CANNOT
    assert capsys.readouterr().err == "tooltray: cannot be sandboxed: /bin/x: No such file or directory\n"


def test_an_unknown_processor_is_named(monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]):
    monkeypatch.setattr(posix, "uname", lambda: os.uname_result(("Linux", "", "", "", "riscv64")))
    assert launcher.main([*NEEDED, "--", "/bin/true"]) == launcher.CANNOT
    assert capsys.readouterr().err == "tooltray: cannot be sandboxed: unknown processor: riscv64\n"


@pytest.mark.parametrize(
    ("words", "said"),
    [
        (["--abi", "x"], "not understood"),
        (["--abi", str(ABI + 1), "--network", "none", "--", "/bin/true"], f"has the ABI {ABI}, and was {ABI + 1}"),
        (["--abi", "3", "--network", "proxy:80", "--", "/bin/true"], "no rules for TCP: its ABI is 3"),
    ],
)
def test_what_cannot_be_applied_ends_it_before_anything_is_done(
    steps: Steps, words: list[str], said: str, capsys: pytest.CaptureFixture[str]
):
    assert launcher.main(words) == launcher.CANNOT
    assert said in capsys.readouterr().err
    assert not steps.done


def test_its_script_starts_it():
    words = sys.argv
    try:
        sys.argv = ["", "--abi", "x"]
        with pytest.raises(SystemExit) as ended:
            runpy.run_module("tooltray_confine", run_name="tooltray_confine.__main__")
    finally:
        sys.argv = words
        sys.path.pop()
    assert ended.value.code == launcher.CANNOT


def test_it_runs_as_the_program_that_the_hub_starts():
    env = {"TOOLTRAY_CONFINED_GREETING": "hello", "PATH": "/nowhere"}
    words = [*NEEDED, "--read", "/usr", "--read", "/bin", "--read", "/lib", "--read", "/lib64", "--keep-group", "--", "/bin/sh", "-c"]
    done = subprocess.run(
        [*launcher_command(), *words, 'echo "$GREETING"; cat /etc/hostname'], env=env, capture_output=True, text=True, check=False
    )
    assert done.stdout == "hello\n"
    assert "Permission denied" in done.stderr
