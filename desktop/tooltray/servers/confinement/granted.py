"""What profiles let a server read and change, path by path. Paths that were seen are the kernel's, with links resolved, and so are the
paths compared here."""

import os
from collections.abc import Iterable, Mapping

from tooltray.foundation.snapshots.confinement import Files
from tooltray.servers.confinement.launch_line import lasting
from tooltray.servers.confinement.policy import Policy
from tooltray.servers.confinement.private_places import is_in
from tooltray.servers.confinement.proposal import Granted
from tooltray.servers.confinement.system_paths import LINUX_OWN_DEVICES, LINUX_READ

ONE_S_OWN = "/proc/self"  # how reports name the process itself


def granted_by(policies: Mapping[Files, Policy], program: str) -> Granted:
    """Returns a function that checks a path against the policy of a profile. Blocks: links are resolved once, here."""
    readable, writable = {}, {}
    for files, policy in policies.items():
        read, write = lasting(policy, program)
        readable[files] = _resolved((*LINUX_READ, *read, *write, *LINUX_OWN_DEVICES))
        writable[files] = _resolved((*write, *LINUX_OWN_DEVICES))

    def granted(files: Files, path: str, writes: bool) -> bool:
        return is_in(path, (writable if writes else readable)[files])

    return granted


def _resolved(paths: Iterable[str]) -> frozenset[str]:
    return frozenset((ONE_S_OWN, *map(os.path.realpath, paths)))
