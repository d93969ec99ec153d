"""Where a person's keys, passwords and browsers are: what Watch never proposes to open to a server.

Above it: the proposal. Below it: the file system, of which folders are listed that might be proposed.
"""

import os
import re
from functools import lru_cache

PLACES = (
    ".ssh", ".gnupg", ".aws", ".azure", ".kube", ".docker", ".oci", ".password-store", ".tooltray", ".mozilla", ".thunderbird", ".pki",
    ".claude", ".claude.json", ".codex", ".gemini", ".cursor", ".netrc", ".npmrc", ".pypirc", ".pgpass", ".my.cnf", ".vault-token",
    ".git-credentials", ".bash_history", ".zsh_history", ".config/gh", ".config/gcloud", ".config/op", ".config/git/credentials",
    ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge", ".config/vivaldi", ".config/opera",
    ".config/Claude", ".config/Code", ".config/Cursor", ".local/share/keyrings", ".local/share/kwalletd", ".cargo/credentials.toml",
    "snap/firefox", "snap/chromium", ".var/app",
)  # fmt: skip
"""Below the home."""
NO_FOLDERS = (
    "/var/tmp",
    "/var/lib",
    "/var/log",
    "/run/user",
    "/dev/shm",
    "/usr/local",
    "/usr/share",
    "/usr/lib",
    "/home",
    "/mnt",
    "/media",
)
SHARED = (".cache", ".config", ".local", ".local/share", ".local/state", ".local/bin", ".local/lib")
"""The same below the home. What is shared by too many programs to be opened as a whole."""
_KEY_FILE = re.compile(
    r"\.env(\..*)?|id_(rsa|dsa|ecdsa|ed25519).*|.*\.(kdbx|ppk|p12|pfx|jks|keystore|key)|.*key.*\.pem|credentials(\.json)?|\.htpasswd"
)
MOST_LISTED = 2_000  # names of a folder that are looked at


class PrivatePlaces:
    """Of one person."""

    def __init__(self, home: str, *others: str) -> None:
        """
        Args:
            others: absolute paths that are private besides, as the hub's own folder.
        """
        self.home = os.path.realpath(home)
        self._places = (*(os.path.join(self.home, each) for each in PLACES), *(os.path.realpath(each) for each in others))
        self._shared = frozenset(os.path.join(self.home, each) for each in SHARED)
        self._has_keys = lru_cache(maxsize=4096)(_has_keys)

    def is_private(self, path: str) -> bool:
        """Whether keys or the like are in a file."""
        return is_below(path, self._places) or bool(_KEY_FILE.fullmatch(os.path.basename(path)))

    def may_be_opened(self, folder: str) -> bool:
        """Whether a folder may be proposed as a whole: it is no home, nothing private is in it, and it is not everybody's. Lists it."""
        if folder.count("/") < 2 or folder in NO_FOLDERS or folder.startswith(("/proc", "/sys", "/dev")):
            return False
        if folder in self._shared or is_below(self.home, (folder,)) or self.is_private(folder):
            return False
        return not any(is_below(place, (folder,)) for place in self._places) and not self._has_keys(folder)


def is_below(path: str, folders: tuple[str, ...]) -> bool:
    """Whether a path is one of these, or in one of them."""
    return any(path == each or path.startswith(each.rstrip("/") + "/") for each in folders)


def _has_keys(folder: str) -> bool:
    """Whether there is a file in it that is named as keys are; not in the folders in it."""
    try:
        with os.scandir(folder) as entries:
            return any(_KEY_FILE.fullmatch(entry.name) for entry, _ in zip(entries, range(MOST_LISTED), strict=False))
    except OSError:
        return False
