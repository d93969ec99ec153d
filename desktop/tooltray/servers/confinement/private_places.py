"""What Watch never proposes to open to a server: places of the user's keys, passwords and browsers, and folders that many programs
share."""

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
"""In the home: a profile may open them where the user names them; Watch does not propose it."""
NO_FOLDERS = ("/var/tmp", "/var/lib", "/var/log", "/run/user", "/dev/shm", "/usr/local", "/usr/share", "/usr/lib")
SHARED = (".cache", ".config", ".local", ".local/share", ".local/state", ".local/bin", ".local/lib")
"""In the home: shared by too many programs to be opened as a whole."""
_KEY_FILE = re.compile(
    r"\.env(\..*)?|id_(rsa|dsa|ecdsa|ed25519).*|.*\.(kdbx|ppk|p12|pfx|jks|keystore|key)|.*key.*\.pem|credentials(\.json)?|\.htpasswd"
)
MOST_LISTED = 2_000  # names of a folder that are looked at
MOST_FOLDERS = 65_536  # whose kind is cached


class PrivatePlaces:
    """The private places of one user."""

    def __init__(self, guarded: GuardedFolders) -> None:
        self.home = os.path.realpath(guarded.home)
        places = (os.path.realpath(os.path.join(self.home, each)) for each in (*KEYS, *BROWSERS, *MORE_PLACES))
        self._places = frozenset((*places, os.path.realpath(guarded.own)))
        self._shared = frozenset((*NO_FOLDERS, *(os.path.join(self.home, each) for each in SHARED)))
        self._may_be_opened = lru_cache(maxsize=MOST_FOLDERS)(self._look_at)
        self._is_folder = lru_cache(maxsize=MOST_FOLDERS)(os.path.isdir)

    def look_again(self) -> None:
        """Drops what is cached about folders, which may have changed."""
        self._may_be_opened.cache_clear()
        self._is_folder.cache_clear()

    def is_private(self, path: str) -> bool:
        """Reports whether a file may have keys or similar secrets in it."""
        return bool(_KEY_FILE.fullmatch(path[path.rfind("/") + 1 :])) or is_in(path, self._places)

    def is_folder(self, path: str) -> bool:
        """Reports whether a path is a folder; cached until `look_again`."""
        return self._is_folder(path)

    def may_be_opened(self, folder: str) -> bool:
        """Reports whether a folder may be proposed as a whole: it is not a home, has nothing private in it, and is not shared. Lists the
        folder, once until `look_again`."""
        return self._may_be_opened(folder)

    def _look_at(self, folder: str) -> bool:
        if folder.count("/") < 2 or folder in self._shared or folder.startswith(("/proc", "/sys", "/dev")):
            return False
        here = frozenset((folder,))
        if is_in(self.home, here) or self.is_private(folder):
            return False
        return not any(is_in(place, here) and os.path.lexists(place) for place in self._places) and not _has_keys(folder)


def is_in(path: str, folders: Set[str]) -> bool:
    """Reports whether a path is one of these folders, or in one of them. Checks its parents, since there may be a hundred thousand
    paths."""
    while path not in folders:
        end = path.rfind("/")
        if end < 0 or path == "/":
            return False
        path = path[:end] or "/"
    return True


def _has_keys(folder: str) -> bool:
    """Reports whether a folder has a file that is named as keys are; folders in it are not searched."""
    try:
        with os.scandir(folder) as entries:
            return any(_KEY_FILE.fullmatch(entry.name) for entry, _ in zip(entries, range(MOST_LISTED), strict=False))
    except OSError:
        return False
