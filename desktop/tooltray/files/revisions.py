"""Fingerprints of JSON: the digest that consent is bound to, and the short revision for optimistic concurrency.

Above it: McpConfHelper, file_server, trust decisions, proposals. Below it: errors.
"""

import hashlib
import json

from tooltray.errors import Conflict

REVISION_CHARACTERS = 16  # enough to notice a change; consent is bound to the whole digest


def digest_of(content: object) -> str:
    """SHA-256 of a JSON value as 64 hex digits. Layout and the order of keys do not matter.

    Args:
        content: what `json.loads` gives, or what pydantic dumps; other objects count as their `str`.
    """
    return hashlib.sha256(json.dumps(content, sort_keys=True, default=str).encode("utf-8", "surrogatepass")).hexdigest()


def revision_of(content: object) -> str:
    """The first 16 digits of `digest_of`: a client passes it back with a change, which is refused if the entry has changed since."""
    return digest_of(content)[:REVISION_CHARACTERS]


def check_revision(revision: str, seen: str) -> None:
    """Refuses a change of an entry that is not the one the caller has seen.

    Args:
        revision: of the present entry; empty: there is none.
        seen: of the entry that the caller has seen; empty: the caller accepts any.

    Raises:
        Conflict: the two differ.
    """
    if seen and seen != revision:
        raise Conflict("This entry is another one by now", "somebody has changed it since you looked at it", "Look again, and decide anew.")
