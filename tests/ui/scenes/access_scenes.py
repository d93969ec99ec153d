"""Scenes of what servers may do: the tab Access of an opened server, cards, and what of a sandbox this computer cannot do."""

import time

from msgspec.structs import replace
from tests.fakes.desk import until
from tests.fakes.server_snapshots import TRUSTED as ACCESS
from tests.fakes.server_snapshots import server
from tests.ui.scenes.approvals_scenes import GRANTED, grant
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.shot import Shot
from tests.ui.seen import control

from tooltray.config.settings.call_rule import read_rule
from tooltray.consent.approvals.access import OWN_RULES
from tooltray.consent.approvals.permissions import ASKS_WRITING, CHOSEN_ASK, CHOSEN_FREE, REASONS
from tooltray.consent.approvals.rule_words import words as rule_words
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.activity import ActivityEntry, ActivityRow
from tooltray.foundation.snapshots.approvals import ServerPermissions, ToolPermission
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, SeenThing, WatchProposal, WatchSnapshot
from tooltray.foundation.snapshots.servers import AccessSnapshot
from tooltray.foundation.snapshots.setup import SecretSnapshot, StoredSecrets
from tooltray.ui.approval.permission_words import tool_rows
from tooltray.ui.i18n import tr
from tooltray.ui.server_pane.sandbox_section import WatchSection
from tooltray.ui.server_pane.server_access import ApprovalSection, ServerAccess
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.label import Label

READS, WRITES, ALL = REASONS["read"], ASKS_WRITING, REASONS["all"]
P = ToolPermission
FILES = (
    P("read_text_file", "read", "default", True, READS),
    P("list_directory", "read", "default", True, READS),
    P("search_files", "read", "default", True, READS),
    P("directory_tree", "read", "default", True, READS),
    P("write_file", "write", "default", False, WRITES, ("1",)),
    P("edit_file", "write", "always", True, CHOSEN_FREE),
    P("create_or_update_file_contents", "write", "ask", False, CHOSEN_ASK),
    P("delete_everything_that_matches_this_pattern_<b>🗑</b>", "write", "default", False, WRITES),
    P("create_directory", "write", "default", False, WRITES, (), False),
    P("get_file_info", "read", "default", False, READS, (), True, True),
)


def permissions_of(name: str, *rules: str, count: int = 0, single: tuple[str, ...] = (), is_listed: bool = True) -> ServerPermissions:
    tools = tuple(P(f"tool_{number}", "write", "default", "all" in rules, ALL if "all" in rules else WRITES) for number in range(count))
    return ServerPermissions(name, (*rules, *single), single, is_listed=is_listed, tools=tools)


RULE_WORDS = rule_words(read_rule({"tool": "write_file", "arguments": {"path": {"inside": ["~/notes"]}}, "others": ["content"]}))
PERMISSIONS = [
    ServerPermissions(
        "filesystem",
        ("read", "edit_file", "ask:create_or_update_file_contents"),
        ("edit_file", "ask:create_or_update_file_contents"),
        tools=FILES,
        call_rules=(RULE_WORDS,),
    ),
    permissions_of("github", "all", count=38),
    permissions_of("playwright", "all", count=22),
    permissions_of("serena", "read", count=29),
    permissions_of("postgres", is_listed=False),
    permissions_of("memory", count=9, single=("tool_1",)),
    permissions_of("my-very-long-server-name-that-somebody-pasted-from-a-readme", "names:get_*", count=3),
    ServerPermissions("hub", ("all",), is_changeable=False, tools=(P("collect_feedback", "write", "default", True, ALL),)),
]
OPEN = ConfinementSnapshot()
OWN = ConfinementSnapshot(
    "own", "hosts", hosts=("api.example.org", "*.example.net:8443"), read=("/usr/share/dict",), write=("/home/me/notes",)
)
WHY = Phrase("{path} has {what} in it", path="~/.ssh", what=Phrase("keys and passwords"))
READ = ConfinementSnapshot("read", "none", missing=(Phrase("It does not get {path}: {why}", path="~/.ssh", why=WHY),))
IN_VAIN = ConfinementSnapshot("own", missing=("Not sandboxed: Windows is not supported yet.",), is_in_vain=True)
OTHERS = (permissions_of("sqlite", "names:get_*", count=3), permissions_of("sentry", "all", count=20))
CAREFUL = replace(ACCESS, choice="careful")
CUSTOM = AccessSnapshot(None, ("trusted", "free"), "some", has_call_rules=True, differs=OWN_RULES)
REMOTE = AccessSnapshot("free", ("trusted", "free"), "all")
SECRETS = StoredSecrets(
    "keyring",
    is_proven=True,
    secrets=(
        SecretSnapshot("filesystem/GITHUB_PERSONAL_ACCESS_TOKEN", False, ("filesystem",)),
        SecretSnapshot("github/GITHUB_TOKEN", True, ("github", "filesystem")),
        SecretSnapshot("op://work/a-vault-with-a-long-name/an item with a long name/password", True, ("filesystem",), kind="provided"),
        SecretSnapshot("other/KEY", True, ("other",)),
    ),
)
SERVERS = (
    server("filesystem", target="npx -y @modelcontextprotocol/server-filesystem ~/notes", tool_count=14, confinement=OWN, access=CAREFUL),
    server("github", target="uvx mcp-server-github", tool_count=38, confinement=OPEN),
    server(
        "memory",
        target="npx -y @modelcontextprotocol/server-memory",
        tool_count=9,
        confinement=READ,
        access=CAREFUL,
        label="work",
        color="blue",
    ),
    server("sqlite", target="uvx mcp-server-sqlite", tool_count=6, confinement=IN_VAIN, access=CUSTOM),
    server("sentry", transport="http", target="https://mcp.sentry.dev/mcp", tool_count=20, access=REMOTE),
)


async def access_cards(theme: Theme) -> Shot:
    return Shot(await desk(theme, SERVERS))


async def access(theme: Theme, name: str = "filesystem", size: tuple[int, int] | None = None) -> Shot:
    result = await desk(theme, SERVERS)
    engine = result.engine
    engine.permissions, engine.grants, engine.stored_secrets = [*PERMISSIONS, *OTHERS], list(GRANTED), SECRETS
    details = result.open_server(name, "access")
    await until(lambda: isinstance(details.view("access"), ServerAccess) and not len(result.tasks))
    return Shot(result, size=size)


async def access_tall(theme: Theme) -> Shot:
    return await access(theme, size=(1180, 2100))


async def access_trusted(theme: Theme) -> Shot:
    return await access(theme, "github", (1180, 1180))


async def access_custom(theme: Theme) -> Shot:
    return await access(theme, "sqlite")


async def access_remote(theme: Theme) -> Shot:
    return await access(theme, "sentry")


async def access_small(theme: Theme) -> Shot:
    return await access(theme, "memory", (900, 600))


async def access_free(theme: Theme) -> Shot:
    shot = await access(theme, "github")
    control(shot.desk.window, tr("Free")).click()  # type: ignore[union-attr]
    await until(lambda: shot.desk.window.sheet is not None)  # type: ignore[union-attr]
    return shot


async def permission_of_tool(theme: Theme) -> Shot:
    shot = await access(theme)
    assert shot.desk is not None
    [section] = shot.desk.window.findChildren(ApprovalSection)
    grants = {each.id: each for each in [*GRANTED, grant(1, client="Cursor", expires_at=time.time() + 7200)]}
    section._tools.open_row(tool_rows([replace(PERMISSIONS[0], tools=(FILES[4],))], grants)[0])
    said = [("once", "Claude Code", "src/main.py"), ("refused", "Cursor", "/etc/passwd"), ("late", "Zed", "notes.txt")]
    rows = [
        ActivityRow(ActivityEntry(at, "approval", time.time() - at * 5000, word, client=client, touched=touched), 1, at, 0.0)
        for at, (word, client, touched) in enumerate(said)
    ]
    await until(lambda: not len(shot.desk.tasks))
    shot.desk.window.sheet.panel.show_answers(rows)
    return shot


async def allow_tools(theme: Theme, size: tuple[int, int] | None = None, kind: int = 0) -> Shot:
    shot = await access(theme, size=size)
    assert shot.desk is not None
    window = shot.desk.window
    control(window, tr("Allow tools…")).click()
    await until(lambda: window.sheet is not None)
    panel = window.sheet.panel
    list(panel._kind._options.values())[kind].click()
    await until(panel._go.isEnabled)
    return shot


async def allow_tools_small(theme: Theme) -> Shot:
    return await allow_tools(theme, (900, 600), 1)


PROPOSAL = WatchProposal(
    "own",
    "hosts",
    hosts=("api.github.com",),
    read=("~/.gitconfig",),
    write=("~/notes",),
    refused=(SeenThing("read", "~/.ssh/id_ed25519", True), SeenThing("unix", "/run/user/1000/bus")),
    refused_count=2,
)
SEEN = (SeenThing("connect", "140.82.121.6:443"), SeenThing("name", "api.github.com"), SeenThing("create", "~/notes"))


async def access_watch(theme: Theme) -> Shot:
    result = await desk(theme, SERVERS)
    result.engine.watch = WatchSnapshot("github", "watching", 201.0, 412, seen=SEEN, proposal=PROPOSAL)
    details = result.open_server("github", "access")
    control(details, tr("Show the sandbox")).click()
    [section] = details.findChildren(WatchSection)
    await until(lambda: "412" in shown_by(section))
    return Shot(result, size=(1180, 1180))


def shown_by(section: WatchSection) -> str:
    return " ".join(label.text() for label in section.findChildren(Label))


SCENES = (
    access_cards,
    access,
    access_tall,
    access_trusted,
    access_custom,
    access_remote,
    access_small,
    access_free,
    access_watch,
    permission_of_tool,
    allow_tools,
    allow_tools_small,
)
