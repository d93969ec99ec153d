"""Whether what a server gives for a file of a skill is what its entry says: size and SHA-256 digest.

Above it: Skills. Below it: protocol. Pure. A digest comes from the server that gives the content, so it shows that the two fit together,
and nothing of what is in it.
"""

import hashlib
from base64 import b64decode

from msgspec import Raw

from tooltray.catalogue.skill import SkillFile
from tooltray.protocol.envelope import load
from tooltray.protocol.member_scanner import opened

CHECKED_AT_ONCE_BYTES = 2**18  # of a result; longer ones are checked in a thread, beside the event loop


def fault_of(result: Raw, uri: str, file: SkillFile) -> str:
    """Why the result of a read is not the file; empty where it is.

    Args:
        uri: by which it was asked for.
    """
    try:
        content = _bytes(result, uri)
    except ValueError as error:
        return str(error) or "its content cannot be read"
    if len(content) != file.size_bytes:
        return f"it has {len(content):,} bytes, not {file.size_bytes:,}"
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return "" if digest == file.digest else f"its digest is {digest}, not {file.digest}"


def text_of(result: Raw, uri: str) -> str:
    """The text of a file.

    Raises:
        ValueError: it is none.
    """
    return _bytes(result, uri).decode("utf-8", "replace")


def _bytes(result: Raw, uri: str) -> bytes:
    """
    Raises:
        ValueError: no content of the result is of this URI, or it has none.
    """
    try:
        contents = load(opened(result)["contents"])
    except KeyError:
        raise ValueError("the answer has no contents") from None
    listed = [each for each in contents if isinstance(each, dict)] if isinstance(contents, list) else []
    found = next((each for each in listed if each.get("uri") == uri), listed[0] if len(listed) == 1 else None)
    text, blob = (found.get("text"), found.get("blob")) if found else (None, None)
    if isinstance(text, str):
        return text.encode()
    if isinstance(blob, str):
        return b64decode(blob, validate=True)
    raise ValueError("the answer has no content under its URI")
