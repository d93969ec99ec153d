"""What policies let a server read and change, asked path by path.

Above it: Watches. Below it: policies. Paths that were seen are those of the kernel, with links resolved, and so are those compared here.
"""

import os
from collections.abc import Mapping

from tooltray.confinement.policy import Policy
from tooltray.confinement.proposal import Granted
from tooltray.settings.confinement import Files

EVERYBODYS = ("/proc/self", "/dev/null", "/dev/zero", "/dev/full", "/dev/random", "/dev/urandom", "/dev/tty")
"""Part of every profile's system paths; one's own process stands in reports as /proc/self."""


def granted_by(policies: Mapping[Files, Policy]) -> Granted:
    """A question to these policies, each for the profile that is its key. Blocks: links are resolved once, here."""
    readable = {files: _resolved((*policy.read, *policy.write, *EVERYBODYS)) for files, policy in policies.items()}
    writable = {files: _resolved((*policy.write, *EVERYBODYS)) for files, policy in policies.items()}

    def granted(files: Files, path: str, writes: bool) -> bool:
        return _is_in(path, (writable if writes else readable).get(files, frozenset()))

    return granted


def _resolved(paths: tuple[str, ...]) -> frozenset[str]:
    return frozenset(os.path.realpath(path) if not path.startswith("/proc/") else path for path in paths)


def _is_in(path: str, folders: frozenset[str]) -> bool:
    """By its parents, since there may be a hundred thousand paths."""
    while path not in folders:
        if len(path) <= 1:
            return False
        path = os.path.dirname(path)
    return True
