"""Landlock: rules for files, TCP ports and signals that a process puts on itself, and that hold for all that it starts. The numbers are
those of linux/landlock.h.

Of the actions that the kernel's ABI knows, all that no rule allows are refused. From ABI 1, Landlock also keeps the
process from looking into others (ptrace, /proc/PID/mem, /proc/PID/environ).
"""

import posix
from errno import ENOSYS, EOPNOTSUPP

from tooltray_confine.kernel import call

CREATE_RULESET, ADD_RULE, RESTRICT_SELF = 444, 445, 446  # the same on all processors
_VERSION = 1  # a flag: return the ABI
_PATH_BENEATH, _NET_PORT = 1, 2  # kinds of rules

EXECUTE, WRITE_FILE, READ_FILE, READ_DIR = 1 << 0, 1 << 1, 1 << 2, 1 << 3
REMOVE_DIR, REMOVE_FILE, MAKE_CHAR, MAKE_DIR, MAKE_REG = 1 << 4, 1 << 5, 1 << 6, 1 << 7, 1 << 8
MAKE_SOCK, MAKE_FIFO, MAKE_BLOCK, MAKE_SYM = 1 << 9, 1 << 10, 1 << 11, 1 << 12
REFER, TRUNCATE, IOCTL_DEV = 1 << 13, 1 << 14, 1 << 15  # from ABI 2, 3, 5
BIND_TCP, CONNECT_TCP = 1, 2  # from ABI 4
ABSTRACT_SOCKETS, SIGNALS = 1, 2  # from ABI 6: to processes outside

READ = EXECUTE | READ_FILE | READ_DIR
# all but devices and sockets, which no server needs to make
WRITE = READ | WRITE_FILE | REMOVE_DIR | REMOVE_FILE | MAKE_DIR | MAKE_REG | MAKE_FIFO | MAKE_SYM | REFER | TRUNCATE | IOCTL_DEV
_OF_FILES = EXECUTE | WRITE_FILE | READ_FILE | TRUNCATE | IOCTL_DEV  # the others are only for folders, and refused for a file
_TCP_ABI, _SCOPES_ABI = 4, 6


def newest_abi() -> int:
    """Returns the ABI of Landlock that this kernel has; 0: Landlock is missing, or switched off."""
    try:
        return call(CREATE_RULESET, None, 0, _VERSION)
    except OSError as error:
        if error.errno in (ENOSYS, EOPNOTSUPP):
            return 0
        raise


def known_files(abi: int) -> int:
    """Returns the rights to files that an ABI knows."""
    known = (MAKE_SYM << 1) - 1
    return known | (REFER if abi >= 2 else 0) | (TRUNCATE if abi >= 3 else 0) | (IOCTL_DEV if abi >= 5 else 0)


def restrict(abi: int, *, read: "list[str]", write: "list[str]", has_tcp_rules: bool, connect_port: int = 0) -> None:
    """Puts the rules on this process, which has set no_new_privs.

    Args:
        abi: at least 1.
        read, write: absolute paths; missing ones are left out.
        has_tcp_rules: whether TCP is restricted to `connect_port`; needs ABI 4.

    Raises:
        OSError: the kernel refuses.
    """
    files, tcp, scopes = known_files(abi), 0, 0
    if has_tcp_rules and abi >= _TCP_ABI:
        tcp = BIND_TCP | CONNECT_TCP
    if abi >= _SCOPES_ABI:
        scopes = ABSTRACT_SOCKETS | SIGNALS
    kinds = [files, *([tcp] if abi >= _TCP_ABI else []), *([scopes] if abi >= _SCOPES_ABI else [])]
    attributes = b"".join(each.to_bytes(8, "little") for each in kinds)
    ruleset = call(CREATE_RULESET, attributes, len(attributes), 0)
    try:
        for paths, rights in ((read, READ & files), (write, WRITE & files)):
            for path in paths:
                _allow(ruleset, path, rights)
        if tcp and connect_port:
            rule = CONNECT_TCP.to_bytes(8, "little") + connect_port.to_bytes(8, "little")
            call(ADD_RULE, ruleset, _NET_PORT, rule, 0)
        call(RESTRICT_SELF, ruleset, 0)
    finally:
        posix.close(ruleset)


def _allow(ruleset: int, path: str, rights: int) -> None:
    try:
        place = posix.open(path, posix.O_PATH | posix.O_CLOEXEC)
    except OSError:  # it does not exist, or this user may not open it
        return
    try:
        is_folder = posix.fstat(place).st_mode & 0o170000 == 0o040000
        allowed = rights if is_folder else rights & _OF_FILES
        call(ADD_RULE, ruleset, _PATH_BENEATH, allowed.to_bytes(8, "little") + place.to_bytes(4, "little"), 0)
    finally:
        posix.close(place)
