"""Gives up the capabilities of root, for a server that root runs, as in a container. The numbers are those of linux/capability.h."""

import posix
from errno import EINVAL, EPERM

from tooltray_confine.kernel import Memory, call, number_of

DAC_OVERRIDE = 1  # root may open files of all users: kept, since Landlock decides which; without it root could not use a user's project
_SETS_OF_SELF = (0x20080522).to_bytes(4, "little") + bytes(4)  # version 3
HIGHEST = 63
_CAPBSET_DROP = 24


def give_up() -> None:
    """Leaves at most DAC_OVERRIDE, and that only to root. Programs regain no capability: no_new_privs is set.

    Raises:
        OSError: the kernel refuses.
    """
    kept = 1 << DAC_OVERRIDE if posix.geteuid() == 0 else 0
    for capability in range(HIGHEST + 1):
        if not kept >> capability & 1 and not _drop(capability):
            break
    header, sets = Memory(_SETS_OF_SELF), Memory(bytes(24))  # effective, permitted, inheritable: a word each, twice
    call(number_of("capget"), header.address, sets.address)
    remaining = int.from_bytes(sets.data[4:8], "little") & kept
    sets.data[:] = remaining.to_bytes(4, "little") * 2 + bytes(16)
    call(number_of("capset"), header.address, sets.address)


def _drop(capability: int) -> bool:
    """Drops a capability from the set that a program can get; False: it does not exist, or may not be dropped, and no_new_privs has to
    suffice."""
    try:
        call(number_of("prctl"), _CAPBSET_DROP, capability, 0, 0, 0)
    except OSError as error:
        if error.errno in (EINVAL, EPERM):
            return False
        raise
    return True
