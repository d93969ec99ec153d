"""New servers that others describe are kept to their own files where that works."""

from typing import Any

import pytest

from tooltray.servers.confinement.confinements import as_new


@pytest.mark.parametrize(
    ("entry", "platform", "is_kept"),
    [
        ({"command": "npx", "args": ["x"]}, "linux", True),
        ({"command": "npx", "type": "stdio"}, "darwin", True),
        ({"command": "npx"}, "win32", False),
        ({"command": "docker"}, "linux", False),
        ({"command": "/usr/bin/docker"}, "linux", False),
        ({"command": "./docker"}, "linux", True),
        ({"command": "${CLAUDE_PROJECT_DIR}/docker"}, "linux", True),
        ({"command": "npx", "confinement": "read"}, "linux", False),
        ({"url": "http://127.0.0.1:9/"}, "linux", False),
        ({"command": "x", "type": "inmemory"}, "linux", False),
        ({"command": ""}, "linux", False),
    ],
)
def test_a_new_server_is_kept_to_its_own_files_where_that_works(entry: dict[str, Any], platform: str, is_kept: bool) -> None:
    assert as_new(entry, platform=platform) == (entry | {"confinement": "own"} if is_kept else entry)
