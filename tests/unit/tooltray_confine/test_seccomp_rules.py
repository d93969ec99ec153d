"""The filter's answers, by a small interpreter of its instructions; tests/end2end/test_hostile_server.py has the kernel's."""

import errno
import socket

import pytest
from tests.fakes import bpf

from tooltray_confine.seccomp_program import ALLOW, ASK, assemble
from tooltray_confine.seccomp_rules import REFUSED, UNKNOWN, rules
from tooltray_confine.syscall_numbers import NEWEST_KNOWN, NUMBERS, OTHER_ABI_BIT, PROCESSORS

DATAGRAM, STREAM = socket.SOCK_DGRAM, socket.SOCK_STREAM
FLAGS = socket.SOCK_CLOEXEC | socket.SOCK_NONBLOCK


class Filter:
    def __init__(self, processor: str = "x86_64", *, network="none", abi=7, keeps_group=False, has_own_ids=False, protected=()):
        lines = rules(processor, network=network, abi=abi, keeps_group=keeps_group, has_own_ids=has_own_ids, protected=protected)
        self.kind, self.column = PROCESSORS[processor]
        self.program = assemble(lines)

    def __call__(self, name: str | int, *arguments: int) -> str:
        number = NUMBERS[name][self.column] if isinstance(name, str) else name
        action = bpf.run(self.program, number, *arguments, processor=self.kind)
        if action == ALLOW:
            return "allowed"
        if action == ASK:
            return "asked"
        assert action & ~0xFFFF == bpf.ERRNO
        return errno.errorcode.get(action & 0xFFFF, "nothing")


@pytest.mark.parametrize("processor", PROCESSORS)
@pytest.mark.parametrize("network", ["all", "none", "proxy"])
def test_what_no_server_needs_is_refused_on_all_processors(processor: str, network: str):
    answer = Filter(processor, network=network)
    known = [name for name in (*REFUSED, *UNKNOWN) if NUMBERS[name][answer.column] >= 0]
    assert {name: answer(name) for name in known} == {name: "ENOSYS" if name in UNKNOWN else "EPERM" for name in known}
    assert len(answer.program) // 8 < 4096  # the kernel's limit


def test_calls_of_other_kinds_of_programs_and_newer_ones_do_not_exist():
    answer = Filter()
    assert answer(0) == "allowed"  # read
    assert answer(0 | OTHER_ABI_BIT) == "ENOSYS"
    assert answer(NEWEST_KNOWN) == "allowed"
    assert answer(NEWEST_KNOWN + 1) == "ENOSYS"
    assert bpf.run(answer.program, 0, processor=0x40000003) == bpf.ERRNO | errno.ENOSYS  # of i386


def test_sockets_of_no_network():
    answer = Filter()
    assert answer("socket", socket.AF_NETLINK, socket.SOCK_RAW, 0) == "allowed"
    for family in range(1, 50):
        for kind in range(1, 11):
            for protocol in (0, 6, 15):
                if (family, protocol) != (socket.AF_NETLINK, 0):
                    assert answer("socket", family, kind, protocol) == "EPERM"


def test_sockets_of_all_networks_are_tcp_and_udp():
    answer = Filter(network="all")
    for family in (socket.AF_INET, socket.AF_INET6):
        assert {answer("socket", family, STREAM | FLAGS, protocol) for protocol in (0, 6)} == {"allowed"}
        assert {answer("socket", family, DATAGRAM | FLAGS, protocol) for protocol in (0, 17)} == {"allowed"}
        assert answer("socket", family, STREAM, 262) == "EPROTONOSUPPORT"  # MPTCP
        assert answer("socket", family, DATAGRAM, 1) == "EPROTONOSUPPORT"
        assert answer("socket", family, socket.SOCK_RAW, 0) == "EPERM"
    assert answer("socket", socket.AF_UNIX, STREAM, 0) == "EPERM"
    assert answer("connect") == answer("listen") == "allowed"


def test_the_way_to_the_proxy_is_tcp_by_a_connect_that_is_asked_for():
    answer = Filter(network="proxy")
    assert answer("socket", socket.AF_INET, STREAM | FLAGS, 0) == "allowed"
    assert answer("socket", socket.AF_INET, STREAM, 262) == "EPROTONOSUPPORT"
    assert answer("socket", socket.AF_INET, DATAGRAM, 0) == answer("socket", socket.AF_INET, socket.SOCK_RAW, 6) == "EPERM"
    assert answer("connect") == "asked"
    assert answer("listen") == "EACCES"
    fast_open = 0x20000000
    assert (
        answer("sendto", 3, 0, 0, fast_open | 0x4000)
        == answer("sendmsg", 3, 0, fast_open)
        == answer("sendmmsg", 3, 0, 1, fast_open)
        == "EPERM"
    )
    assert answer("sendto", 3, 0, 0, 0x4000) == "allowed"


def test_pairs_are_such_as_cannot_be_sent_elsewhere():
    answer = Filter()
    assert (
        answer("socketpair", socket.AF_UNIX, STREAM | FLAGS, 0) == answer("socketpair", socket.AF_UNIX, socket.SOCK_SEQPACKET) == "allowed"
    )
    assert answer("socketpair", socket.AF_UNIX, DATAGRAM) == answer("socketpair", socket.AF_UNIX, socket.SOCK_RAW) == "EPERM"
    assert answer("socketpair", 30, STREAM) == "EPERM"  # TIPC


def test_a_process_without_new_namespaces_is_a_process():
    answer = Filter()
    assert answer("clone", 17) == answer("clone", 0x3D0F00) == "allowed"  # a process, a thread
    assert (
        answer("clone", 0x10000000 | 17) == answer("clone", 0x8000 | 17) == answer("unshare", 0x80) == answer("unshare", 0x20000) == "EPERM"
    )
    assert answer("unshare", 0x400) == "allowed"  # its own open files
    assert answer("setsid") == answer("setpgid") == "allowed"


def test_a_process_that_must_stay_in_its_group_believes_to_have_left():
    answer = Filter(keeps_group=True)
    assert answer("setsid") == answer("setpgid", 0, 0) == "nothing"


def test_limits_and_priorities_are_ones_own():
    answer = Filter()
    for name in ("prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr"):
        assert [answer(name, whose) for whose in (0, 9)] == ["allowed", "EPERM"]
    for name, process, group, user in (("setpriority", 0, 1, 2), ("ioprio_set", 1, 2, 3)):
        assert answer(name, process, 0) == answer(name, group, 0) == "allowed"
        assert answer(name, process, 9) == answer(name, group, 9) == answer(name, user, 0) == "EPERM"


def test_bits_that_hand_on_an_owners_rights():
    answer = Filter()
    created, opened = 0o101, 0
    assert answer("open", 1, created, 0o4755) == answer("openat", 3, 1, created, 0o2755) == answer("chmod", 1, 0o6755) == "EPERM"
    assert answer("fchmodat", 3, 1, 0o4000) == answer("mknodat", 3, 1, 0o104755) == answer("creat", 1, 0o4755) == "EPERM"
    assert answer("openat", 3, 1, 0o20200002, 0o4755) == "EPERM"  # O_TMPFILE
    assert answer("open", 1, created, 0o755) == answer("chmod", 1, 0o1777) == answer("fchmod", 3, 0o600) == "allowed"
    assert answer("open", 1, opened, 0o4755) == "allowed"  # there is no mode, whatever stands in its place


def test_emptying_files_is_refused_where_landlock_does_not_know_it():
    truncate, old = 0o1000, Filter(abi=2)
    assert old("truncate") == old("open", 1, truncate) == old("openat", 3, 1, truncate) == old("openat", 3, 1, truncate | 3) == "EPERM"
    assert old("openat", 3, 1, truncate | 1) == old("openat", 3, 1, truncate | 2 | 0o100, 0o644) == "allowed"  # Landlock knows writing
    assert old("openat", 3, 1, truncate | 1 | 0o100, 0o4755) == "EPERM"
    assert Filter(abi=3)("truncate") == Filter(abi=3)("openat", 3, 1, truncate) == "allowed"


def test_signals_are_refused_to_the_hub_where_landlock_does_not_know_them():
    old = Filter(abi=5, protected=(100, -90))
    for name in ("kill", "tkill", "tgkill", "rt_sigqueueinfo"):
        assert [old(name, to) for to in (100, -90, -1, 101, 0)] == ["EPERM", "EPERM", "EPERM", "allowed", "allowed"]
    assert old("pidfd_send_signal", 3) == old("pidfd_open", 101) == "ENOSYS"
    for answer in (Filter(abi=6, protected=(100,)), Filter(abi=1, has_own_ids=True, protected=(100,))):
        assert answer("kill", 100) == answer("pidfd_open", 100) == "allowed"


def test_nobody_types_into_a_terminal_or_sends_signals_by_a_file():
    answer = Filter()
    for request in (0x5412, 0x541C, 0x8901, 0x8902, 0xFFFF0000_00005412):
        assert answer("ioctl", 0, request) == "EPERM"
    assert answer("ioctl", 0, 0x5401) == answer("fcntl", 0, 1) == "allowed"
    assert answer("fcntl", 3, 8, 9) == answer("fcntl", 3, 15, 9) == answer("fcntl", 3, 1024, 1) == "EPERM"


def test_attributes_access_lists_and_flags_of_files_are_not_changed():
    answer = Filter()
    for name in ("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr"):
        assert answer(name) == "ENOTSUP"  # the same number
    for request in (0x40086602, 0x40046602, 0x401C5820, 0x40087602, 0xFFFF0000_40086602):
        assert answer("ioctl", 3, request) == "EPERM"
    assert answer("ioctl", 3, 0x80086601) == "allowed"  # reads the flags
