"""Scenes of how servers are confined: the tab of an opened server, cards, and what of it this computer cannot do."""

from tests.fakes.desk import until
from tests.fakes.server_snapshots import server
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.shot import Shot

from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, SeenThing, WatchProposal, WatchSnapshot
from tooltray.ui.server_pane.server_confinement import ServerConfinement
from tooltray.ui.server_pane.watch_section import WatchSection
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.label import Label

OPEN = ConfinementSnapshot()
OWN = ConfinementSnapshot(
    "own", "hosts", hosts=("api.example.org", "*.example.net:8443"), read=("/usr/share/dict",), write=("/home/me/notes",)
)
WHY = Phrase("{path} has {what} in it", path="~/.ssh", what=Phrase("keys and passwords"))
READ = ConfinementSnapshot("read", "none", missing=(Phrase("It does not get {path}: {why}", path="~/.ssh", why=WHY),))
IN_VAIN = ConfinementSnapshot("own", missing=("Not sandboxed: Windows is not supported yet.",), is_in_vain=True)
SERVERS = (
    server("filesystem", target="npx -y @modelcontextprotocol/server-filesystem ~/notes", tool_count=14, confinement=OWN),
    server("github", target="uvx mcp-server-github", tool_count=38, confinement=OPEN),
    server("memory", target="npx -y @modelcontextprotocol/server-memory", tool_count=9, confinement=READ, label="work", color="blue"),
    server("sqlite", target="uvx mcp-server-sqlite", tool_count=6, confinement=IN_VAIN),
)


async def confinement_cards(theme: Theme) -> Shot:
    return Shot(await desk(theme, SERVERS))


async def confinement(theme: Theme, name: str = "filesystem", size: tuple[int, int] | None = None) -> Shot:
    result = await desk(theme, SERVERS)
    details = result.open_server(name, "confinement")
    await until(lambda: isinstance(details.view("confinement"), ServerConfinement))
    return Shot(result, size=size)


async def confinement_open(theme: Theme) -> Shot:
    return await confinement(theme, "github")


async def confinement_in_vain(theme: Theme) -> Shot:
    return await confinement(theme, "sqlite")


async def confinement_small(theme: Theme) -> Shot:
    return await confinement(theme, "memory", (900, 600))


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


async def confinement_watch(theme: Theme) -> Shot:
    result = await desk(theme, SERVERS)
    result.engine.watch = WatchSnapshot("github", "watching", 201.0, 412, seen=SEEN, proposal=PROPOSAL)
    details = result.open_server("github", "confinement")
    await until(lambda: isinstance(details.view("confinement"), ServerConfinement))
    [section] = details.findChildren(WatchSection)
    await until(lambda: "412" in shown_by(section))
    return Shot(result, size=(1180, 1180))


def shown_by(section: WatchSection) -> str:
    return " ".join(label.text() for label in section.findChildren(Label))


SCENES = (confinement_cards, confinement, confinement_open, confinement_in_vain, confinement_small, confinement_watch)
