"""What files and folders of one server begin with: of every name that a server may have, and unlike for any two of them.

Above it: the servers' logs, and the folders of confined servers. Below it: nothing.
"""

import hashlib
import re

NAME_LENGTH = 40  # characters of a server's name in a file's, so that a person finds it; the hash tells servers apart


def file_stem(server: str) -> str:
    """A readable name for files of a server."""
    readable = re.sub(r"[^A-Za-z0-9_]+", "-", server)[:NAME_LENGTH].strip("-") or "server"
    return f"{readable}-{hashlib.sha256(server.encode('utf-8', 'surrogatepass')).hexdigest()[:12]}"
