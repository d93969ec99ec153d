"""From nothing to a first call: the ways to a first server, and three steps that tick themselves, above the servers of a new user. Once
completed or dismissed, the steps never come back."""

from collections.abc import Sequence
from functools import partial

import msgspec
from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QFrame, QScrollArea, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import SessionListChanged, ToolCallResult
from tooltray.foundation.snapshots.activity import ActivityFilter
from tooltray.foundation.snapshots.ai_clients import ClientScan
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.ui.client_names import PERSON, shown_client
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import AddServer, ConnectClients, Destination, ImportServers, Servers, TryTool, WellKnownServer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.scan_words import here, names_in_a_row, scan_text, scan_title
from tooltray.ui.kit.view import View
from tooltray.ui.problem_words import in_a_row
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.empty_state import WIDTH, Beginning
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import Label, breakable
from tooltray.ui.widgets.surface import Surface, add_gap, column, fill, row
from tooltray.ui.zoom import px

SETTING = "firstSteps"  # of `window`: whether they go on
ROOM_OF_NEXT = 2  # shares of the width for the step that is the next one; others have one
ANSWERED = ("ok", "error")  # outcomes of calls that reached their server
ANSWERING = (ServerState.RUNNING, ServerState.ON_DEMAND)


class FirstSteps(msgspec.Struct, frozen=True):
    """The progress of a new user.

    Attributes:
        server: one that answers; empty: none yet.
        client: an AI client that is, or was, connected; empty: none yet.
        has_called: a client has called a tool.
    """

    server: str = ""
    client: str = ""
    has_called: bool = False

    @property
    def are_done(self) -> bool:
        return bool(self.server and self.client and self.has_called)


def answering(servers: Sequence[ServerSnapshot]) -> str:
    """Returns one of the user's own servers that takes calls; empty without one."""
    return next((server.name for server in servers if not server.is_builtin and server.state in ANSWERING), "")


def to_say(server: str) -> str:
    """Returns a prompt for an AI client that would use a server; empty for an unknown server."""
    words = {
        "time": tr("What time is it in Tokyo?"),
        "fetch": tr("Read https://modelcontextprotocol.io and tell me what it is about."),
        "filesystem": tr("Which files are in the folder that you may read?"),
        "memory": tr("Remember that my favourite colour is green."),
        "duckduckgo": tr("Search the web for news about MCP."),
        "wikipedia": tr("What does Wikipedia say about Taipei?"),
    }
    return words.get(server, "")


class StepView(QWidget):
    """A view of one step: its number or a tick, what to do, and a button where it is the next one; all of that one is the button."""

    def __init__(self, theme: Theme, number: int) -> None:
        super().__init__()
        self._number = number
        self._mark = Icon(theme, "state-off", 16, "neutral", "surface")
        mark = fill(column(margins=(0, 2, 0, 0)), self._mark, 1)  # in the middle of the title's line
        self._title = Label(theme, "", "strong")
        self._text = Label(theme, "", "caption", "muted", wrap=True)
        self.button = Button(theme, "", small=True)
        fill(row(self, spacing=10), mark, (fill(column(spacing=2), self._title, self._text, 1), 1), self.button)

    def show_step(self, title: str, text: str, *, is_done: bool, button: str = "") -> None:
        self._mark.set_icon("state-connected" if is_done else "state-off", "success" if is_done else "accent" if button else "neutral")
        self._title.setText(title)
        self._text.setText(breakable(text))
        self.button.setText(button)
        self.button.setVisible(bool(button))
        self.setCursor(Qt.CursorShape.PointingHandCursor if button else Qt.CursorShape.ArrowCursor)
        self.setAccessibleName(tr("Step {number}, done: {what}", number=self._number, what=title) if is_done else title)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()  # else a release is none of this step's

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Presses the button of the step, wherever in it the pointer is."""
        is_inside = self.rect().contains(event.position().toPoint())
        if event.button() is Qt.MouseButton.LeftButton and is_inside and self.button.isVisible():
            self.button.click()


class FirstStepsStrip(QWidget, View):
    """A strip with the steps; hidden unless the user has begun and not completed them. `read` requests the progress of the user."""

    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self.context, theme = context, context.theme
        self.steps, self._is_wanted, self._is_empty = FirstSteps(), False, False
        box = Surface(theme)
        self._views = [StepView(theme, number) for number in (1, 2, 3)]
        self._line = fill(row(box, margins=(16, 12, 8, 12), spacing=16), *((view, 1) for view in self._views))
        close = IconButton(theme, "x", tr("Put the first steps away"), small=True, on_click=self._on_close)
        self._line.addWidget(close, 0, Qt.AlignmentFlag.AlignTop)
        column(self, margins=(24, 12, 24, 0)).addWidget(box)
        self._views[1].button.clicked.connect(partial(context.go, ConnectClients()))
        self._views[2].button.clicked.connect(lambda: self.run(self._try_tool(self.steps.server)))
        self.read = self.reading(self._read)
        context.hub.snapshot_changed.connect(self._on_hub_changed)
        context.hub.on(ToolCallResult, self._on_called, self)
        context.hub.on_any((SessionListChanged,), self._on_sessions, self)
        self._draw()

    def set_empty(self, is_empty: bool) -> None:
        """Begins the steps while no server exists; they stay after the first one is added."""
        if is_empty == self._is_empty:
            return
        self._is_empty = is_empty
        if not is_empty and not self.steps.are_done:
            self._is_wanted = True
            self._keep(True)
        self._draw()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows nothing: the steps stay as they are."""

    async def _read(self) -> None:
        """Reads the progress if the steps are wanted, or if the user has just begun."""
        window = (await self.hub.settings.get_settings()).settings.get("window")
        self._is_wanted = self._is_wanted or (isinstance(window, dict) and window.get(SETTING) is True)
        self._draw()
        if not (self._is_wanted or self._is_empty):
            return
        sessions = await self.hub.views.get_sessions()
        before = tuple(client for client in (await self.hub.activity.get_activity_choices()).clients if client != PERSON)
        wanted = ActivityFilter(kinds=("call",), outcomes=ANSWERED, clients=before)
        calls = await self.hub.activity.get_activity(wanted, limit=1) if before else []
        names = [session.client for session in sessions if session.is_connected and session.client] or before
        self.show_found(shown_client(names[0]) if names else "", bool(calls))

    def show_found(self, client: str, has_called: bool) -> None:
        """Shows a client that was connected at some time, and whether a client has called a tool.

        Args:
            client: its name; empty: the one before stays.
        """
        self._take(replace(self.steps, client=client or self.steps.client, has_called=self.steps.has_called or has_called))

    def _keep(self, are_wanted: bool) -> None:
        """Saves whether the steps are shown."""
        self.run(self.hub.settings.change_settings({"window": {SETTING: are_wanted or None}}))

    def _on_hub_changed(self) -> None:
        if (snapshot := self.context.hub.snapshot) is not None:
            client = self.steps.client or (tr("An AI client") if snapshot.session_count else "")
            self._take(replace(self.steps, server=answering(snapshot.servers), client=client))

    def _on_called(self, event: ToolCallResult) -> None:
        """Takes the call from its event: the journal has it only later. The user's own tries do not count."""
        call = event.response
        if self._is_wanted and call.client != PERSON and call.outcome in ANSWERED:
            self.show_found(self.steps.client or tr("An AI client"), True)

    def _on_sessions(self) -> None:
        if self._is_wanted:
            self.read()

    def _take(self, steps: FirstSteps) -> None:
        if steps == self.steps:
            return
        self.steps = steps
        if self._is_wanted and steps.are_done:
            self._is_wanted = False
            self._keep(False)
            self.context.say(tr("All set: your AI clients use your servers."))
        self._draw()

    def _draw(self) -> None:
        steps = self.steps
        self.setVisible(self._is_wanted or self._is_empty)
        first, second, third = self._views
        first.show_step(tr("Add a server"), steps.server or tr("With one click, below"), is_done=bool(steps.server))
        connect = tr("Connect…") if not (self._is_empty or steps.client) else ""
        second.show_step(
            tr("Connect an AI client"), steps.client or tr("Claude Code, Cursor, …"), is_done=bool(steps.client), button=connect
        )
        say = to_say(steps.server)
        text = tr("Ask it: {words}", words=say) if say else tr("Ask it for something that needs a tool")
        trying = tr("Try a tool") if steps.server and steps.client and not steps.has_called else ""
        third.show_step(tr("Make the first call"), text, is_done=steps.has_called, button=trying)
        for index, button in enumerate(("", connect, trying)):
            self._line.setStretch(index, ROOM_OF_NEXT if button else 1)

    async def _try_tool(self, server: str) -> None:
        """Opens a tool that the user could try, rather one that reads."""
        tools = [tool for tool in await self.hub.tools.get_tools(server=server) if tool.is_enabled]
        reading = [tool for tool in tools if tool.category == "read"]
        self.context.go(TryTool(next((tool.name for tool in (*reading, *tools)), "")))

    def _on_close(self) -> None:
        self._is_wanted = self._is_empty = False
        self._keep(False)
        self._draw()


class FirstStart(QWidget, View):
    """The ways to the first server: import servers from AI clients, add a well-known one, paste something, or search."""

    def __init__(self, context: PageContext) -> None:
        super().__init__()
        self.context, self._theme = context, context.theme
        area, content = QScrollArea(), QWidget()  # scrolls only in a window that is low at its zoom
        area.setFrameShape(QFrame.Shape.NoFrame)
        area.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        area.setWidgetResizable(True)
        area.setWidget(content)
        column(self).addWidget(area)
        outer = fill(row(content), 1)
        inner = self._inner = column(spacing=8)
        inner.addStretch(2)
        self._say(tr("Add your first server"), "title", "primary")
        self._found = self._say(tr("Every AI client that you connect can use it right away."), "body", "secondary")
        add_gap(inner, 12)
        preview = tr("With their keys, after a preview, and with Undo")
        self._move = self._way("download", tr("Import servers from your AI clients"), preview, ImportServers())
        add_gap(inner, 4)
        self._say(tr("Begin with one of these. They need no account."), "caption", "muted")
        self._add_starters()
        add_gap(inner, 4)
        readme = tr("From any README: npx, uvx, an address or a config")
        self._way("terminal", tr("Paste a command, a URL or a JSON block"), readme, AddServer())
        self._way("search", tr("Find a server"), tr("Well-known ones, and the official registry"), Servers("discover"))
        inner.addStretch(3)
        fill(outer, inner, 1)

    def show_scan(self, scan: ClientScan) -> None:
        """Shows which servers the AI clients on this computer have; offers no import where they have none that is not in Tooltray."""
        clients = here(scan)
        if not clients:
            return
        self._found.setText(in_a_row(scan_title(scan), scan_text(scan)))
        self._move.setVisible(bool(scan.new_servers))
        owners = [client.name for client in clients if any(file.servers for file in client.files)]
        if owners:
            self._move.set_title(tr("Import servers from {clients}", clients=names_in_a_row(owners)))

    def enable(self, is_usable: bool) -> None:
        """Enables or disables the buttons: without a hub nothing can be added."""
        for button in self.findChildren(Button):
            button.setEnabled(is_usable)

    def _say(self, text: str, style: str, tone: str) -> Label:
        label = Label(self._theme, text, style, tone, wrap=True)
        label.setAlignment(Qt.AlignmentFlag.AlignHCenter)
        label.setFixedWidth(px(WIDTH))
        self._inner.addWidget(label)
        return label

    def _way(self, icon: str, title: str, text: str, destination: Destination) -> Beginning:
        way = Beginning(self._theme, icon, title, text)
        way.clicked.connect(partial(self.context.go, destination))
        self._inner.addWidget(way)
        return way

    def _add_starters(self) -> None:
        """Adds buttons for well-known servers that ask for no account; the last one asks for a folder."""
        names = {
            "time": tr("Time"),
            "fetch": tr("Web pages"),
            "memory": tr("Memory"),
            "duckduckgo": tr("Web search"),
            "filesystem": tr("Files…"),
        }
        line = fill(row(spacing=6), 1)
        for id, name in names.items():
            button = Button(self._theme, name, small=True, on_click=partial(self._on_starter, id))
            button.setAccessibleName(tr("Add {name}", name=name.rstrip("…")))
            line.addWidget(button)
        line.addStretch(1)
        self._inner.addLayout(line)

    def _on_starter(self, id: str) -> None:
        self.run(self._add_starter(id))

    async def _add_starter(self, id: str) -> None:
        """Adds a well-known server under its own name, or opens its sheet if it needs input."""
        starters = await self.hub.discovery.get_starter_servers()
        starter = next((each for each in starters if each.id == id), None)
        if starter is None or any(field.is_required for field in starter.fields):
            self.context.go(WellKnownServer(id))
        else:
            name = await self.hub.discovery.add_starter_server(id, {}, "")
            self.context.say(tr("{name} is added", name=name))
