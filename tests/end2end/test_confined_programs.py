"""Confined programs end as others do: asked first, with their own exit code, with all that they have started."""

import ctypes
import fcntl
import json
import os
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager, suppress
from pathlib import Path

import msgspec
import pytest

from tooltray.foundation.platform.guardian_linux import PR_SET_CHILD_SUBREAPER
from tooltray.foundation.programs import launcher_folders
from tooltray.servers.confinement.confinements import Support, probe
from tooltray.servers.confinement.launch_line import Policy, carried, confined
from tooltray.servers.launch.process_family import START_OPTIONS, ProcessFamily

pytestmark = pytest.mark.timeout(60)

PYTHON = os.path.realpath(sys.executable)
POLITE = """
import os, signal, sys, time
def end(*_):
    os.write(1, b"in order\\n")
    sys.exit(3)
signal.signal(signal.SIGTERM, end)
print("ready", flush=True)
while True:
    time.sleep(60)
"""


@pytest.fixture(params=["with bubblewrap", "without"])
def support(request: pytest.FixtureRequest) -> Support:
    here = probe()
    return here if request.param == "with bubblewrap" else msgspec.structs.replace(here, bwrap="")


@contextmanager
def running(support: Support, policy: Policy, *arguments: str) -> Iterator[subprocess.Popen[str]]:
    line = confined(policy, support, PYTHON, ["-I", "-S", *arguments])
    pipes = {"stdin": subprocess.PIPE, "stdout": subprocess.PIPE, "stderr": subprocess.PIPE}
    with subprocess.Popen(line, env=carried({"GREETING": "hello"}, support), text=True, **pipes, **START_OPTIONS) as program:
        try:
            yield program
        finally:
            ProcessFamily(program.pid).kill()


def test_what_is_asked_to_end_may_end_in_order(support: Support):
    policy = Policy(read=(sys.base_prefix,), network="none")
    with running(support, policy, "-c", POLITE) as program:
        assert program.stdout
        assert program.stdout.readline() == "ready\n"
        ProcessFamily(program.pid).ask_to_end()
        assert program.communicate() == ("in order\n", "")
        assert program.returncode == 3


def test_pipes_variables_and_folders_are_those_of_any_program(support: Support, tmp_path: Path):
    own, private = tmp_path / "own", tmp_path / "private"
    own.mkdir()
    private.mkdir()
    policy = Policy(read=(sys.base_prefix,), write=(str(own),), network="none", private_tmp=str(private))
    code = "import os, sys; open(sys.argv[1] + '/new', 'w').write(sys.stdin.read() + os.environ['GREETING']); sys.stderr.write('said')"
    with running(support, policy, "-c", code, str(own)) as program:
        assert program.communicate("input, ") == ("", "said")
    assert program.returncode == 0
    assert (own / "new").read_text() == "input, hello"


def test_tmp_is_its_own_where_bubblewrap_is_there(tmp_path: Path):
    here = probe()
    if not here.bwrap:
        pytest.skip("no bubblewrap that works here")
    private = tmp_path / "private"
    private.mkdir()
    policy = Policy(read=(sys.base_prefix,), network="none", private_tmp=str(private))
    code = "import os, tempfile; print(sorted(os.listdir('/tmp'))); tempfile.mkstemp(dir='/tmp', suffix='mine'); os.openpty(); os.setsid()"
    bound = {tmp_path.parts[2], *(Path(folder).parts[2] for folder in launcher_folders() if folder.startswith("/tmp/"))}
    with running(here, policy, "-c", code) as program:
        assert program.communicate() == (f"{sorted(bound)}\n", "")
    assert len(list(private.glob("*mine"))) == 1


CHANGES = """
import errno, fcntl, json, os, sys
package, own = sys.argv[1:]
def refused(act, *args):
    try:
        act(*args)
    except OSError as error:
        return errno.errorcode[error.errno]
with open(package) as opened:
    said = {
        "read": opened.read(),
        "write": refused(open, package, "r+"),
        "empty": refused(os.truncate, package, 0),
        "link": refused(os.link, package, own + "/linked"),
        "move": refused(os.rename, package, own + "/moved"),
        "lease": refused(fcntl.fcntl, opened, fcntl.F_SETLEASE, fcntl.F_WRLCK),
    }
print(json.dumps(said))
"""


def test_a_file_that_servers_share_is_not_changed_under_its_own_or_another_name_and_nobody_has_to_wait_for_it(
    support: Support, tmp_path: Path
):
    """Without a sandbox each of these works."""
    package, own = tmp_path / "package.js", tmp_path / "own"
    package.write_text("shared")
    own.mkdir()
    policy = Policy(read=(sys.base_prefix, str(package)), write=(str(own),), network="none")
    with running(support, policy, "-c", CHANGES, str(package), str(own)) as program:
        output, errors = program.communicate()
    assert not errors
    said = json.loads(output)
    assert said.pop("read") == package.read_text() == "shared"
    assert said.keys() == {"write", "empty", "link", "move", "lease"}
    assert set(said.values()) <= {"EACCES", "EPERM", "EROFS", "EXDEV"}, said
    free = subprocess.run([PYTHON, "-c", CHANGES, str(package), str(own)], capture_output=True, text=True, check=True)
    assert not any(json.loads(free.stdout)[deed] for deed in said)


DAEMON = """
import fcntl, os, signal, sys
reading, writing = os.pipe()
if os.fork():
    os.read(reading, 1)
    os._exit(0)
os.setsid()
if os.fork():
    os._exit(0)
signal.signal(signal.SIGTERM, signal.SIG_IGN)
file = os.open(sys.argv[1] + "/held", os.O_CREAT | os.O_RDWR, 0o600)
fcntl.flock(file, fcntl.LOCK_EX)
os.write(writing, b"x")
while True:
    os.pwrite(file, os.urandom(8), 0)
"""


@contextmanager
def as_parent_of_orphans() -> Iterator[None]:
    """Makes the test what the guardian is for a hub."""
    library = ctypes.CDLL(None)
    library.prctl(PR_SET_CHILD_SUBREAPER, 1)
    try:
        yield
    finally:
        library.prctl(PR_SET_CHILD_SUBREAPER, 0)


def test_once_its_group_has_ended_not_even_a_daemon_writes(support: Support, tmp_path: Path):
    policy = Policy(read=(sys.base_prefix,), write=(str(tmp_path),), network="none")
    with as_parent_of_orphans(), running(support, policy, "-c", DAEMON, str(tmp_path)) as program:
        assert program.wait() == 0
        family = ProcessFamily(program.pid)
        if not support.bwrap:
            assert not family.wait_for_end(0.1), "the daemon is no longer in its group"
        family.kill()
        with suppress(ChildProcessError):
            while os.waitpid(-program.pid, 0):
                pass
        assert family.wait_for_end(10)
    with open(tmp_path / "held") as file:
        fcntl.flock(file, fcntl.LOCK_EX | fcntl.LOCK_NB)
