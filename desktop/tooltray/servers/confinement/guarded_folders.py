"""Folders that no server may be given: folders with keys and passwords, the whole home, Tooltray's own. A sandbox cannot exclude a part
of a folder again, so a folder that holds one of these is refused as a whole."""

import os
import sys
from collections.abc import Set
from functools import cached_property, lru_cache

import msgspec

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase

KEYS = (
    *(".ssh", ".aws", ".gnupg", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh", ".config/op", ".password-store"),
    *(".netrc", ".git-credentials", ".pypirc", ".local/share/keyrings", ".local/share/kwalletd", "Library/Keychains"),
)
"""In the home: keys and passwords of the user's accounts and machines."""
BROWSERS = (
    *(".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge"),
    *(".config/vivaldi", ".config/opera", "snap/firefox", "snap/chromium", ".var/app", "Library/Application Support/Google/Chrome"),
    *("Library/Application Support/Firefox", "Library/Safari", "Library/Cookies"),
)
"""In the home: profiles of browsers, with the user's sessions."""
RUN_USER = "/run/user"
SHARED_PLACES = ("/dev/pts", "/dev/shm", "/proc", "/sys", RUN_USER)
"""Terminals, memory, processes and sockets of all programs. A folder above one of these is never given. Paths inside them may be named,
except for terminals and processes."""
OF_OTHERS = ("/dev/pts", "/proc")
MORE_PLACES = (
    *(".oci", ".pki", ".claude", ".claude.json", ".codex", ".gemini", ".cursor", ".npmrc", ".pgpass", ".my.cnf", ".vault-token"),
    *(".bash_history", ".zsh_history", ".config/git/credentials", ".config/Claude", ".config/Code", ".config/Cursor"),
    ".cargo/credentials.toml",
)
"""In the home: a profile may open them if the user names them; Watch never proposes them."""
NO_FOLDERS = ("/var/tmp", "/var/lib", "/var/log", "/run/user", "/dev/shm", "/usr/local", "/usr/share", "/usr/lib")
SHARED = (".cache", ".config", ".local", ".local/share", ".local/state", ".local/bin", ".local/lib")
"""In the home: shared by too many programs to be opened as a whole."""
_KEY_FILE = lazy_pattern(
    r"\.env(\..*)?|id_(rsa|dsa|ecdsa|ed25519).*|.*\.(kdbx|ppk|p12|pfx|jks|keystore|key)|.*key.*\.pem|credentials(\.json)?|\.htpasswd"
)
MOST_LISTED = 2_000  # names of a folder that are examined
MOST_FOLDERS = 65_536  # whose kind is cached


class GuardedFolders(msgspec.Struct, frozen=True, dict=True):
    """The guarded folders at one moment: created for each start of a server.

    Attributes:
        home: the user's own folder, absolute.
        own: Tooltray's home, absolute.
    """

    home: str
    own: str

    def whole(self, path: str) -> str:
        """Returns the whole path for a named one; `~` is the user's home. Links in it stay."""
        return self.home + path[1:] if path == "~" or path.startswith("~/") else path

    def why_not(self, path: str) -> Phrase | None:
        """Returns why a server does not get a named folder or file; None: it may get it. Reads the file system."""
        real = _folded(os.path.realpath(self.whole(path)))
        if is_below(self._homes[0], real):
            return Phrase("{path} contains all your files", path=path)
        if is_below(real, self._homes[1]):
            return Phrase("{path} is in Tooltray's own folder", path=path)
        if _touches(real, self._homes[1]):
            return Phrase("{path} has Tooltray's own files in it", path=path)
        if _is_shared(real):
            return Phrase("{path} has what all programs share in it", path=path)
        for guarded, each in self._guarded.items():
            if _touches(real, guarded):
                what = Phrase("keys and passwords") if each in KEYS else Phrase("a browser's profile")
                if real == guarded:
                    return Phrase("{path} has {what} in it", path=path, what=what)
                return Phrase("{path} has {what} in it (~/{each})", path=path, what=what, each=each)
        return None

    def instead_of(self, path: str) -> Phrase:
        """Returns the hint for a path that a server does not get: to use another place if the path is guarded, else a folder below it."""
        real = os.path.realpath(self.whole(path))
        if any(is_below(real, each) for each in (self._homes[1], *self._guarded)):
            return Phrase("Most servers can use another folder, set by an argument or a variable: name that folder")
        return Phrase("Name a folder below it")

    @cached_property
    def _homes(self) -> tuple[str, str]:
        return _folded(os.path.realpath(self.home)), _folded(os.path.realpath(self.own))

    @cached_property
    def _guarded(self) -> dict[str, str]:
        """Returns the guarded folders by their real paths."""
        return {_folded(os.path.realpath(os.path.join(self.home, each))): each for each in (*KEYS, *BROWSERS)}


def _folded(path: str, *, platform: str = sys.platform) -> str:
    """Returns the same text for two spellings of one file's path: on macOS `~/.SSH` is `~/.ssh`."""
    return path.casefold() if platform == "darwin" else path


def _is_shared(real: str) -> bool:
    if os.path.dirname(real) == RUN_USER or any(is_below(place, real) for place in SHARED_PLACES):
        return True
    return any(is_below(real, place) for place in OF_OTHERS)


def _touches(path: str, guarded: str) -> bool:
    return is_below(path, guarded) or (is_below(guarded, path) and os.path.lexists(guarded))


def is_below(path: str, folder: str) -> bool:
    """Reports whether a path is a folder, or in it; both real."""
    return path == folder or path.startswith(folder.rstrip(os.sep) + os.sep)


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
        """Drops cached facts about folders, which may have changed."""
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
