"""Folders that no server gets by name: those with keys and passwords, the home as a whole, Tooltray's own. A sandbox cannot exclude a part
of a folder again, so a folder that holds one of these is refused as a whole."""

import os
import sys
from functools import cached_property

import msgspec

from tooltray.foundation.phrases import Phrase

KEYS = (
    *(".ssh", ".aws", ".gnupg", ".azure", ".kube", ".docker", ".config/gcloud", ".config/gh", ".config/op", ".password-store"),
    *(".netrc", ".git-credentials", ".pypirc", ".local/share/keyrings", ".local/share/kwalletd", "Library/Keychains"),
)
"""In the home: what opens the user's accounts and machines."""
BROWSERS = (
    *(".mozilla", ".thunderbird", ".config/google-chrome", ".config/chromium", ".config/BraveSoftware", ".config/microsoft-edge"),
    *(".config/vivaldi", ".config/opera", "snap/firefox", "snap/chromium", ".var/app", "Library/Application Support/Google/Chrome"),
    *("Library/Application Support/Firefox", "Library/Safari", "Library/Cookies"),
)
"""In the home: profiles of browsers, with the user's sessions."""
RUN_USER = "/run/user"
SHARED_PLACES = ("/dev/pts", "/dev/shm", "/proc", "/sys", RUN_USER)
"""Terminals, memory, processes and sockets of all programs: never given with a folder above them. What lies in them may be named, but for
terminals and processes."""
OF_OTHERS = ("/dev/pts", "/proc")


class GuardedFolders(msgspec.Struct, frozen=True, dict=True):
    """The guarded folders at one moment: created for each start of a server.

    Attributes:
        home: the user's own folder, absolute.
        own: Tooltray's home, absolute.
    """

    home: str
    own: str

    def whole(self, path: str) -> str:
        """Returns the whole path for one that was named; `~` is the user's home. Links in it stay."""
        return self.home + path[1:] if path == "~" or path.startswith("~/") else path

    def why_not(self, path: str) -> Phrase | None:
        """Returns why a server does not get a folder or file that is named; None: it may. Looks at the file system."""
        real = _folded(os.path.realpath(self.whole(path)))
        if is_below(self._homes[0], real):
            return Phrase("{path} is all that you have", path=path)
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
        """Returns what to do where a server does not get a folder or file: only a folder that holds a guarded one has other folders in
        it."""
        real = os.path.realpath(self.whole(path))
        if any(is_below(real, each) for each in (self._homes[1], *self._guarded)):
            return Phrase("Most servers can be told another place for their files, by an argument or a variable: name that place")
        return Phrase("Name a folder below it")

    @cached_property
    def _homes(self) -> tuple[str, str]:
        return _folded(os.path.realpath(self.home)), _folded(os.path.realpath(self.own))

    @cached_property
    def _guarded(self) -> dict[str, str]:
        """Returns the guarded folders by their real paths."""
        return {_folded(os.path.realpath(os.path.join(self.home, each))): each for each in (*KEYS, *BROWSERS)}


def _folded(path: str, *, platform: str = sys.platform) -> str:
    """Returns the same for two spellings of a path that are one file: to macOS `~/.SSH` is `~/.ssh`."""
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
