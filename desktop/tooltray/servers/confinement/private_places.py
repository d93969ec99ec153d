"""What Watch never proposes to open to a server: where a person's keys, passwords and browsers are, and folders that many programs share.

Above it: the proposal. Below it: guarded_folders, which no profile opens; the file system: folders that might be proposed are listed.
"""

import os
import re
from collections.abc import Set
from functools import lru_cache

from tooltray.servers.confinement.guarded_folders import BROWSERS, KEYS, GuardedFolders

MORE_PLACES = (
    *(".oci", ".pki", ".claude", ".claude.json", ".codex", ".gemini", ".cursor", ".npmrc", ".pgpass", ".my.cnf", ".vault-token"),
    *(".bash_history", ".zsh_history", ".config/git/credentials", ".config/Claude", ".config/Code", ".config/Cursor"),
    ".cargo/credentials.toml",
)
"""In the home: a profile may open them where a person names them; Watch does not propose it."""
NO_FOLDERS = ("/var/tmp", "/var/lib", "/var/log", "/run/user", "/dev/shm", "/usr/local", "/usr/share", "/usr/lib")
SHARED = (".cache", ".config", ".local", ".local/share", ".local/state", ".local/bin", ".local/lib")
"""In the home. What is shared by too many programs to be opened as a whole."""
_KEY_FILE = re.compile(
    r"\.env(\..*)?|id_(rsa|dsa|ecdsa|ed25519).*|.*\.(kdbx|ppk|p12|pfx|jks|keystore|key)|.*key.*\.pem|credentials(\.json)?|\.htpasswd"
)
MOST_LISTED = 2_000  # names of a folder that are looked at
MOST_FOLDERS = 65_536  # of which is remembered what they are


class PrivatePlaces:
    """Of one person."""

    def __init__(self, guarded: GuardedFolders) -> None:
        self.home = os.path.realpath(guarded.home)
        places = (os.path.realpath(os.path.join(self.home, each)) for each in (*KEYS, *BROWSERS, *MORE_PLACES))
        self._places = frozenset((*places, os.path.realpath(guarded.own)))
        self._shared = frozenset((*NO_FOLDERS, *(os.path.join(self.home, each) for each in SHARED)))
        self._may_be_opened = lru_cache(maxsize=MOST_FOLDERS)(self._look_at)
        self._is_folder = lru_cache(maxsize=MOST_FOLDERS)(os.path.isdir)

    def look_again(self) -> None:
        """Folders may be others by now."""
        self._may_be_opened.cache_clear()
        self._is_folder.cache_clear()

    def is_private(self, path: str) -> bool:
        """Whether keys or the like are in a file."""
        return bool(_KEY_FILE.fullmatch(path[path.rfind("/") + 1 :])) or is_in(path, self._places)

    def is_folder(self, path: str) -> bool:
        """Looks once, until `look_again`."""
        return self._is_folder(path)

    def may_be_opened(self, folder: str) -> bool:
        """Whether a folder may be proposed as a whole: it is no home, nothing private is in it, and it is not everybody's. Lists it, once
        until `look_again`."""
        return self._may_be_opened(folder)

    def _look_at(self, folder: str) -> bool:
        if folder.count("/") < 2 or folder in self._shared or folder.startswith(("/proc", "/sys", "/dev")):
            return False
        here = frozenset((folder,))
        if is_in(self.home, here) or self.is_private(folder):
            return False
        return not any(is_in(place, here) and os.path.lexists(place) for place in self._places) and not _has_keys(folder)


def is_in(path: str, folders: Set[str]) -> bool:
    """Whether a path is one of these, or in one of them. By its parents, since there may be a hundred thousand paths."""
    while path not in folders:
        end = path.rfind("/")
        if end < 0 or path == "/":
            return False
        path = path[:end] or "/"
    return True


def _has_keys(folder: str) -> bool:
    """Whether there is a file in it that is named as keys are; not in the folders in it."""
    try:
        with os.scandir(folder) as entries:
            return any(_KEY_FILE.fullmatch(entry.name) for entry, _ in zip(entries, range(MOST_LISTED), strict=False))
    except OSError:
        return False
