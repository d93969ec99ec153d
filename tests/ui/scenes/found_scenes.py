"""Scenes of AI clients on this computer, of what is found for them, and of servers to find."""

from collections.abc import Sequence

from msgspec.structs import replace
from tests.fakes.desk import Desk, until
from tests.fakes.fake_presenter import FakePresenter
from tests.fakes.found_clients import CHANGES, EDITS, IMPORTED, PLAN, SCAN, many_candidates
from tests.fakes.found_servers import BUNDLE, HITS, NEW, SERVER, STARTERS, STATUS, UPDATES, many_hits
from tests.fakes.server_snapshots import server
from tests.ui.scenes.opened_desk import SERVERS
from tests.ui.scenes.shot import Shot
from tests.ui.seen import control

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.ai_clients import ClientScan, ImportPlan
from tooltray.foundation.snapshots.discovery import RegistryStatus
from tooltray.foundation.snapshots.servers import InMemoryServer, ServerSnapshot
from tooltray.ui.add.offer_sheets import BundleSheet, InMemorySheet, RegistrySheet, StarterSheet
from tooltray.ui.add.review_sheet import OfferSheet
from tooltray.ui.clients.client_files import EditsSheet
from tooltray.ui.clients.import_sheet import ImportSheet
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import OpenBundle, Servers
from tooltray.ui.theme import Theme

SMALL = (900, 600)
INSIDE = InMemoryServer("notes", "tooltray-notes", "0.3.1", "Notes in your own folder")


async def found_desk(theme: Theme, scan: ClientScan = SCAN, servers: Sequence[ServerSnapshot] = SERVERS) -> Desk:
    fake = FakePresenter(servers)
    fake.client_scan, fake.client_edits, fake.client_changes = scan, list(EDITS), list(CHANGES)
    fake.import_plan, fake.imported = PLAN, list(IMPORTED)
    fake.starters, fake.registry_hits, fake.registry_status = list(STARTERS), list(HITS), STATUS
    fake.registry_servers, fake.registry_updates = {each.name: SERVER for each in HITS}, list(UPDATES)
    fake.bundle, fake.new_server = BUNDLE, NEW
    fake.client_links = {"Cursor": "cursor://x", "VS Code": "vscode:mcp/install?x", "LM Studio": "lmstudio://x", "Kiro": "kiro://x"}
    fake.inmemory_servers = [INSIDE, InMemoryServer("old", "old-package", problem=Problem("It needs another version of mcp"))]
    result = Desk(fake, theme)
    await result.open()
    await until(lambda: result.servers.servers)
    return result


async def computer(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    result = await found_desk(theme)
    result.window.open_page("clients")
    await until(lambda: result.window.context.scans.scan is not None and not len(result.tasks))
    return Shot(result, size=size)


async def connect_sheet(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    shot = await computer(theme, size)
    assert shot.desk is not None
    desk = shot.desk
    desk.clients.files.connect(["claude-code", "codex", "zed"])
    await until(lambda: isinstance(desk.window.context.sheets.panel, EditsSheet))
    return shot


async def connect_small(theme: Theme) -> Shot:
    return await connect_sheet(theme, SMALL)


async def connect_result(theme: Theme) -> Shot:
    shot = await connect_sheet(theme)
    assert shot.desk is not None
    panel = shot.desk.window.context.sheets.panel
    assert isinstance(panel, EditsSheet)
    panel.show_changes(CHANGES)
    return shot


async def import_sheet(theme: Theme, size: tuple[int, int] | None = None, plan: ImportPlan = PLAN) -> Shot:
    shot = await computer(theme, size)
    assert shot.desk is not None
    desk = shot.desk
    desk.engine.import_plan = plan
    desk.clients.files.import_from([])
    panel = desk.window.context.sheets.panel
    assert isinstance(panel, ImportSheet)
    await until(lambda: not len(desk.tasks))
    panel.table.selectRow(0)
    return shot


async def import_small(theme: Theme) -> Shot:
    return await import_sheet(theme, SMALL)


async def import_many(theme: Theme) -> Shot:
    return await import_sheet(theme, plan=many_candidates(100))


async def import_none(theme: Theme) -> Shot:
    shot = await computer(theme)
    assert shot.desk is not None
    shot.desk.engine.import_plan = ImportPlan()
    shot.desk.clients.files.import_from([])
    return shot


async def import_result(theme: Theme) -> Shot:
    shot = await import_sheet(theme)
    assert shot.desk is not None
    panel = shot.desk.window.context.sheets.panel
    assert isinstance(panel, ImportSheet)
    panel.table.switched.emit(PLAN.candidates[2], False)
    panel.begin()
    panel.show_outcome(IMPORTED)
    return shot


async def discover(theme: Theme, size: tuple[int, int] | None = None, words: str = "", hits: int = 0) -> Shot:
    result = await found_desk(theme)
    if hits:
        result.engine.registry_hits = many_hits(hits)
    result.window.go(Servers("discover"))
    tab = result.discover
    await until(lambda: tab.offers.offers)
    if words:
        tab.field.setText(words)
        await until(lambda: any(offer.key.startswith("hit:") for offer in tab.offers.offers))
    return Shot(result, size=size)


async def discover_small(theme: Theme) -> Shot:
    return await discover(theme, SMALL)


async def discover_found(theme: Theme) -> Shot:
    return await discover(theme, words="files")


async def discover_many(theme: Theme) -> Shot:
    return await discover(theme, SMALL, words="server", hits=100)


async def discover_nothing(theme: Theme) -> Shot:
    result = await found_desk(theme)
    result.engine.registry_hits = []
    status = RegistryStatus(20_123, STATUS.updated_at - 9 * 86_400, problem=Problem("The registry cannot be reached", "no network", ""))
    result.engine.registry_status = status
    result.window.go(Servers("discover"))
    tab = result.discover
    await until(lambda: tab.offers.offers)
    tab.field.setText("zzz")
    await until(lambda: not tab.offers.isVisible())
    return Shot(result)


async def discover_away(theme: Theme) -> Shot:
    """The registry was never downloaded, and cannot be reached: well-known servers are searched."""
    result = await found_desk(theme)
    result.engine.registry_hits = []
    result.engine.registry_status = RegistryStatus(problem=Problem("The registry cannot be reached", "no network", "Retrying in an hour"))
    result.window.go(Servers("discover"))
    tab = result.discover
    await until(lambda: tab.offers.offers)
    tab.field.setText("files")
    await until(lambda: len(tab.offers.offers) == 2)
    return Shot(result, size=SMALL)


async def registry_server(theme: Theme, size: tuple[int, int] | None = None, *, is_filled: bool = True) -> Shot:
    shot = await discover(theme, size, "files")
    assert shot.desk is not None
    desk = shot.desk
    desk.discover.offers.chosen.emit("hit:io.github.ada/files")
    await until(lambda: isinstance(desk.window.context.sheets.panel, RegistrySheet))
    panel = desk.window.context.sheets.panel
    assert isinstance(panel, OfferSheet)
    assert panel.form is not None
    if is_filled:
        panel.form.rows[0].control.setText("not-a-real-token")  # type: ignore[attr-defined]
        await until(lambda: any(call[0] == "preview_registry_server" for call in desk.engine.calls))
    else:
        panel.form.check()
    return shot


async def registry_small(theme: Theme) -> Shot:
    return await registry_server(theme, SMALL, is_filled=False)


async def starter(theme: Theme) -> Shot:
    shot = await discover(theme)
    assert shot.desk is not None
    desk = shot.desk
    desk.discover.offers.chosen.emit("starter:filesystem")
    await until(lambda: isinstance(desk.window.context.sheets.panel, StarterSheet))
    return shot


async def bundle(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    result = await found_desk(theme)
    result.window.go(OpenBundle(BUNDLE.source))
    await until(lambda: isinstance(result.window.context.sheets.panel, BundleSheet))
    return Shot(result, size=size)


async def bundle_small(theme: Theme) -> Shot:
    return await bundle(theme, SMALL)


async def add_other_ways(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    result = await found_desk(theme)
    result.page.add()
    await until(lambda: not len(result.tasks))
    return Shot(result, size=size)


async def add_other_ways_small(theme: Theme) -> Shot:
    return await add_other_ways(theme, SMALL)


async def add_inside(theme: Theme) -> Shot:
    shot = await add_other_ways(theme)
    assert shot.desk is not None
    desk = shot.desk
    control(desk.window.context.sheets.panel, tr("Add {name}", name=INSIDE.name)).click()
    assert isinstance(desk.window.context.sheets.panel, InMemorySheet)
    await until(lambda: not desk.window.context.sheets.panel._wait.isActive() and not len(desk.tasks))  # type: ignore[union-attr]
    return shot


async def add_link(theme: Theme) -> Shot:
    result = await found_desk(theme)
    config = "eyJjb21tYW5kIjoibnB4IiwiYXJncyI6WyIteSIsIkBhZGEvZmlsZXMiXSwiZW52Ijp7IkFQSV9UT0tFTiI6IiJ9fQ=="
    result.window.open_link(f"tooltray://install?name=files&config={config}")
    return Shot(result)


async def add_to(theme: Theme) -> Shot:
    result = await found_desk(theme)
    result.wishes.link_requested.emit("filesystem")
    await until(lambda: not len(result.tasks))
    return Shot(result)


async def first_start(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    result = await found_desk(theme, servers=())
    await until(lambda: result.window.context.scans.scan is not None)
    return Shot(result, size=size)


async def first_start_small(theme: Theme) -> Shot:
    return await first_start(theme, SMALL)


async def first_start_no_clients(theme: Theme) -> Shot:
    result = await found_desk(theme, servers=())
    result.page._empty.show_scan(replace(result.window.context.scans.scan or SCAN, servers=0))
    return Shot(result)


async def first_steps(theme: Theme, size: tuple[int, int] | None = None) -> Shot:
    """The first server runs; no client yet."""
    result = await found_desk(theme, servers=())
    result.engine.snapshot = replace(result.engine.snapshot, session_count=0)
    result.engine.tell(server("time", tool_count=2, target="uvx mcp-server-time"))
    await until(lambda: result.page.server_list.cards)
    return Shot(result, size=size)


async def first_steps_connected(theme: Theme) -> Shot:
    result = await found_desk(theme, servers=())
    result.engine.tell(server("time", tool_count=2, target="uvx mcp-server-time"))
    await until(lambda: result.page.server_list.cards)
    result.page.steps.show_found("claude-code", False)
    return Shot(result, size=(900, 600))


SCENES = (
    first_start_no_clients,
    first_steps,
    first_steps_connected,
    connect_sheet,
    connect_small,
    connect_result,
    import_sheet,
    import_small,
    import_many,
    import_none,
    import_result,
    discover,
    discover_small,
    discover_found,
    discover_many,
    discover_nothing,
    discover_away,
    registry_server,
    registry_small,
    starter,
    bundle,
    bundle_small,
    add_other_ways,
    add_other_ways_small,
    add_inside,
    add_link,
    add_to,
    first_start,
    first_start_small,
)
