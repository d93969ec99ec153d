"""launch/system_variables.py"""

import subprocess
import sys
from collections.abc import Mapping
from pathlib import Path

import pytest

from tooltray.launch.system_variables import Run, look_up, run_program

NAMES = ("SSL_CERT_FILE", "https_proxy", "NO_PROXY")
SYSTEMD = "SSL_CERT_FILE=/of/session.pem\nOTHER=1\nNO_PROXY=$'a b'\nodd line\n"
ETC = '# SSL_CERT_FILE=/no\nexport SSL_CERT_FILE="/of/etc.pem"\n\nhttps_proxy=\'http://proxy:1\'\nNO_PROXY="unfinished\n'


def answering(text: str = "", error: Exception | None = None) -> Run:
    def run(command: list[str], environ: Mapping[str, str], within_s: float) -> str:
        if error:
            raise error
        return text

    return run


@pytest.fixture
def etc(tmp_path: Path) -> Path:
    return tmp_path / "environment"


def test_the_session_goes_before_the_file(etc: Path) -> None:
    etc.write_text(ETC)
    assert look_up(NAMES, {}, platform="linux", run=answering(SYSTEMD), etc_environment=etc) == {
        "SSL_CERT_FILE": ("/of/session.pem", "systemctl --user"),
        "https_proxy": ("http://proxy:1", str(etc)),
        "NO_PROXY": ("a b", "systemctl --user"),
    }
    assert look_up(["NO_PROXY"], {}, platform="linux", run=answering(), etc_environment=etc) == {"NO_PROXY": ('"unfinished', str(etc))}


@pytest.mark.parametrize("error", [FileNotFoundError(), subprocess.TimeoutExpired("x", 1), subprocess.CalledProcessError(1, "x")])
def test_what_is_missing_fails_or_does_not_answer_has_nothing(etc: Path, error: Exception) -> None:
    for platform in ("linux", "darwin"):
        assert look_up(NAMES, {}, platform=platform, run=answering(error=error), etc_environment=etc) == {}
    etc.mkdir()
    assert look_up(NAMES, {}, platform="linux", run=answering(error=error), etc_environment=etc) == {}


def test_systemctl_is_told_where_the_session_is_and_nothing_else(etc: Path) -> None:
    seen: list[Mapping[str, str]] = []

    def run(command: list[str], environ: Mapping[str, str], within_s: float) -> str:
        seen.append(environ)
        return ""

    look_up(NAMES, {"XDG_RUNTIME_DIR": "/run/user/1", "API_KEY": "key"}, platform="linux", run=run, etc_environment=etc)
    assert [environ.keys() - {"PATH"} for environ in seen] == [{"XDG_RUNTIME_DIR"}]


def test_launchd_is_asked_for_each_variable(etc: Path) -> None:
    def run(command: list[str], environ: Mapping[str, str], within_s: float) -> str:
        assert command[:2] == ["launchctl", "getenv"]
        return "/of/mac.pem\n" if command[2] == "SSL_CERT_FILE" else "\n"

    assert look_up(NAMES, {}, platform="darwin", run=run, etc_environment=etc) == {"SSL_CERT_FILE": ("/of/mac.pem", "launchctl")}


def test_windows_has_it_in_every_environment() -> None:
    assert look_up(NAMES, {}, platform="win32", run=answering(SYSTEMD)) == {}


def test_a_program_is_run_within_its_time() -> None:
    assert run_program([sys.executable, "-c", "import os; print(os.environ['X'])"], {"X": "1"}, 30) == "1\n"
    with pytest.raises(subprocess.TimeoutExpired):
        run_program([sys.executable, "-c", "import threading; threading.Event().wait()"], {}, 0.05)
