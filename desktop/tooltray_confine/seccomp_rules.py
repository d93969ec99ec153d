"""Which system calls are refused to a confined process, and with which arguments: those that Landlock does not restrict.

A call that is not named is allowed, since servers are written in many languages; a call newer than the newest one known here does not exist
for them. The numbers in these rules are those of Linux' headers, alike on both processors.

- Sockets by path lead to other programs of the same user (the hub, the session bus, systemd, Docker), and Landlock has no rule for
  them: only pairs are allowed. Pairs of datagram sockets, too, could be sent to any path.
- io_uring makes calls that no filter sees.
- Shared memory and queues by number (System V) or name (POSIX) belong to all programs of a user.
- TCP may begin with a send (MSG_FASTOPEN), which Landlock does not see; nor does it see other kinds of streams (MPTCP, SCTP).
- Limits and priorities of another process can be changed until it ends: only one's own may be. The choice of processors for a thread is not
  restricted: libraries set it for their other threads by number (OpenMP, for a new thread), which no filter can tell from processes.
- Extended attributes, access lists and flags of any file that can be read could be changed: to programs the disk has none.
- A lease makes other programs wait that open the same file, for which it need only be readable.
- A file with the set-user-id bit hands its owner's rights to other users of the computer.
"""

from tooltray_confine.seccomp_program import (
    ALLOW,
    ASK,
    EACCES,
    ENOSYS,
    EOPNOTSUPP,
    EPERM,
    EPROTONOSUPPORT,
    NUMBER,
    PROCESSOR,
    Line,
    answer,
    argument,
    has_bits,
    is_equal,
    is_higher,
    keep,
    load,
    refuse,
)
from tooltray_confine.syscall_numbers import NEWEST_KNOWN, NUMBERS, OTHER_ABI_BIT, PROCESSORS

AF_UNIX, AF_INET, AF_INET6, AF_NETLINK, NETLINK_ROUTE = 1, 2, 10, 16, 0
STREAM, DATAGRAM, PACKETS, KIND_OF_SOCKET = 1, 2, 5, 0xF
TCP, UDP, FROM_KIND = 6, 17, 0
MSG_FASTOPEN = 0x20000000
NEW_NAMESPACES, NEW_TIME_NAMESPACE, FOR_PARENT = 0x7E020000, 0x80, 0x8000
OF_PROCESS, OF_GROUP = (0, 1), (1, 2)  # whose priority is set, for `setpriority` and `ioprio_set`; next: all of a user's
TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP = 0x5412, 0x541C, 0x8901, 0x8902
FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION = 0x40086602, 0x40046602, 0x401C5820, 0x40087602
F_SETOWN, F_SETOWN_EX, F_SETLEASE = 8, 15, 1024
SET_ID_BITS = 0o6000
O_ACCESS, O_WRONLY, O_RDWR, O_CREAT, O_TRUNC, O_TMPFILE = 3, 1, 2, 0o100, 0o1000, 0o20000000
TRUNCATE_ABI, SIGNALS_ABI = 3, 6  # of Landlock, from which it restricts these itself

REFUSED = (
    # other processes
    *("ptrace", "process_vm_readv", "process_vm_writev", "process_madvise", "process_mrelease", "kcmp", "pidfd_getfd", "move_pages"),
    *("migrate_pages", "perf_event_open"),
    # the system
    *(
        "acct",
        "adjtimex",
        "bpf",
        "chroot",
        "clock_adjtime",
        "clock_settime",
        "delete_module",
        "finit_module",
        "init_module",
        "ioperm",
        "iopl",
    ),
    *("kexec_file_load", "kexec_load", "lookup_dcookie", "lsm_set_self_attr", "modify_ldt", "nfsservctl", "pivot_root", "quotactl"),
    *("quotactl_fd", "reboot", "setdomainname", "sethostname", "settimeofday", "swapoff", "swapon", "syslog", "userfaultfd", "uselib"),
    *("vhangup", "_sysctl"),
    # file systems, files by number
    *("mount", "umount2", "fsopen", "fsconfig", "fsmount", "fspick", "move_mount", "open_tree", "mount_setattr", "name_to_handle_at"),
    *("open_by_handle_at", "fanotify_init"),
    # memory and queues that are shared with other programs by number or name
    *("add_key", "request_key", "keyctl", "shmget", "shmat", "shmctl", "semget", "semop", "semtimedop", "semctl", "msgget", "msgsnd"),
    *("msgrcv", "msgctl", "mq_open", "mq_unlink"),
    # rings
    *("io_uring_setup", "io_uring_enter", "io_uring_register"),
    "setns",
)
ATTRIBUTES = ("setxattr", "lsetxattr", "fsetxattr", "removexattr", "lremovexattr", "fremovexattr")  # access lists are among them
UNKNOWN = ("clone3", "openat2")  # have their flags in memory, where no filter sees them; libraries fall back to the calls before them


def rules(
    processor: str, *, network: str, abi: int, keeps_group: bool, has_own_ids: bool, protected: "tuple[int, ...]" = ()
) -> "list[Line]":
    """Returns the whole program, for `assemble`.

    Args:
        processor: one of PROCESSORS.
        network: "all", "none" or "proxy".
        abi: of Landlock; actions that it does not restrict are restricted here, if possible.
        keeps_group: `setsid` and `setpgid` seem to succeed and do nothing.
        has_own_ids: no process outside has a number here.
        protected: numbers of processes (below 0: groups) that get no signal.
    """
    kind, column = PROCESSORS[processor]
    bodies: dict[str, list[Line]] = {
        **_files(abi),
        **_processes(keeps_group=keeps_group),
        **_sockets(network),
        **({} if abi >= SIGNALS_ABI or has_own_ids else _signals(protected)),
        **{name: [refuse(EPERM)] for name in REFUSED},
        **{name: [refuse(EOPNOTSUPP)] for name in ATTRIBUTES},
        **{name: [refuse(ENOSYS)] for name in UNKNOWN},
    }
    lines: list[Line] = [load(PROCESSOR), is_equal(kind, no="unknown"), load(NUMBER)]
    lines += [has_bits(OTHER_ABI_BIT, yes="unknown"), is_higher(NEWEST_KNOWN, no="known"), "unknown", refuse(ENOSYS), "known"]
    for name, body in bodies.items():
        number = NUMBERS[name][column]
        if number >= 0:
            lines += [is_equal(number, no="next"), *body, "next"]
    return [*lines, answer(ALLOW)]


def _refuse_bits(index: int, bits: int) -> "list[Line]":
    return [argument(index), has_bits(bits, no="allowed"), refuse(EPERM), "allowed", answer(ALLOW)]


def _refuse_values(index: int, *values: int) -> "list[Line]":
    tests: list[Line] = [is_equal(value, yes="refused") for value in values]
    return [argument(index), *tests, answer(ALLOW), "refused", refuse(EPERM)]


def _only(index: int, *values: int) -> "list[Line]":
    tests: list[Line] = [is_equal(value, yes="allowed") for value in values]
    return [argument(index), *tests, refuse(EPERM), "allowed", answer(ALLOW)]


def _files(abi: int) -> "dict[str, list[Line]]":
    bodies = {
        "openat": _opening(2, abi),
        "open": _opening(1, abi),
        "fcntl": _refuse_values(1, F_SETOWN, F_SETOWN_EX, F_SETLEASE),
        "ioctl": _refuse_values(
            *(1, TIOCSTI, TIOCLINUX, FIOSETOWN, SIOCSPGRP),
            *(FS_IOC_SETFLAGS, FS_IOC32_SETFLAGS, FS_IOC_FSSETXATTR, FS_IOC_SETVERSION),
        ),
    }
    for name, index in (("creat", 1), ("chmod", 1), ("fchmod", 1), ("fchmodat", 2), ("fchmodat2", 2), ("mknod", 1), ("mknodat", 2)):
        bodies[name] = _refuse_bits(index, SET_ID_BITS)
    if abi < TRUNCATE_ABI:
        bodies["truncate"] = [refuse(EPERM)]  # `ftruncate` needs a file that was opened for writing
    return bodies


def _opening(flags: int, abi: int) -> "list[Line]":
    truncating: list[Line] = [argument(flags), has_bits(O_TRUNC, no="mode"), keep(O_ACCESS), is_equal(O_WRONLY, yes="mode")]
    truncating += [is_equal(O_RDWR, yes="mode"), refuse(EPERM)]  # empties a file that may only be read
    return [
        *(truncating if abi < TRUNCATE_ABI else []),
        "mode",
        argument(flags),
        has_bits(O_CREAT | O_TMPFILE, no="allowed"),  # without them the mode's register may hold anything
        argument(flags + 1),
        has_bits(SET_ID_BITS, no="allowed"),
        refuse(EPERM),
        "allowed",
        answer(ALLOW),
    ]


def _processes(*, keeps_group: bool) -> "dict[str, list[Line]]":
    bodies = {
        "clone": _refuse_bits(0, NEW_NAMESPACES | FOR_PARENT),  # or the hub would have a child that it does not know
        "unshare": _refuse_bits(0, NEW_NAMESPACES | NEW_TIME_NAMESPACE),
    }
    for place, name in enumerate(("setpriority", "ioprio_set")):
        kinds: list[Line] = [is_equal(kind[place], yes="known") for kind in (OF_PROCESS, OF_GROUP)]
        bodies[name] = [argument(0), *kinds, refuse(EPERM), "known", *_only(1, 0)]
    for name in ("prlimit64", "sched_setscheduler", "sched_setparam", "sched_setattr"):
        bodies[name] = _only(0, 0)
    if keeps_group:
        bodies |= {"setsid": [refuse(0)], "setpgid": [refuse(0)]}
    return bodies


def _signals(protected: "tuple[int, ...]") -> "dict[str, list[Line]]":
    """Returns the rules for a kernel whose Landlock does not restrict signals: the hub gets none, nor do all processes at once."""
    names = ("kill", "tkill", "tgkill", "rt_sigqueueinfo", "rt_tgsigqueueinfo")
    bodies = {name: _refuse_values(0, -1, *protected) for name in names}
    return bodies | {"pidfd_open": [refuse(ENOSYS)], "pidfd_send_signal": [refuse(ENOSYS)]}


def _sockets(network: str) -> "dict[str, list[Line]]":
    pair: list[Line] = [argument(0), is_equal(AF_UNIX, yes="unix"), refuse(EPERM), "unix", argument(1), keep(KIND_OF_SOCKET)]
    pair += [is_equal(STREAM, yes="allowed"), is_equal(PACKETS, yes="allowed"), refuse(EPERM), "allowed", answer(ALLOW)]
    bodies: dict[str, list[Line]] = {"socket": _new_socket(network), "socketpair": pair}
    if network == "proxy":
        bodies["connect"] = [answer(ASK)]
        bodies["listen"] = [refuse(EACCES)]  # takes a free port automatically, without `bind`
        for name, flags in (("sendto", 3), ("sendmsg", 2), ("sendmmsg", 3)):
            bodies[name] = _refuse_bits(flags, MSG_FASTOPEN)
    return bodies


def _new_socket(network: str) -> "list[Line]":
    lines: list[Line] = [argument(0), is_equal(AF_NETLINK, yes="netlink")]
    if network != "none":
        lines += [is_equal(AF_INET, yes="inet"), is_equal(AF_INET6, yes="inet")]
    lines += [refuse(EPERM), "netlink", argument(2), is_equal(NETLINK_ROUTE, yes="allowed"), refuse(EPERM)]
    if network == "none":
        return [*lines, "allowed", answer(ALLOW)]
    lines += ["inet", argument(1), keep(KIND_OF_SOCKET), is_equal(STREAM, yes="stream")]
    if network == "all":
        lines += [is_equal(DATAGRAM, no="raw"), *_protocol(UDP), "raw"]
    lines += [refuse(EPERM), "stream", *_protocol(TCP)]
    return [*lines, "allowed", answer(ALLOW)]


def _protocol(named: int) -> "list[Line]":
    return [argument(2), is_equal(FROM_KIND, yes="allowed"), is_equal(named, yes="allowed"), refuse(EPROTONOSUPPORT)]
