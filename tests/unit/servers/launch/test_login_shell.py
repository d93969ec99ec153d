import asyncio
import os
import select
from functools import partial
from pathlib import Path

import pytest
from tests.fakes.set_clock import SetClock

from tooltray.config.secrets.vaults import PASSPHRASE_VARIABLE
from tooltray.servers.launch import login_shell
from tooltray.servers.launch.login_shell import own_environ, without_bundle

pytestmark = pytest.mark.posix  # shells of POSIX

NEVER_S = 60.0  # longer than any shell in these tests


LoginShell = partial(login_shell.LoginShell, complete=dict)  # the folders that are added have their own tests


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


# what a login shell leaves out


async def test_what_every_terminal_reads_counts_also_where_no_profile_reads_it(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text('case $- in *i*) ;; *) return;; esac\nexport PATH="$HOME/nvm/bin:$PATH" COUNT="${COUNT}x"\n')
    environ = await LoginShell("/bin/bash", NEVER_S, own=own(tmp_path)).environ()
    assert environ["PATH"].startswith(f"{tmp_path}/nvm/bin:")
    assert environ["COUNT"] == "x"


@pytest.mark.parametrize("profile", [".bash_profile", ".bash_login", ".profile"])
async def test_what_a_profile_reads_already_is_not_read_twice(tmp_path: Path, profile: str) -> None:
    (tmp_path / ".bashrc").write_text('export COUNT="${COUNT}x"\n')
    (tmp_path / profile).write_text('. "$HOME/.bashrc"\n')
    assert (await LoginShell("/bin/bash", NEVER_S, own=own(tmp_path)).environ())["COUNT"] == "x"


async def test_of_several_profiles_the_first_counts(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text('export COUNT="${COUNT}x"\n')
    (tmp_path / ".bash_profile").write_text("export FIRST=1\n")
    (tmp_path / ".profile").write_text('. "$HOME/.bashrc"\n')
    environ = await LoginShell("/bin/bash", NEVER_S, own=own(tmp_path)).environ()
    assert (environ["FIRST"], environ["COUNT"]) == ("1", "x")


async def test_a_folder_in_the_place_of_a_profile_is_none(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("export MINE=1\n")
    (tmp_path / ".bash_profile").mkdir()
    shell = LoginShell("/bin/bash", NEVER_S, own=own(tmp_path))
    assert (await shell.environ())["MINE"] == "1"
    assert shell.problem is None


async def test_a_profile_that_is_a_pipe_to_which_nobody_writes_is_given_up_like_a_shell_that_hangs(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").touch()
    os.mkfifo(tmp_path / ".profile")
    shell = LoginShell("/bin/bash", 0.2, own=own(tmp_path))
    assert (await shell.environ())["PATH"] == "/own"
    assert "took more than" in str(shell.problem)


@pytest.mark.parametrize("rc", ["exit 3", "exec true", "return 1", "if then"])
async def test_an_rc_file_that_ends_the_shell_or_is_broken_loses_only_itself(tmp_path: Path, rc: str) -> None:
    (tmp_path / ".bashrc").write_text(f"{rc}\n")
    (tmp_path / ".profile").write_text("export MINE=1\n")
    shell = LoginShell("/bin/bash", NEVER_S, own=own(tmp_path))
    assert (await shell.environ())["MINE"] == "1"
    assert shell.problem is None


# shells of other kinds, as scripts that behave like them where it matters


def like(folder: Path, name: str, script: str) -> str:
    """A shell of a name, which sees its own argument 0 in `$0` if the system passes it on, its flags in `$1`, the command in `$2`."""
    path = folder / name
    path.write_text(f"#!/bin/sh\n{script}\n")
    path.chmod(0o755)
    return str(path)


async def test_a_zsh_reads_all_its_files_by_itself(tmp_path: Path) -> None:
    (tmp_path / ".bashrc").write_text("export WRONG=1\n")
    script = '[ "$1" = -ic ] || exit 1; printf "\\033]0;title\\007"; PATH="$HOME/.volta/bin:$PATH"; export PATH; eval "$2"'
    environ = await LoginShell(like(tmp_path, "zsh", script), NEVER_S, own=own(tmp_path)).environ()
    assert environ["PATH"].startswith(f"{tmp_path}/.volta/bin:")
    assert "WRONG" not in environ


async def test_a_fish_that_greets_and_knows_no_sh_is_understood(tmp_path: Path) -> None:
    script = (
        'echo "Welcome to fish, the friendly interactive shell"\ncase $2 in *"\\$"*|*"export"*|*"&&"*) exit 127;; esac\n'
        'FISH=1; export FISH; eval "$2"; echo Bye'
    )
    assert (await LoginShell(like(tmp_path, "fish", script), NEVER_S, own=own(tmp_path)).environ())["FISH"] == "1"


async def test_a_tcsh_that_refuses_the_login_flag_beside_others_is_started_without_it(tmp_path: Path) -> None:
    script = 'case $1 in *l*) echo "Unknown option" >&2; exit 1;; esac; TCSH=1; export TCSH; eval "$2"'
    assert (await LoginShell(like(tmp_path, "tcsh", script), NEVER_S, own=own(tmp_path)).environ())["TCSH"] == "1"


async def test_a_shell_that_reads_its_input_or_asks_a_question_gets_none(tmp_path: Path) -> None:
    script = 'printf "Update now? [y/N] "; read -r answer || answer=none; ANSWER=$answer; export ANSWER; eval "$2"'
    assert (await LoginShell(like(tmp_path, "zsh", script), NEVER_S, own=own(tmp_path)).environ())["ANSWER"] == "none"


# when it is asked again


def counting(folder: Path) -> str:
    return write_shell(folder, f'echo x >> "{folder}/count"; COUNT=$(wc -l < "{folder}/count"); export COUNT; eval "$2"')


async def test_a_shell_that_is_to_be_asked_again_is_asked_at_the_next_use_alone(tmp_path: Path) -> None:
    clock = SetClock(100.0)
    shell = LoginShell(counting(tmp_path), NEVER_S, own=own(tmp_path), clock=clock)
    shell.expire()
    assert (await shell.environ())["COUNT"].strip() == "1"
    clock.now += login_shell.FRESH_S
    assert (await shell.environ())["COUNT"].strip() == "1"
    shell.expire()
    assert [(await shell.environ())["COUNT"].strip() for _ in range(2)] == ["2", "2"]


async def test_what_was_just_read_is_not_read_again(tmp_path: Path) -> None:
    clock = SetClock(100.0)
    shell = LoginShell(counting(tmp_path), NEVER_S, own=own(tmp_path), clock=clock)
    await shell.environ()
    clock.now += login_shell.FRESH_S - 0.1
    shell.expire()
    assert (await shell.environ())["COUNT"].strip() == "1"


async def test_a_shell_that_gives_nothing_the_second_time_loses_nothing_and_new_folders_are_found(tmp_path: Path) -> None:
    clock = SetClock(100.0)
    path = write_shell(tmp_path, 'MINE=1; export MINE; eval "$2"')
    shell = login_shell.LoginShell(path, NEVER_S, own=own(tmp_path), clock=clock)
    await shell.environ()
    Path(path).unlink()
    (tmp_path / ".cargo" / "bin").mkdir(parents=True)
    clock.now += login_shell.FRESH_S
    shell.expire()
    environ = await shell.environ()
    assert (environ["MINE"], shell.problem) == ("1", None)
    assert f"{tmp_path}/.cargo/bin" in environ["PATH"].split(":")


async def test_a_shell_that_could_not_be_read_may_be_the_second_time_and_may_fail_again(tmp_path: Path) -> None:
    clock = SetClock(100.0)
    shell = LoginShell(str(tmp_path / "shell"), NEVER_S, own=own(tmp_path), clock=clock)
    for _ in range(2):
        clock.now += login_shell.FRESH_S
        shell.expire()
        assert (await shell.environ())["PATH"] == "/own"
        assert shell.problem is not None
    write_shell(tmp_path, 'MINE=1; export MINE; eval "$2"')
    clock.now += login_shell.FRESH_S
    shell.expire()
    assert ((await shell.environ())["MINE"], shell.problem) == ("1", None)


# the folders behind the PATH


async def test_the_usual_folders_are_added_to_what_the_shell_gives_and_to_the_hubs_own_environment(tmp_path: Path) -> None:
    (tmp_path / ".bun" / "bin").mkdir(parents=True)
    given = await login_shell.LoginShell(write_shell(tmp_path, 'PATH=/given; export PATH; eval "$2"'), NEVER_S, own=own(tmp_path)).environ()
    assert given["PATH"].startswith(f"/given:{tmp_path}/.bun/bin")
    fallback = await login_shell.LoginShell(str(tmp_path / "missing"), own=own(tmp_path)).environ()
    assert fallback["PATH"].startswith(f"/own:{tmp_path}/.bun/bin")


# a frozen build


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


SPECIAL = "/venv/bin:/usr/sbin:/usr/bin"


async def test_what_a_person_started_the_hub_with_goes_before_what_the_shell_sets(tmp_path: Path) -> None:
    (tmp_path / ".profile").write_text("export KEY=of-profile OTHER=of-profile PATH=/tools:/usr/bin LANG=C\n")
    environment = own(
        tmp_path, KEY="of-terminal", ONLY="of-terminal", PATH=SPECIAL, LC_ALL="C", SHLVL="7", NOTIFY_SOCKET="@1", TOOLTRAY_X="1"
    )
    shell = LoginShell("/bin/sh", NEVER_S, own=environment, own_use="first")
    environ = await shell.environ()
    assert (environ["KEY"], environ["ONLY"], environ["OTHER"]) == ("of-terminal", "of-terminal", "of-profile")
    assert environ["PATH"] == "/venv/bin:/tools:/usr/bin"
    assert not environ.keys() & {PASSPHRASE_VARIABLE, "SHLVL", "NOTIFY_SOCKET", "TOOLTRAY_X"}
    assert [name for name in ("KEY", "ONLY", "LC_ALL", "OTHER", "LANG", "NONE") if shell.is_from_own(name)] == ["KEY", "ONLY", "LC_ALL"]


async def test_what_a_desktop_started_the_hub_with_counts_where_the_shell_sets_nothing(tmp_path: Path) -> None:
    (tmp_path / ".profile").write_text("export KEY=of-profile PATH=/tools:/usr/bin\n")
    shell = LoginShell("/bin/sh", NEVER_S, own=own(tmp_path, KEY="of-session", ONLY="of-session", PATH=SPECIAL), own_use="additions")
    environ = await shell.environ()
    assert (environ["KEY"], environ["ONLY"]) == ("of-profile", "of-session")
    assert environ["PATH"] == "/tools:/usr/bin:/venv/bin"
    assert [name for name in ("KEY", "ONLY") if shell.is_from_own(name)] == ["ONLY"]


async def test_without_a_shell_every_variable_is_the_hubs_own(tmp_path: Path) -> None:
    shell = LoginShell(write_shell(tmp_path, "exit 1"), NEVER_S, own=own(tmp_path))
    await shell.environ()
    assert shell.is_from_own("API_KEY")


def test_what_an_ai_client_has_set_in_our_environment_is_not_for_servers(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(os, "environ", {"HOME": "/home/u", "PATH": "/p", "API_KEY": "of the client"})
    assert own_environ(is_foreign=False) == os.environ
    assert own_environ(is_foreign=True) == {"HOME": "/home/u", "PATH": "/p"}
