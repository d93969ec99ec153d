"""Entries of servers that programs have proposed, kept over restarts until a person answers: `proposals.json` in the home.

Above it: the presenter's Proposals. Below it: atomic_file. They stand in a file of their own, which nothing starts servers from, this
version or an older one; what stands in it is no yes. Their secrets are among the secrets, and `${secret:NAME}` is here.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from tooltray.errors import Problem, TooltrayError
from tooltray.files.atomic_file import read_own, set_aside, write_atomically
from tooltray.phrases import Phrase

LARGEST_BYTES = 8 * 2**20  # more than all that may wait


class KeptProposal(msgspec.Struct, rename="camel", frozen=True):
    """
    Attributes:
        entry: as it would stand in its file, without plain secrets.
        project: the folder into whose own file it would go; empty: into the settings.
        is_change: of a server that there is.
        is_default: it would start with the hub.
        asked_by: the name of the token with which it came.
        secrets: that were put among the secrets for it.
    """

    entry: dict[str, Any]
    project: str = ""
    is_change: bool = False
    is_default: bool = True
    asked_by: str = ""
    asked_at: float = 0.0
    secrets: tuple[str, ...] = ()


class _File(msgspec.Struct):
    version: Literal[1] = 1
    servers: dict[str, KeptProposal] = {}


class ProposalStore:
    """That of one home. Both making one and `write` block on the disk."""

    def __init__(self, path: Path) -> None:
        self._path = path
        self.kept: dict[str, KeptProposal] = {}
        self.problem: Problem | None = None
        try:
            self.kept = msgspec.convert(json.loads(read_own(path, LARGEST_BYTES)), type=_File).servers
        except FileNotFoundError:
            pass
        except (ValueError, RecursionError):
            message = Phrase("what was in {file} is now in {other}", file=path.name, other=set_aside(path))
            self.problem = _unreadable(message)
        except OSError as error:
            self.problem = _unreadable(f"{path}: {error.strerror or error}")

    def write(self, kept: Mapping[str, KeptProposal]) -> None:
        """Replaces all of it.

        Raises:
            TooltrayError: it cannot be written; nothing has changed.
        """
        file = {"version": 1, "servers": dict(kept)}
        try:
            write_atomically(self._path, json.dumps(msgspec.to_builtins(file), indent=2).encode())
        except OSError as error:
            message = Phrase("{place}: {reason}", place=self._path, reason=error.strerror or str(error))
            raise TooltrayError(Phrase("what waits for your yes cannot be saved"), message, Phrase("Nothing has changed.")) from None


def _unreadable(message: str) -> Problem:
    return Problem(
        Phrase("what programs have proposed cannot be read, so it is forgotten"), message, Phrase("Let the programs send it once more.")
    )
