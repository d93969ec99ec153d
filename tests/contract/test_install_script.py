"""packaging/linux/install.sh, with a small archive: an update that cannot be finished, and two at once."""

import os
import shutil
import subprocess
from collections.abc import Callable
from pathlib import Path

import psutil
import pytest
from tests.fakes.heard import PATIENCE_S

ROOT = Path(__file__).parents[2]
SHARED = (
    "bash-completion/completions/tooltray",
    "zsh/site-functions/_tooltray",
    "fish/vendor_completions.d/tooltray.fish",
    "man/man1/tooltray.1",
    "man/man1/tooltray-bridge.1",
)
PROGRAMS = ("tooltray", "tooltray-bridge", "_internal/library")
SLOW_CP = """\
#!/bin/sh
case $* in *.new) echo >"$BEGUN"; read -r _ <"$GO" ;; esac
exec /bin/cp "$@"
"""


class Archive:
    """An unpacked archive, and the home of the user who installs it."""

    def __init__(self, folder: Path) -> None:
        self.folder, self.home = folder / "archive", folder / "home"
        self.programs = self.home / ".local" / "lib" / "tooltray"
        self.home.mkdir()
        for name in (*(f"tooltray/{each}" for each in PROGRAMS), *(f"share/{each}" for each in SHARED), "tooltray.svg"):
            (self.folder / name).parent.mkdir(parents=True, exist_ok=True)
            (self.folder / name).write_text("x" * 4000)
        for name in ("install.sh", "tooltray.desktop"):
            shutil.copy(ROOT / "packaging" / "linux" / name, self.folder)

    def start(self, version: str, before: str = "", **environ: str) -> "subprocess.Popen[bytes]":
        """
        Args:
            before: what the shell does ahead of the script.
        """
        (self.folder / "version").write_text(f"{version}\n")
        command = ["sh", "-c", f'{before or ":"} && exec sh "$0"', str(self.folder / "install.sh")]
        return subprocess.Popen(command, env={"HOME": str(self.home), "PATH": os.defpath} | environ, stdout=subprocess.DEVNULL)

    @property
    def installed(self) -> tuple[str, set[str]]:
        """The version in use, and its files."""
        current = self.programs / "current"
        files = {str(file.relative_to(current)) for file in current.rglob("*") if file.is_file()}
        return os.readlink(current), files


@pytest.fixture
def archive(tmp_path: Path) -> Archive:
    return Archive(tmp_path)


def test_an_update_for_which_there_is_no_room_leaves_the_version_before(archive: Archive) -> None:
    assert archive.start("1.0").wait(PATIENCE_S) == 0
    assert archive.start("2.0", "trap '' XFSZ && ulimit -f 1").wait(PATIENCE_S) != 0
    assert archive.installed == ("1.0", {*PROGRAMS})
    assert not (archive.programs / ".new").exists()
    assert not (archive.programs / "2.0").exists()


def wait_for(is_so: Callable[[], bool]) -> bool:
    """Waits, bounded, for another process's next step, which gives no event."""
    with subprocess.Popen(["sleep", str(PATIENCE_S)]) as clock:
        while not (done := is_so()) and clock.poll() is None:
            os.sched_yield()
        clock.kill()
    return done


def test_of_two_installations_at_once_the_second_waits_for_the_first(archive: Archive, tmp_path: Path) -> None:
    begun, go, slow = tmp_path / "begun", tmp_path / "go", tmp_path / "bin" / "cp"
    os.mkfifo(begun)
    os.mkfifo(go)
    slow.parent.mkdir()
    slow.write_text(SLOW_CP)
    slow.chmod(0o755)
    first = archive.start("1.0", PATH=f"{slow.parent}:{os.defpath}", BEGUN=str(begun), GO=str(go))
    begun.read_text()  # it copies
    second = archive.start("1.0")
    is_waiting = wait_for(lambda: any(child.name() == "flock" for child in psutil.Process(second.pid).children()))
    go.write_text("\n")
    assert (first.wait(PATIENCE_S), second.wait(PATIENCE_S), is_waiting) == (0, 0, True)
    assert archive.installed == ("1.0", {*PROGRAMS})
