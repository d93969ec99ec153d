"""The desk that most scenes open: servers in every state, the tools of one of them, and as many servers as a scene wants."""

import time
from collections.abc import Sequence

from msgspec.structs import replace
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.server_snapshots import server, tool

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.ui.theme import Theme

REFUSED = Problem("Command 'uvx' not found", "looked in /usr/local/bin, /usr/bin and /bin", "Install uv, or set the command's full path")
CRASHED = Problem(
    "It ended with exit code 1", "last line: Error: connect ECONNREFUSED 127.0.0.1:5432", "Start PostgreSQL or correct DATABASE_URI"
)
CALLS = (0, 2, 5, 4, 8, 3, 1, 0, 6, 9, 12, 7, 5, 11, 14, 9)
S = ServerState
SERVERS = (
    server(
        "filesystem",
        target="npx -y @modelcontextprotocol/server-filesystem ${HOME}/notes",
        tool_count=14,
        calls=CALLS,
        calls_today=312,
        p50_ms=18.4,
        is_default=True,
    ),
    server(
        "github",
        S.ON_DEMAND,
        target="docker run -i --rm -e GITHUB_TOKEN ghcr.io/github/github-mcp-server",
        tool_count=38,
        calls=(1, 0, 4, 2, 0, 0),
        calls_today=10,
        p50_ms=420,
    ),
    server(
        "playwright",
        S.INSTALLING,
        target="npx @playwright/mcp@latest",
        detail="npx is downloading @playwright/mcp",
        tool_count=22,
        is_default=True,
    ),
    server("serena", S.STARTING, target="uvx --from git+https://github.com/oraios/serena serena start-mcp-server", tool_count=29),
    server("postgres", S.ERROR, target="uvx postgres-mcp --access-mode=restricted", tool_count=9, problem=REFUSED),
    server(
        "memory", target="npx -y @modelcontextprotocol/server-memory", tool_count=9, calls=(1, 0, 3), calls_today=1, p50_ms=6.2, icon="🧠"
    ),
    server(
        "my-very-long-server-name-that-somebody-pasted-from-a-readme",
        S.RESTARTING,
        target="node /srv/x/index.js",
        problem=CRASHED,
        detail="Next attempt in 2 s",
    ),
    server("fetch", S.STOPPED, target="uvx mcp-server-fetch", tool_count=1, since=time.time() - 2 * 86400),
)
TOOLS = (
    tool("read_text_file", "filesystem", description="Read a file as text, whole or only its first or last lines."),
    tool("write_file", "filesystem", description="Create a file or replace one completely.", category="write"),
    tool("edit_file", "filesystem", description="Change single lines and get a diff back.", category="write"),
    tool("list_directory", "filesystem", description="List the files and folders in a folder."),
    tool("search_files", "filesystem", description="Find files by name in a folder and all below it.\nPatterns as in a shell."),
    tool("move_file", "filesystem", description="Move or rename a file or a folder.", category="write", is_enabled=False),
    tool("delete_everything_that_matches_this_pattern", "filesystem", description="Deletes.", category="write", is_approved=False),
    *(tool(f"tool_{number}", "filesystem") for number in range(7)),
)


def many(count: int) -> tuple[ServerSnapshot, ...]:
    return tuple(
        replace(SERVERS[i % 8], name=f"{SERVERS[i % 8].name[:20]}-{i // 8 + 1}", calls_today=(i * 37) % 411, p50_ms=(i * 13) % 90)
        for i in range(count)
    )


async def desk(theme: Theme, servers: Sequence[ServerSnapshot] = SERVERS, **fields: object) -> Desk:
    result = Desk(FakePresenter(servers, TOOLS, session_count=3, **fields), theme)
    await result.open()
    await until(lambda: result.servers.servers)
    return result
