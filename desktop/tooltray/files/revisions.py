"""By what two contents of a file or an entry are told apart.

Above it: McpConfHelper, file_server, what is trusted. Below it: errors.
"""

import hashlib
import json
from typing import Any

from tooltray.errors import Conflict

SHOWN_CHARACTERS = 16  # enough for "somebody has changed it since"; a yes is bound to the whole


def digest_of(content: Any) -> str:
    """64 hex digits; the same exactly for the same JSON, however it is laid out."""
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode("utf-8", "surrogatepass")).hexdigest()


def revision_of(content: Any) -> str:
    """The same in short, for those who want to change what they have seen, and nothing else."""
    return digest_of(content)[:SHOWN_CHARACTERS]


def check_revision(revision: str, seen: str) -> None:
    """
    Args:
        revision: of an entry as it is; empty: there is none.
        seen: of the one that somebody has seen; empty: whatever it is.

    Raises:
        Conflict: it is another one by now.
    """
    if seen and seen != revision:
        raise Conflict("This entry is another one by now", "somebody has changed it since you looked at it", "Look again, and decide anew.")
