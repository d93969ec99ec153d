"""The sources of the palette's entries: a line in SOURCES for each subject. Entries act by the requests and links of the pages. Templates
are translated once for all entries of a kind: there may be 5,000 tools."""

import time
from collections.abc import Callable, Iterator
from datetime import datetime
from functools import partial

from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.ui.figures import moment
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit import destinations as to
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.server_actions import ACTIONS, BY_NAME, IN_PALETTE, can
from tooltray.ui.server_words import sign
from tooltray.ui.servers.many_servers import START, STOP
from tooltray.ui.service_words import service
from tooltray.ui.shell.hub_status import HOUR_S, PAUSES
from tooltray.ui.shell.palette import PaletteContext, PaletteEntry, Run
from tooltray.ui.state_language import needs_person, server_look

SERVER, ACTION, PAGE, SETTING, TOOL = 12, 6, 8, 5, 0  # ranks: of two that fit alike
AFTER_OTHERS = ("stop", "share", "copy", "remove")  # of what can be done with a server: where only its name is typed, Enter must not end it
HERE = "\0"  # where the name of a tool comes, which is much faster than translating for each; no text of ours has it
LONGEST = 80  # characters of a title or a detail; names may have 300


def _needs(context: PaletteContext) -> Iterator[PaletteEntry]:
    """Yields the servers that need the user now."""
    for server in context.page.servers.servers:
        if not needs_person(server) and not server.waiting:
            continue
        word = server_look(server).word
        title = tr("{name} wants you to sign in", name=server.name)
        if server.waiting:
            title, word = tr("Look at what waits for {name}", name=server.name), tr("Waiting")
        elif server.state is ServerState.ERROR:
            title = tr("Why does {name} not run?", name=server.name)
        remedy = BY_NAME[next((name for name in ("trust", "sign in") if can(name, server)), "why")]
        run = partial(remedy.wish, context.page.wishes, server)
        yield PaletteEntry(f"needs:{server.name}", short(title), run, "alert", word, rank=SERVER, is_now=True)


def _servers(context: PaletteContext) -> Iterator[PaletteEntry]:
    for server in context.page.servers.servers:
        icon, _ = sign(server)
        key, show = f"server:{server.name}", context.link(to.OpenServer(server.name))
        detail, also = short(f"{server_look(server).word} · {service(server)}"), f"{server.name} server {server.description[:LONGEST]}"
        yield PaletteEntry(key, short(server.name), show, icon or "server", tr("Server"), detail, also, SERVER)
        yield from _of_server(context, server)


def _of_server(context: PaletteContext, server: ServerSnapshot) -> Iterator[PaletteEntry]:
    """Yields the actions for one server in its state."""
    for action in ACTIONS:
        if action.name in IN_PALETTE and action.fits(server):
            of, also = IN_PALETTE[action.name]
            title = short(say(of.filled(name=server.name)))
            rank, words = ACTION - 5 * (action.name in AFTER_OTHERS), f"{action.name} {also} {server.name}"
            run = partial(action.wish, context.page.wishes, server)
            key = f"{action.name}:{server.name}"
            yield PaletteEntry(key, title, run, action.icon, tr("Action"), also=words, rank=rank, is_change=True)


def tools(context: PaletteContext) -> Iterator[PaletteEntry]:
    """Yields for each tool: show, try, allow for an hour, switch on or off. There may be thousands; they are made a few at a time, and kept
    while the tools are the same.
    """
    wishes = context.page.wishes
    allow, attempt = tr("Allow {tool} for an hour", tool=HERE), tr("Try {tool}", tool=HERE)
    switch_on, switch_off = tr("Switch {tool} on", tool=HERE), tr("Switch {tool} off", tool=HERE)
    kind, action = tr("Tool"), tr("Action")
    for tool in context.tools:
        name, key = short(tool.original_name), f"{tool.server}/{tool.original_name}"
        where = short(tool.server)
        show = context.link(to.OpenTool(tool.name))
        words = f"{tool.name} {tool.description[:LONGEST]}"
        yield PaletteEntry(f"tool:{key}", name, show, "tools", kind, where, words, TOOL)
        run = context.link(to.TryTool(tool.name))
        yield PaletteEntry(f"try:{key}", attempt.replace(HERE, name), run, "play", action, where, f"try call test {tool.name}", TOOL - 2)
        if not tool.is_approved and not tool.is_held and tool.is_enabled:
            run = partial(_allow_for_an_hour, context.page, tool)
            also = "allow approve permit grant for an hour"
            yield PaletteEntry(f"allow:{key}", allow.replace(HERE, name), run, "shield", action, where, also, TOOL - 3, is_change=True)
        switch = partial(wishes.tool_switch_requested.emit, tool.server, tool.original_name, not tool.is_enabled)
        title, also = (switch_off, "disable tool off") if tool.is_enabled else (switch_on, "enable tool on")
        title = title.replace(HERE, name)
        yield PaletteEntry(f"switch:{key}", title, switch, "power", action, where, f"{also} {tool.name}", TOOL - 4, is_change=True)


def _clients(context: PaletteContext) -> Iterator[PaletteEntry]:
    for client in context.clients:
        if client.client not in ("", "*") and client.is_seen:
            title, also = short(client.title or client.client), f"{client.client} client agent"
            run = context.link(to.OpenClient(client.client))
            yield PaletteEntry(f"client:{client.client}", title, run, "plug", tr("AI client"), "", also, SERVER - 1)


def _pages(context: PaletteContext) -> Iterator[PaletteEntry]:
    for number, page in enumerate(context.pages, 1):
        name, keys = page.place.page, f"Ctrl+{number}"
        also = f"{name} page open show"
        yield PaletteEntry(f"page:{name}", page.title(), context.link(page.place), page.icon, tr("Page"), keys, also, PAGE)
    tabs: tuple[tuple[to.Servers | to.Activity, str, str, str], ...] = (
        (to.Servers("discover"), tr("Discover servers"), "search", "find registry new install"),
        (to.Servers("all_tools"), tr("All tools"), "tools", "tools page open show"),
        (to.Servers("projects"), tr("Projects and their files"), "folder", "mcp.json hot reload trust folders files with servers"),
        (to.Activity("approvals"), tr("Approvals"), "shield", "waiting revoke grants history audit"),
    )
    for place, title, icon, also in tabs:
        yield PaletteEntry(f"page:{place.tab}", title, context.link(place), icon, tr("Page"), "", also, PAGE)


def _settings(context: PaletteContext) -> Iterator[PaletteEntry]:
    lines = (
        (to.Settings("general"), tr("Language"), "language translation 中文 english"),
        (to.Settings("general"), tr("Theme"), "dark light appearance colours"),
        (to.Settings("general"), tr("Zoom"), "zoom text size font bigger larger smaller scale"),
        (to.Settings("general"), tr("Start when you log in"), "autostart login boot"),
        (to.Settings("general"), tr("Notifications"), "notify alerts messages"),
        (to.Settings("general"), tr("New servers"), "default access careful trusted free sandbox ask first approval"),
        (to.Settings("secrets"), tr("Secrets"), "keys tokens passwords keyring unlock passphrase"),
        (to.Settings("network"), tr("HTTP access and tokens"), "http port rest api token scope clients url"),
        (to.Settings("network"), tr("npm registries"), "npm mirror packages proxy"),
        (to.Settings("backup"), tr("Backup: export and import"), "set-up export import reset starter"),
        (to.Settings("about"), tr("About Tooltray"), "version licences update diagnostics"),
    )
    for place, title, also in lines:
        icon = {"secrets": "key", "network": "globe", "backup": "download", "about": "info"}.get(place.tab, "settings")
        key = f"setting:{place.tab}:{also.partition(' ')[0]}"
        yield PaletteEntry(key, title, context.link(place), icon, tr("Settings"), "", also, SETTING)


def _actions(context: PaletteContext) -> Iterator[PaletteEntry]:
    page = context.page

    def entry(key: str, title: str, run: Run, icon: str, also: str) -> PaletteEntry:
        return PaletteEntry(f"do:{key}", title, run, icon, tr("Action"), also=also, rank=ACTION + 1, is_change=True)

    yield entry("add", tr("Add server"), context.link(to.AddServer()), "plus", "new install paste")
    yield entry("import", tr("Import servers from your AI clients"), context.link(to.ImportServers()), "download", "import bring migrate")
    yield entry("connect", tr("Connect your AI clients"), context.link(to.ConnectClients()), "plug", "install claude cursor code")
    yield entry("entry", tr("Copy entry for a client"), page.links.entry_copy_requested.emit, "copy", "json config bridge clipboard")
    yield entry("diagnostics", tr("Copy diagnostics"), lambda: page.run(_copy_diagnostics(page)), "log", "bug report support")
    yield entry("hublog", tr("Log of Tooltray"), context.link(to.TooltrayLog()), "log", "hub logs")
    yield from _pausing(context, entry)
    if page.notices.has_secrets_problem:
        yield entry("unlock", tr("Unlock your secrets"), page.wishes.unlock_requested.emit, "key", "unlock passphrase keyring file")
    if page.notices.open_servers:
        yield entry("ask first", tr("Let servers ask first"), page.notices.ask_first_requested.emit, "shield", "ask first careful approval")
    yield entry("quit", tr("Quit Tooltray"), page.links.quit_requested.emit, "power", "quit exit end close stop")
    for what, icon, title in ((STOP, "stop", tr("Stop all servers")), (START, "play", tr("Start all servers"))):
        names = [server.name for server in page.servers.servers if can(what, server)]
        if names:
            yield entry(f"{what} all", title, partial(page.wishes.many_requested.emit, what, names), icon, f"{what} all everything")
    modes = (("light", tr("Light theme"), "theme light"), ("dark", tr("Dark theme"), "theme dark"))
    for mode, title, also in (*modes, (None, tr("Theme of the system"), "theme system automatic")):
        yield entry(also, title, partial(_change, page, {"window": {"theme": mode}}), "image", f"{also} appearance")
    zooms = (
        (1, tr("Zoom in"), "bigger larger"),
        (-1, tr("Zoom out"), "smaller"),
        (0, tr("Actual size"), "zoom bigger smaller reset 100 %"),
    )
    for steps, title, also in zooms:
        run = partial(page.theme.zoom_requested.emit, steps)
        yield entry(f"zoom {steps}", title, run, "search", f"{also} zoom text size font scale")


def _change(page: PageContext, settings: dict[str, object]) -> None:
    """Changes settings; a member that is None is removed."""
    page.run(page.hub.settings.change_settings(settings, ""))


async def _copy_diagnostics(page: PageContext) -> None:
    """Copies the information for a bug report to the clipboard, without secrets."""
    page.copy(await page.hub.program.get_diagnostics(), tr("The diagnostics are copied"))


def _allow_for_an_hour(page: PageContext, tool: ToolSnapshot) -> None:
    """Allows a tool's calls without asking for an hour; Undo revokes that."""

    async def allow() -> None:
        grant = await page.hub.approvals.add_grant(tool.server, "tool", tool.original_name, "", HOUR_S)
        end = moment(grant.expires_at or time.time() + HOUR_S, datetime.now())
        page.offer_undo(tr("{tool} runs without asking until {time}", tool=tool.original_name, time=end), partial(revoke, grant.id))

    async def revoke(grant: str) -> None:
        await page.hub.approvals.remove_grant(grant)
        page.say(tr("Revoked"))

    page.run(allow())


def _pausing(context: PaletteContext, entry: Callable[[str, str, Run, str, str], PaletteEntry]) -> Iterator[PaletteEntry]:
    page, snapshot = context.page, context.page.hub.snapshot

    def enable(is_enabled: bool, duration: Callable[[], float | None] = lambda: None) -> None:
        page.run(page.hub.hub.set_mcp_enabled(is_enabled, duration()))

    if snapshot is not None and snapshot.is_paused:
        yield entry("resume", tr("Resume all servers"), partial(enable, True), "play", "resume continue go on pause")
        return
    names = (("pause hour", ""), ("pause tomorrow", " night"), ("pause", " servers"))
    for (title, duration), (key, also) in zip(PAUSES, names, strict=True):
        yield entry(key, say(title), partial(enable, False, duration), "pause", f"pause stop all mute{also}")


def _clipboard(context: PaletteContext) -> Iterator[PaletteEntry]:
    """Yields an entry that adds the server in the clipboard, such as one copied from a README."""
    for name in context.pasted[:1]:
        title = tr("Add {name} from the clipboard", name=short(name))
        add = context.link(to.AddServer(context.pasted_text))
        yield PaletteEntry("do:paste", title, add, "plus", tr("Action"), "", "paste clipboard add server", ACTION + 2, True)


SHORT_SOURCES = (_needs, _clipboard, _servers, _pages, _actions, _clients, _settings)
"""What is made each time that the palette opens, in the order in which entries stand where they fit alike; tools come after them."""


def short(text: str) -> str:
    """Shortens a text to fit into a line, as names may have 300 characters; replaces characters that cannot be printed, since some reverse
    the direction of the line.
    """
    shown = "".join(sign if sign.isprintable() else " " for sign in text[: 4 * LONGEST])
    return shown if len(shown) <= LONGEST else f"{shown[: LONGEST // 2]}…{shown[-LONGEST // 2 :]}"
