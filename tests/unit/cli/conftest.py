"""The command line as a person uses it: words in, exit code and text out."""

import io
import json
import os
import subprocess
import sys
from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import pytest
from tests.fakes.terminal import Terminal

from tooltray.cli.run import run
from tooltray.foundation.home.home import Home

BOUND_S = 60.0  # for a process; on a busy machine a hub takes seconds to start


@dataclass(frozen=True)
class Result:
    code: int
    out: str
    err: str

    @property
    def json(self) -> Any:
        return json.loads(self.out)

    @property
    def error(self) -> dict[str, str]:
        """What `--json` printed on standard error."""
        error: dict[str, str] = json.loads(self.err)["error"]
        return error


Tooltray = Callable[..., Result]


@pytest.fixture
def tooltray(hub_home: Home, capsys: pytest.CaptureFixture[str], monkeypatch: pytest.MonkeyPatch) -> Tooltray:
    """Runs a command in this process; standard input is `stdin`, a text or a stream."""

    def call(*words: str, stdin: str | io.StringIO = "") -> Result:
        monkeypatch.setattr("sys.stdin", io.StringIO(stdin) if isinstance(stdin, str) else stdin)
        capsys.readouterr()
        code = run(words, open_desktop=lambda home, **_: pytest.fail("no desktop was asked for"))
        printed = capsys.readouterr()
        return Result(code, printed.out, printed.err)

    return call


@pytest.fixture
def person(tooltray: Tooltray, monkeypatch: pytest.MonkeyPatch) -> Tooltray:
    """Runs a command in this process, at a terminal into which `typed` is typed; `sees` is whether what it prints is shown there too."""

    def call(*words: str, typed: str = "y\n", sees: bool = True) -> Result:
        monkeypatch.setattr(sys.stdout, "isatty", lambda: sees)
        return tooltray(*words, stdin=Terminal(typed))

    return call


@pytest.fixture
def tooltray_process(hub_home: Home) -> Tooltray:
    """Runs a command in a process of its own, as the console script does."""

    def call(*words: str, stdin: str = "", environ: Mapping[str, str] | None = None) -> Result:
        done = subprocess.run(
            [sys.executable, "-I", "-m", "tooltray", *words],
            input=stdin.encode(),
            capture_output=True,
            timeout=BOUND_S,
            env=dict(os.environ) | dict(environ or {}),
            check=False,
        )
        return Result(done.returncode, done.stdout.decode(), done.stderr.decode())

    return call
