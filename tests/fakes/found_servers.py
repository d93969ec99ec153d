"""Servers to find, as the engine would tell of them: hits of the registry, well-known ones, a bundle."""

import time

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.discovery import (
    BundleOffer,
    RegistryHit,
    RegistryOption,
    RegistryServer,
    RegistryStatus,
    RegistryUpdate,
    StarterServer,
)
from tooltray.foundation.snapshots.entries import FormField, NewServer
from tooltray.foundation.snapshots.servers import AccessSnapshot

STATUS = RegistryStatus(20_123, time.time() - 3_600)
TOKEN = FormField("token", "GitHub token", description="A token that may read your repositories", is_required=True, is_secret=True)
FOLDER = FormField("folder", "Folders", "folder", "What the server may read and write", is_list=True)
LEVEL = FormField("level", "Level", "choice", default="info", choices=("debug", "info", "error"))
LIMIT = FormField("limit", "Most results", "number", default=20, minimum=1, maximum=100)
READ_ONLY = FormField("read_only", "Read only", "boolean", default=True)
HITS = (
    RegistryHit(
        "io.github.github/github-mcp-server",
        "GitHub",
        "Repositories, issues and pull requests of GitHub.",
        "1.4.0",
        ("oci", "remote"),
        "https://github.com/github/github-mcp-server",
        "github",
    ),
    RegistryHit("io.github.ada/files", "Files", "Reads and writes files in folders that you name.", "0.9.1", ("npm",)),
    RegistryHit("com.example/search", "", "Searches the web, news and pictures without an account.", "2.0.0", ("pypi", "mcpb")),
)
SERVER = RegistryServer(
    "io.github.ada/files",
    "Files",
    "Reads and writes files in folders that you name.",
    "0.9.1",
    (
        RegistryOption("npm", "npm", "@ada/files 0.9.1", "npx", (TOKEN, FOLDER, LEVEL, LIMIT, READ_ONLY)),
        RegistryOption("oci", "oci", "ghcr.io/ada/files:0.9.1", "docker", (), Problem("Docker is not here", "", "Install Docker")),
    ),
    "https://github.com/ada/files",
    "https://files.example",
)
NEW = NewServer(
    "files",
    {
        "command": "npx",
        "args": ["-y", "@ada/files@0.9.1"],
        "env": {"LEVEL": "info", "TOKEN": "${secret:files/TOKEN}"},
        "confinement": {"files": "own"},
    },
    ("npx", "-y", "@ada/files@0.9.1", "/home/ada/notes"),
    "",
    ("TOKEN",),
    "io.github.ada/files 0.9.1 (npm)",
    (Problem("It can write files", "", "Name only folders that it may change"),),
    AccessSnapshot("careful", ("careful", "trusted", "free"), "reads"),
)
UPDATES = (RegistryUpdate("github", "io.github.github/github-mcp-server", "1.2.0", "1.4.0", ("2 new tools", "create_issue changes")),)
STARTERS = (
    StarterServer(
        "filesystem", "Filesystem", "Reads and writes files in folders that you name", "Files", "npx -y server-filesystem", "", (FOLDER,)
    ),
    StarterServer("git", "Git", "History, branches and changes of repositories", "Files", "uvx mcp-server-git", here="git"),
    StarterServer("github", "GitHub", "Issues, pull requests and code", "Development", "https://api.githubcopilot.com/mcp/", "an account"),
    StarterServer("playwright", "Playwright", "Works in a real browser", "Web", "npx -y @playwright/mcp@latest", "Chromium"),
    StarterServer("fetch", "Fetch", "Reads pages of the web as text", "Web", "uvx mcp-server-fetch"),
    StarterServer("memory", "Memory", "Remembers facts from one session to the next", "Knowledge", "npx -y server-memory"),
    StarterServer("context7", "Context7", "Documentation of libraries, as it is now", "Knowledge", "https://mcp.context7.com/mcp"),
)
BUNDLE = BundleOffer(
    "/home/ada/Downloads/weather-1.2.0.mcpb",
    "3b7e0f4c9a8d1e2f3b7e0f4c9a8d1e2f3b7e0f4c9a8d1e2f3b7e0f4c9a8d1e2f",
    "weather",
    "Weather",
    "1.2.0",
    "Forecasts and warnings for any place.",
    "Ada Example",
    "node",
    ("node", "${__dirname}/server/index.js"),
    1_834_000,
    homepage="https://weather.example",
    licence="MIT",
    fields=(FormField("api_key", "API key", is_required=True, is_secret=True), LIMIT),
    tools=("get_forecast", "get_warnings", "find_place"),
)


def many_hits(count: int) -> list[RegistryHit]:
    return [
        RegistryHit(f"io.github.ada/server-{n}", f"Server {n}", f"Does thing {n} and says so.", "1.0.0", ("npm",)) for n in range(count)
    ]
