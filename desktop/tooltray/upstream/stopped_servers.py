"""Which servers a person has stopped, kept over restarts of the hub: `stopped.json` in the home.

Above it: ServerManager, which starts none of them until a person does, and the command line where no hub runs. Below it: atomic_file. This
is state of this computer's hub and no setting: it stands in no export, and whoever edits the settings does not see it.
"""

import json
import threading
from pathlib import Path

import msgspec

from tooltray.errors import Problem, TooltrayError
from tooltray.files.atomic_file import read_own, set_aside, write_atomically

LARGEST_BYTES = 2**20  # as many servers as are kept, each with the longest name and path
MOST_KEPT = 1000  # servers of projects that nobody works on any more would else stay for ever; the oldest go


class _Stopped(msgspec.Struct):
    """
    Attributes:
        file: in which the server's entry stands; empty: in the settings.
        at: unix seconds; 0: nobody knows.
    """

    name: str
    file: str = ""
    at: float = 0.0


class _File(msgspec.Struct):
    servers: list[_Stopped] = []


class StoppedServers:
    """Those of one home. `save` blocks on the disk and may be called from any thread; all else belongs to one thread.

    A server is known by its name and the file of its entry: one of a project is still stopped when somebody works there again.

    Attributes:
        problem: what is wrong with the file; None if nothing is.
    """

    def __init__(self, path: Path) -> None:
        """Reads the file. One that cannot be used is set aside: then no server counts as stopped."""
        self._path, self._writing = path, threading.Lock()
        self._since: dict[tuple[str, str], float] = {}  # by name and file, the oldest first
        self.problem: Problem | None = None
        try:
            read = msgspec.convert(json.loads(read_own(path, LARGEST_BYTES)), type=_File)
        except FileNotFoundError:
            return
        except (ValueError, RecursionError):
            message = f"what was in {path.name} is now in {set_aside(path)}"
            self.problem = Problem("which servers you stopped cannot be read, so they start again", message, "Stop them once more.")
        except OSError as error:
            message = f"{path}: {error.strerror or error}"
            self.problem = Problem("which servers you stopped cannot be read, so they start again", message, "Make it readable.")
        else:
            self._since = {(each.name, each.file): each.at for each in read.servers if not each.file or Path(each.file).exists()}

    def since(self, name: str, file: str = "") -> float | None:
        """When a person stopped a server, in unix seconds (0: nobody knows); None for one that nobody stopped.

        Args:
            file: in which its entry stands; empty: in the settings.
        """
        return self._since.get((name, file))

    def of_settings(self) -> list[str]:
        """The names of those whose entry stands in the settings."""
        return [name for name, file in self._since if not file]

    def add(self, name: str, file: str = "", *, at: float) -> None:
        """A person stops a server. `at`: unix seconds."""
        self._since[name, file] = at
        if len(self._since) > MOST_KEPT:
            del self._since[next(iter(self._since))]

    def discard(self, name: str, file: str = "") -> bool:
        """A person starts it, or its entry is gone; returns whether that is news, to be saved."""
        return self._since.pop((name, file), None) is not None

    def save(self) -> None:
        """Writes what counts at this moment.

        Raises:
            TooltrayError: the file cannot be written; until the hub ends, what was asked for counts all the same.
        """
        with self._writing:  # who comes last writes the latest
            kept = _File([_Stopped(name, file, at) for (name, file), at in list(self._since.items())])
            try:
                write_atomically(self._path, json.dumps(msgspec.to_builtins(kept), indent=2).encode())
            except OSError as error:
                title = "which servers are stopped cannot be saved"
                message, hint = f"{self._path}: {error.strerror or error}", "It counts until Tooltray ends."
                raise TooltrayError(title, message, hint) from None
