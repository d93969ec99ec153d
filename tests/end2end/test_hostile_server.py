"""A server that tries eighty things it must not, confined as *Own files* with *No network*: it does none of them.

Each can be done where nothing refuses it, or the test would prove nothing. What an older kernel or a missing bubblewrap lets through is
what the card says, and nothing else.
"""

import fcntl
import os
import signal
import subprocess
import sys
import time
from collections.abc import Mapping
from pathlib import Path

import msgspec
import pytest
from tests.fakes.hostile_facts import FILE_BYTES, World, hostile_world

from tooltray.servers.confinement.confinements import BUBBLEWRAP_FAILS, NO_BUBBLEWRAP, NO_SIGNALS, missing, probe
from tooltray.servers.confinement.launch_line import Policy, carried, confined
from tooltray.servers.launch.process_family import START_OPTIONS, ProcessFamily

pytestmark = pytest.mark.timeout(60)

SERVER = Path(__file__).with_name("servers") / "hostile_server.py"
WITHOUT_BUBBLEWRAP = {
    *("see_processes", "see_names", "see_descriptor_numbers", "see_threads"),
    *("change_foreign_mode", "change_foreign_dates"),
}
LET_THROUGH = {
    NO_SIGNALS: {"signal_other_program", "signal_hub_by_thread"},
    NO_BUBBLEWRAP: WITHOUT_BUBBLEWRAP,
    BUBBLEWRAP_FAILS: WITHOUT_BUBBLEWRAP,
}
"""What the sentences of a card mean."""
ALLOWED = {"harmless", "survive"}  # what survives is looked at when the hub has ended the server
OF_ROOT = {
    *("read_passwords_of_system", "read_by_handle", "change_foreign_owner", "make_device", "change_root", "set_core_pattern"),
    *("join_namespace", "mount", "new_file_system", "load_bpf", "measure_performance", "send_raw", "read_packets", "replace_own_program"),
    *("replace_launcher", "type_into_terminal"),
}
"""What the system itself refuses to others, or may."""
OF_KERNEL = {"use_kernel_crypto", "old_system_calls", "reach_virtual_machine_host", "connect_by_multipath_tcp", "new_user_namespace"}
"""What not every kernel has or allows."""
ENDED_WITHIN_S = 5.0


@pytest.fixture
def world(tmp_path_factory: pytest.TempPathFactory):
    with hostile_world(tmp_path_factory.mktemp("w")) as world:
        yield world


def outcomes(world: World, line: tuple[str, ...], env: Mapping[str, str]) -> dict[str, str]:
    """What each trial has said; then the server is ended as the hub does it."""
    with subprocess.Popen(line, env=env, stdout=subprocess.PIPE, pass_fds=[world.inherited], **START_OPTIONS) as server:
        family = ProcessFamily(server.pid)
        assert server.stdout
        said = server.stdout.read()
        family.kill()
    return msgspec.json.decode(said, type=dict[str, str])


def has_survivor(world: World) -> bool:
    """Whether what holds the lock is there still after a while."""
    give_up_at = time.monotonic() + ENDED_WITHIN_S
    with open(world.own / "survivor") as lock:
        while True:
            try:
                fcntl.flock(lock, fcntl.LOCK_EX | fcntl.LOCK_NB)
                return False
            except OSError:
                if time.monotonic() > give_up_at:
                    return True
                time.sleep(0.01)


@pytest.mark.parametrize("abi", ["real", 1, 2, 4])
@pytest.mark.parametrize("bubblewrap", ["with", "without"])
def test_a_confined_server_does_nothing_but_what_its_card_says(world: World, abi: str | int, bubblewrap: str):
    here = probe()
    support = msgspec.structs.replace(
        here, abi=here.abi if abi == "real" else min(int(abi), here.abi), bwrap=here.bwrap if bubblewrap == "with" else ""
    )
    python = os.path.realpath(sys.executable)
    policy = Policy(
        read=(sys.base_prefix, str(world.package), str(SERVER.parent)),
        write=(str(world.own),),
        network="none",
        file_bytes=FILE_BYTES,
    )
    line = confined(policy, support, python, ["-I", "-S", str(SERVER), str(world.facts), "--all"])
    said = outcomes(world, line, carried({"PATH": "/usr/bin:/bin"}, support))
    done = {name for name, outcome in said.items() if outcome == "done"}
    let_through = [LET_THROUGH[sentence] for sentence in missing("own", "none", support)]
    assert done == ALLOWED.union(*let_through)
    assert not has_survivor(world)
    assert len(said) > 80


def test_a_server_that_is_not_confined_can_do_all_of_it(world: World):
    line = (os.path.realpath(sys.executable), "-I", "-S", str(SERVER), str(world.facts), "--all")
    said = outcomes(world, line, {"PATH": "/usr/bin:/bin", "TOOLTRAY_INSTANCE": "hostile"})
    refused = {name for name, outcome in said.items() if outcome != "done"}
    os.kill(int((world.own / "survivor").read_text()), signal.SIGKILL)  # nothing else ends it
    assert not has_survivor(world)
    assert refused <= OF_KERNEL | (OF_ROOT if os.geteuid() else set())
