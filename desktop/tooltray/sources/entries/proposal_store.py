"""Stores the server entries that programs have proposed, over restarts until a person answers: `proposals.json` in the home.

The file has only proposals, and no version of Tooltray starts servers from it; an entry in it does not count as consent.
The secrets of proposals are stored among the secrets, and the file has `${secret:NAME}`.
"""

from pathlib import Path
from typing import Any, Literal

import msgspec

from tooltray.consent.kept_file import KeptFile, UnixTime
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
    asked_at: UnixTime = 0.0
    secrets: tuple[str, ...] = ()


class KeptProposals(msgspec.Struct):
    version: Literal[1] = 1
    servers: dict[str, KeptProposal] = {}


def proposal_store(path: Path) -> KeptFile[KeptProposals]:
    """Reads the file of one home."""
    return KeptFile(
        path,
        KeptProposals,
        most_bytes=LARGEST_BYTES,
        unread=Phrase("what programs have proposed cannot be read, so it is forgotten"),
        remedy=Phrase("Let the programs send it once more."),
        unsaved=Phrase("what waits for your yes cannot be saved"),
    )
