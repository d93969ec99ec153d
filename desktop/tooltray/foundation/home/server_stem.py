"""Names files and folders of one server: valid for every server name, and different for any two of them."""

import hashlib
import re

NAME_LENGTH = 40  # characters of a server's name in a file's, so that a person finds it; the hash tells servers apart


def file_stem(server: str) -> str:
    """Returns a readable name for files of a server."""
    readable = re.sub(r"[^A-Za-z0-9_]+", "-", server)[:NAME_LENGTH].strip("-") or "server"
    return f"{readable}-{hashlib.sha256(server.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
