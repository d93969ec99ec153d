"""Scenes of how servers are confined: the tab of an opened server, cards, and what of it this computer cannot do."""

from tests.fakes.desk import until
from tests.fakes.server_snapshots import server
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.shot import Shot

from tooltray.snapshots.confinement import ConfinementSnapshot
from tooltray.ui.opened_server.server_confinement import ServerConfinement
from tooltray.ui.theme import Theme

OPEN = ConfinementSnapshot()
OWN = ConfinementSnapshot(
    "own", "hosts", hosts=("api.example.org", "*.example.net:8443"), read=("/usr/share/dict",), write=("/home/me/notes",)
)
READ = ConfinementSnapshot("read", "none", missing=("It does not get ~/.ssh: ~/.ssh has keys and passwords in it (~/.ssh)",))
IN_VAIN = ConfinementSnapshot("own", missing=("Not confined: Windows is not supported yet.",), is_in_vain=True)
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


SCENES = (confinement_cards, confinement, confinement_open, confinement_in_vain, confinement_small)
