import asyncio
import os
import select
from pathlib import Path

import pytest

from tooltray.config.secrets import PASSPHRASE_VARIABLE
from tooltray.servers.login_shell import LoginShell, without_bundle

NEVER_S = 60.0  # longer than any shell in these tests


def write_shell(folder: Path, script: str) -> str:
    """A shell of our own: `$1` is the flags, `$2` the command."""
    path = folder / "shell"
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


def own(folder: Path, **more: str) -> dict[str, str]:
    return {"HOME": str(folder), "USER": "ann", "PATH": "/own", "API_KEY": "of the AI client", PASSPHRASE_VARIABLE: "secret"} | more


async def ended(*pids: int) -> None:
    """Waits until processes have ended, reaped or not."""
    for pid in pids:
        try:
            descriptor = os.pidfd_open(pid)
        except ProcessLookupError:
            continue
        ready, _, _ = await asyncio.to_thread(select.select, [descriptor], [], [], 10)
        os.close(descriptor)
        assert ready, f"process {pid} still runs"


@pytest.mark.parametrize("shell", ["/bin/sh", "/bin/bash"])
async def test_what_a_profile_exports_is_there_and_nothing_of_whoever_started_the_hub(tmp_path: Path, shell: str) -> None:
    (tmp_path / ".profile").write_text("echo Welcome; printf 'no newline'; export GREETING='a=b\nc' PATH=$HOME/bin:$PATH; NOT_EXPORTED=1\n")
    environ = await LoginShell(shell, NEVER_S, own=own(tmp_path, DISPLAY=":7", LC_ALL="C", XDG_RUNTIME_DIR="/run/x")).environ()
    assert environ["GREETING"] == "a=b\nc"
    assert environ["PATH"].startswith(f"{tmp_path}/bin:/")
    assert (environ["HOME"], environ["USER"], environ["DISPLAY"]) == (str(tmp_path), "ann", ":7")
    assert (environ["LC_ALL"], environ["XDG_RUNTIME_DIR"]) == ("C", "/run/x")
    assert not environ.keys() & {"API_KEY", PASSPHRASE_VARIABLE, "NOT_EXPORTED", "_", "SHLVL", "PWD", "TERM", "TOOLTRAY_READS_ENVIRONMENT"}


async def test_a_profile_that_is_for_interactive_shells_is_read_too(tmp_path: Path) -> None:
    (tmp_path / ".bash_profile").write_text('case $- in *i*) export PATH="$HOME/node/bin:$PATH" TERM=xterm;; esac\n')
    environ = await LoginShell("/bin/bash", NEVER_S, own=own(tmp_path)).environ()
    assert environ["PATH"].startswith(f"{tmp_path}/node/bin:")
    assert environ["TERM"] == "xterm"


async def test_a_profile_can_see_that_it_is_only_read(tmp_path: Path) -> None:
    (tmp_path / ".profile").write_text('export SEEN="$TOOLTRAY_READS_ENVIRONMENT $TERM"\n')
    assert (await LoginShell("/bin/sh", NEVER_S, own=own(tmp_path)).environ())["SEEN"] == "1 dumb"


async def test_a_shell_that_becomes_another_program_when_interactive_is_asked_again(tmp_path: Path) -> None:
    shell = LoginShell(write_shell(tmp_path, '[ "$1" = -ic ] && exec true; SECOND=1; export SECOND; eval "$2"'), NEVER_S, own=own(tmp_path))
    assert (await shell.environ())["SECOND"] == "1"
    assert shell.problem is None


@pytest.mark.parametrize(
    ("script", "reason"),
    [
        ("exit 1", "it ended without printing its environment"),
        ("echo This account is currently not available.", "it ended without printing its environment"),
        ("exec cat /dev/zero", "it ended without printing its environment"),
        ('eval "${2%; echo*}"', "it ended without printing its environment"),
    ],
)
async def test_a_shell_that_gives_nothing_leaves_the_hubs_own_environment(tmp_path: Path, script: str, reason: str) -> None:
    path = write_shell(tmp_path, script)
    shell = LoginShell(path, NEVER_S, own=own(tmp_path))
    environ = await shell.environ()
    assert environ == {"HOME": str(tmp_path), "USER": "ann", "PATH": "/own", "API_KEY": "of the AI client"}
    assert shell.problem is not None
    assert shell.problem.message == f"{path}: {reason}"


async def test_a_shell_that_hangs_is_given_up(tmp_path: Path) -> None:
    shell = LoginShell(write_shell(tmp_path, "sleep 1000"), 0.05, own=own(tmp_path))
    assert (await shell.environ())["PATH"] == "/own"
    assert shell.problem is not None
    assert "it took more than 0.05 s" in shell.problem.message


async def test_a_shell_that_is_missing_is_told(tmp_path: Path) -> None:
    shell = LoginShell(str(tmp_path / "missing"), own=own(tmp_path))
    assert (await shell.environ())["PATH"] == "/own"
    assert shell.problem is not None
    assert "No such file" in shell.problem.message


async def test_a_shell_that_is_given_up_takes_what_it_started_with_it(tmp_path: Path) -> None:
    os.mkfifo(tmp_path / "pids")
    shell = LoginShell(write_shell(tmp_path, f'sleep 1000 & echo $$ $! > "{tmp_path}/pids"; wait'), NEVER_S, own=own(tmp_path))
    reading = asyncio.get_running_loop().create_task(shell.environ())
    pids = (await asyncio.wait_for(asyncio.to_thread((tmp_path / "pids").read_text), 10)).split()
    reading.cancel()
    with pytest.raises(asyncio.CancelledError):
        await reading
    await ended(*map(int, pids))


async def test_what_an_rc_file_leaves_running_holds_up_nobody_and_ends(tmp_path: Path) -> None:
    shell = LoginShell(write_shell(tmp_path, 'sleep 1000 & LEFT=$!; export LEFT; eval "$2"'), NEVER_S, own=own(tmp_path))
    environ = await shell.environ()
    await ended(int(environ["LEFT"]))


async def test_the_shell_runs_once_however_many_ask(tmp_path: Path) -> None:
    shell = LoginShell(write_shell(tmp_path, f'echo started >> "{tmp_path}/count"; eval "$2"'), NEVER_S, own=own(tmp_path))
    first, second = await asyncio.gather(shell.environ(), shell.environ())
    assert first is second is await shell.environ()
    assert (tmp_path / "count").read_text() == "started\n"


async def test_the_shell_runs_in_a_session_of_its_own_without_input(tmp_path: Path) -> None:
    script = 'read -r line < /proc/self/stat; set -- $line "$2"; SESSION=$6; INPUT=$(readlink /proc/self/fd/0); export SESSION INPUT\n'
    script += 'for last; do :; done; eval "$last"'
    environ = await LoginShell(write_shell(tmp_path, script), NEVER_S, own=own(tmp_path)).environ()
    assert int(environ["SESSION"]) not in (os.getsid(0), 0)
    assert environ["INPUT"] == "/dev/null"


async def test_the_persons_shell_is_what_shell_says(tmp_path: Path) -> None:
    path = write_shell(tmp_path, 'MINE=1; export MINE; eval "$2"')
    assert (await LoginShell(timeout_s=NEVER_S, own=own(tmp_path, SHELL=path)).environ())["MINE"] == "1"


@pytest.mark.parametrize("variable", ["", "relative", "/nonexistent/shell"])
async def test_without_a_usable_one_the_user_database_says_it(tmp_path: Path, variable: str) -> None:
    shell = LoginShell(timeout_s=NEVER_S, own=own(tmp_path, SHELL=variable))
    assert "API_KEY" not in await shell.environ()
    assert shell.problem is None


async def test_a_user_without_a_shell_gets_the_hubs_own_environment(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "getuid", lambda: 4_000_000_000)
    shell = LoginShell(own=own(tmp_path))
    assert (await shell.environ())["PATH"] == "/own"
    assert shell.problem is None


def test_a_frozen_build_keeps_its_own_libraries_to_itself() -> None:
    environ = {
        "LD_LIBRARY_PATH": "/app/_internal",
        "LD_LIBRARY_PATH_ORIG": "/usr/local/lib",
        "DYLD_LIBRARY_PATH": "/app/_internal",
        "PYTHONHOME": "/app/_internal",
        "PYTHONPATH": "/app/_internal/base.zip:/person/lib",
        "QT_PLUGIN_PATH": "/app/_internal/PySide6/plugins",
        "_PYI_ARCHIVE_FILE": "/app/tooltray",
        "NOT_ORIG": "kept",
        "PATH": "/app/_internal:/usr/bin",
        "NEAR": "/app/_internals",
        "EMPTY": "",
    }
    assert without_bundle(environ, "/app/_internal") == {
        "LD_LIBRARY_PATH": "/usr/local/lib",
        "PYTHONPATH": "/person/lib",
        "NOT_ORIG": "kept",
        "PATH": "/usr/bin",
        "NEAR": "/app/_internals",
        "EMPTY": "",
    }


def test_what_is_not_frozen_keeps_everything_but_the_passphrase() -> None:
    environ = {"LD_LIBRARY_PATH": "/x", "PYTHONPATH": "/y", "A_ORIG": "1"}
    assert without_bundle(environ | {PASSPHRASE_VARIABLE: "secret"}, None) == environ
