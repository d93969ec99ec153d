"""AI clients on a computer, what is in their files and what would change there, as the engine would tell of them."""

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.ai_clients import (
    AiClient,
    AiClientFile,
    ClientChange,
    ClientEdit,
    ClientScan,
    ClientServer,
    FoundSecret,
    ImportCandidate,
    ImportedServer,
    ImportPlan,
    ImportSource,
)
from tooltray.foundation.snapshots.entries import FormField

HOME = "/home/ada"
GITHUB = ClientServer("github", ("mcpServers", "github"), "npx -y @modelcontextprotocol/server-github", secrets=("GITHUB_TOKEN",), line=4)
FILES = ClientServer("files", ("mcpServers", "files"), "npx -y @modelcontextprotocol/server-filesystem /home/ada/notes", line=12)
LINEAR = ClientServer("linear", ("mcpServers", "linear"), "https://mcp.linear.app/mcp", state="waits", line=18)
OURS = ClientServer("tooltray", ("mcpServers", "tooltray"), "/home/ada/.tooltray/bin/tooltray-bridge", kind="bridge", line=22)
SCAN = ClientScan(
    (
        AiClient(
            "claude-code",
            "Claude Code",
            is_installed=True,
            is_running=True,
            files=(
                AiClientFile(f"{HOME}/.claude.json", exists=True, servers=(GITHUB, FILES, LINEAR)),
                AiClientFile(f"{HOME}/shop/.mcp.json", exists=True, project=f"{HOME}/shop", servers=(FILES,), is_version_controlled=True),
            ),
            way="command",
            note="It writes its file at each run. Restart it after connecting.",
        ),
        AiClient(
            "cursor",
            "Cursor",
            is_installed=True,
            is_running=False,
            connection="connected",
            files=(AiClientFile(f"{HOME}/.cursor/mcp.json", exists=True, connection="connected", servers=(OURS, GITHUB)),),
        ),
        AiClient(
            "codex",
            "Codex",
            is_installed=True,
            connection="outdated",
            files=(AiClientFile(f"{HOME}/.codex/config.toml", exists=True, connection="outdated", servers=(OURS, FILES)),),
        ),
        AiClient(
            "gemini-cli", "Gemini CLI", is_installed=True, is_running=False, files=(AiClientFile(f"{HOME}/.gemini/settings.json", False),)
        ),
        AiClient(
            "zed",
            "Zed",
            is_installed=True,
            connection="broken",
            files=(
                AiClientFile(
                    f"{HOME}/.config/zed/settings.json",
                    exists=True,
                    connection="broken",
                    problem=Problem("This is not JSON", "a comma is missing", "Mend it in Zed"),
                    line=14,
                ),
            ),
            can_connect=False,
            why_not="Its file cannot be read.",
        ),
        AiClient(
            "lm-studio", "LM Studio", is_installed=True, way="link", link="lmstudio://add_mcp?name=tooltray", note="It asks you itself."
        ),
        AiClient("warp", "Warp", is_installed=False),
        AiClient("jan", "Jan", is_installed=False),
    ),
    servers=11,
    different_servers=7,
    plain_secrets=5,
    new_servers=4,
)
DIFF = """--- a/mcp.json
+++ b/mcp.json
@@ -1,6 +1,9 @@
 {
   "mcpServers": {
+    "tooltray": {
+      "command": "/home/ada/.tooltray/bin/tooltray-bridge"
+    },
     "github": {
       "command": "npx",
       "env": { "GITHUB_TOKEN": "••••••" }
"""
EDITS = (
    ClientEdit("claude-code:user", "claude-code", "connect", f"{HOME}/.claude.json", "r1", DIFF, ("claude", "mcp", "add", "tooltray")),
    ClientEdit("claude-code:shop", "claude-code", "connect", f"{HOME}/shop/.mcp.json", "r2", DIFF, needs_own_yes=True),
    ClientEdit("codex:user", "codex", "mend", f"{HOME}/.codex/config.toml", "r3", DIFF),
    ClientEdit(
        "zed:user",
        "zed",
        "connect",
        f"{HOME}/.config/zed/settings.json",
        problem=Problem("This is not JSON", "line 14: a comma is missing", "Mend it in Zed"),
    ),
)
CHANGES = (
    ClientChange("c1", "cursor", "connect", f"{HOME}/.cursor/mcp.json", 1_700_000_500.0, ("tooltray",), "exact", is_encrypted=True),
    ClientChange(
        "c2",
        "codex",
        "mend",
        f"{HOME}/.codex/config.toml",
        1_700_000_400.0,
        ("tooltray",),
        "entries",
        note="Restart Codex",
        is_encrypted=True,
    ),
    ClientChange("c3", "claude-code", "remove", f"{HOME}/.claude.json", 1_700_000_300.0, ("github", "files"), "none"),
)
ASKED = FormField("api_key", "API key", description="Of the account that the server uses", is_required=True, is_secret=True)


def source(client: str, name: str, path: str = "", project: str = "") -> ImportSource:
    return ImportSource(client, path or f"{HOME}/.{client}.json", name, project)


PLAN = ImportPlan(
    (
        ImportCandidate(
            "1",
            "github",
            "new",
            (source("claude-code", "github"), source("cursor", "github"), source("codex", "gh")),
            target="npx -y @modelcontextprotocol/server-github",
            secrets=(FoundSecret("GITHUB_TOKEN", "name"),),
        ),
        ImportCandidate(
            "2",
            "linear",
            "new",
            (source("cursor", "linear"),),
            target="https://mcp.linear.app/mcp",
            proxied="https://mcp.linear.app/mcp",
        ),
        ImportCandidate(
            "3", "search", "new", (source("claude-code", "search"),), target="npx -y brave-search", asks=(ASKED,), is_chosen=True
        ),
        ImportCandidate(
            "4",
            "shop-db",
            "new",
            (source("claude-code", "db", f"{HOME}/shop/.mcp.json", f"{HOME}/shop"),),
            target="uvx postgres-mcp",
            secrets=(FoundSecret("DATABASE_URI", "form"),),
            is_chosen=False,
            why_not_chosen=Phrase("it belongs to one project"),
        ),
        ImportCandidate("5", "files-2", "different", (source("codex", "files"),), target="npx -y server-filesystem /srv", here="files"),
        ImportCandidate("6", "memory", "same", (source("cursor", "memory"),), target="npx -y server-memory", here="memory"),
        ImportCandidate(
            "7",
            "odd",
            "broken",
            (source("codex", "odd"),),
            problem=Problem("It has neither a command nor an address", "", "Mend it in Codex"),
        ),
    ),
    (Problem("Zed's settings cannot be read", "line 14: a comma is missing", "Mend the file"),),
)
IMPORTED = (
    ImportedServer("1", "github", "listed", 38, (ClientChange("r1", "claude-code", "remove", f"{HOME}/.claude.json", 1.0, ("github",)),)),
    ImportedServer("2", "linear", "added"),
    ImportedServer("3", "search", "failed", problem=Problem("npx ended with exit code 1", "the package is not there", "Correct its name")),
)


def many_clients(count: int) -> ClientScan:
    """So many clients with servers in them."""
    clients = tuple(
        AiClient(
            f"client-{number}",
            f"Client {number}",
            is_installed=True,
            is_running=number % 2 == 0,
            connection=("none", "connected", "outdated", "broken")[number % 4],  # type: ignore[arg-type]
            files=(AiClientFile(f"{HOME}/.client-{number}.json", True, servers=(GITHUB, FILES)),),
        )
        for number in range(count)
    )
    return ClientScan(clients, count * 2, 2, count, 2)


def many_candidates(count: int) -> ImportPlan:
    """So many candidates, each of them in two clients."""
    return ImportPlan(
        tuple(
            ImportCandidate(
                str(number),
                f"server-{number}",
                "new",
                (source("claude-code", f"server-{number}"), source("cursor", f"server-{number}")),
                target=f"npx -y @example/server-{number} --with an-argument",
                secrets=(FoundSecret("API_KEY", "name"),) if number % 3 == 0 else (),
            )
            for number in range(count)
        )
    )
