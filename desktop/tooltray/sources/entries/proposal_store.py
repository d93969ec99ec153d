"""Stores the server entries that programs have proposed, over restarts until a person answers: `proposals.json` in the home.

Above it: Proposals. Below it: atomic_file. Proposals have their own file, from which no version starts servers; being in it is no consent.
Their secrets are stored among the secrets, and the file has `${secret:NAME}`.
"""

import json
from collections.abc import Mapping
from pathlib import Path
from typing import Any, Literal

import msgspec

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.files.atomic_file import read_own, set_aside, write_atomically
from tooltray.foundation.phrases import Phrase

LARGEST_BYTES = 8 * 2**20  # more than all waiting proposals can have


class KeptProposal(msgspec.Struct, rename="camel", frozen=True):
    """
    Attributes:
        entry: the entry for the file, without plain secrets.
        project: the folder of the project whose own file it is for; empty for the settings.
        is_change: whether it changes an existing server.
        is_default: whether the server would start with the hub.
        asked_by: name of the token of the program.
        asked_at: time in unix seconds.
        secrets: names of the secrets that were stored for it.
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
    """The store of one home. The constructor and `write` block on the disk."""

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
        """Replaces all proposals.

        Raises:
            TooltrayError: the file cannot be written; nothing has changed.
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
