"""Pagination of long lists: `?limit=`, `?cursor=`, and the link to the next page.

Above it: the REST interface's handler. Knows no operations. A cursor names the last member that the caller has, so that members added or
removed meanwhile neither repeat nor hide others.
"""

import base64
import binascii
import hashlib
from collections.abc import Callable, Mapping, Sequence
from typing import Any

from tooltray.rest.problems import Failed

MOST = 500
KEY_CHARACTERS = 16  # of a digest; a cursor is no secret, only short


def page(items: Sequence[Any], paging: Mapping[str, str], key: Callable[[Any], str]) -> tuple[list[Any], str]:
    """Cuts one page out of a list.

    Args:
        paging: `limit` and `cursor` as given by the caller; without a limit everything is one page.
        key: returns the unique key of a member.

    Returns:
        The page, and the cursor of the next page; empty if there is none.

    Raises:
        Failed: limit or cursor is invalid.
    """
    limit, start = _limit(paging, len(items)), _start(items, paging.get("cursor", ""), key)
    found = list(items[start : start + limit])
    end = start + len(found)
    return found, _cursor(end, key(items[end - 1])) if found and end < len(items) else ""


def _limit(paging: Mapping[str, str], count: int) -> int:
    if "limit" not in paging:
        return count
    text = paging["limit"]
    if not (text.isascii() and text.isdecimal() and len(text) <= len(str(MOST)) and 1 <= int(text) <= MOST):
        raise Failed(422, "The query cannot be used", f"limit is a number from 1 to {MOST}")
    return int(text)


def _start(items: Sequence[Any], cursor: str, key: Callable[[Any], str]) -> int:
    if not cursor:
        return 0
    try:
        number, _, digest = base64.urlsafe_b64decode(cursor.encode("ascii")).decode("ascii").partition(".")
        position = int(number)
    except (ValueError, binascii.Error):
        raise Failed(422, "The query cannot be used", "this cursor is none that was given here") from None
    found = (index + 1 for index, item in enumerate(items) if _digest(key(item)) == digest)
    return next(found, max(position - 1, 0))  # the member is gone, so the next one has moved up


def _cursor(position: int, key: str) -> str:
    return base64.urlsafe_b64encode(f"{position}.{_digest(key)}".encode()).decode()


def _digest(key: str) -> str:
    return hashlib.sha256(key.encode("utf-8", "surrogatepass")).hexdigest()[:KEY_CHARACTERS]
