"""A server is called by its package, image or host in lists, and never by a path."""

import pytest
from tests.fakes.server_snapshots import BUILTIN, server

from tooltray.ui.service_words import service


@pytest.mark.parametrize(
    ("target", "text"),
    [
        ("npx -y @modelcontextprotocol/server-filesystem ${HOME}/notes", "@modelcontextprotocol/server-filesystem"),
        ("/usr/bin/npx --yes @playwright/mcp@latest", "@playwright/mcp"),
        ("npx --package @scope/pkg notes", "notes"),
        ("npm exec -- thing", "thing"),
        ("uvx postgres-mcp==1.0 --access-mode=restricted", "postgres-mcp"),
        ("uvx --from git+https://github.com/oraios/serena serena start", "serena"),
        ("uv run --directory /srv/weather weather.py", "weather.py"),
        ("docker run -i --rm -e TOKEN ghcr.io/github/github-mcp-server:1.2", "ghcr.io/github/github-mcp-server"),
        ("python3 -m mcp_server_time", "mcp_server_time"),
        ("python3 -I -S /srv/broken.py", "broken.py"),
        ("node /srv/notes/dist/index.js", "notes"),
        ("node /dist/index.js", "index.js"),
        ("bash -c 'x | y'", "bash"),
        ("node", "node"),
        ("npx", "npx"),
        (r"C:\tools\notes.exe --all", "notes"),
        (r'"C:\Program Files\tools\notes.exe" --all', "notes"),
        ("python3 '/srv/my files/notes.py'", "notes.py"),
        ("node 'broken", "'broken"),
        ("/", "/"),
        ("", "stdio"),
        ("https://mcp.linear.app/mcp", "mcp.linear.app"),
        ("https://[broken/mcp", "https://[broken/mcp"),
    ],
)
def test_a_server_is_called_by_what_it_runs_or_where_it_is(target: str, text: str) -> None:
    assert service(server("a", target=target)) == text


def test_tooltray_s_own_server_says_so() -> None:
    assert service(BUILTIN) == "Comes with Tooltray"
