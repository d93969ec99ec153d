"""The tab of settings about Tooltray itself: version and kind, newer versions, the places of its files, the information for a bug report,
the keys. A text is shown before it is copied."""

from datetime import datetime

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.hub import ProgramLoad, ProgramSnapshot, ReleaseNews
from tooltray.ui.figures import moment, number
from tooltray.ui.i18n import many, say, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import Section
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.problem_words import whole
from tooltray.ui.settings.settings_tab import SECTION_GAP, SettingsTab
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, IconButton, Switch
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.setting_rows import group, setting_row
from tooltray.ui.widgets.surface import clear, column, fill
from tooltray.ui.zoom import px

WIDTH = 760
LINES = 22  # of a text that are seen at once
MEGABYTE = 1_000_000


class TextSheet(SheetView):
    """A sheet with a text that can be copied.

    Args:
        about: what the text is.
    """

    def __init__(self, context: PageContext, name: str, about: str, text: str) -> None:
        super().__init__(context, name, WIDTH)
        self.body.addWidget(Label(context.theme, about, "body", "secondary", wrap=True))
        self.body.addWidget(CodeView(context.theme, text, name, lines=min(LINES, text.count("\n") + 1)))
        self.add_button(tr("Close"), self.leave)
        self.add_button(tr("Copy"), lambda: context.copy(text, tr("Copied")), "primary", "copy")


def _shortcuts() -> tuple[tuple[str, str], ...]:
    """Returns the keys with what each does."""
    return (
        ("Ctrl+K", tr("Search or run a command")),
        ("Ctrl+F", tr("Search on the page")),
        ("Ctrl+N", tr("Add a server")),
        ("Ctrl+V", tr("On the page of servers: add what is on the clipboard")),
        ("Ctrl+1, Ctrl+2 …", tr("Go to a page")),
        ("← →", tr("From tab to tab, from card to card")),
        ("Ctrl+Enter", tr("Do what the sheet is for")),
        ("Esc", tr("Close what lies on top, or empty the search")),
        ("Ctrl++, Ctrl+-", tr("Zoom in, zoom out")),
        ("Ctrl+0", tr("Actual size")),
        ("Ctrl+W", tr("Close the window")),
        ("Ctrl+Q", tr("Quit Tooltray")),
    )


class ReleaseSection(Section):
    """Hidden while the settings have no list of releases."""

    def __init__(self, context: PageContext) -> None:
        theme = context.theme
        self._status = ElidedLabel(theme, "", "caption", "muted")
        self._check = Button(theme, tr("Check now"), icon="refresh", small=True)
        super().__init__(context, tr("New versions"), self._status, self._check)
        self._check.clicked.connect(lambda: self.run(self.hub.releases.check_for_release(), button=self._check))
        self._news, self._version = ReleaseNews(), ""
        self._found, name = column(spacing=10), tr("Check once a day")
        self._switch = Switch(theme, name)
        self._switch.clicked.connect(lambda is_on: self.run(choose_updates(context, is_on), button=self._switch))
        daily = setting_row(theme, name, tr("Reads a public list, without your version or any ID."), self._switch)
        fill(self.body, self._found, group(theme, daily))
        self.hide()
        context.hub.snapshot_changed.connect(self._draw)
        self._draw()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure, and the switch as it is; None removes the failure."""
        super().show_problem(problem)
        if problem is not None:
            self._switch.set_on(self._news.check is True)

    def _draw(self) -> None:
        snapshot = self.hub.snapshot
        if snapshot is None or (snapshot.release, snapshot.version) == (self._news, self._version):
            return
        news, self._news, self._version = snapshot.release, snapshot.release, snapshot.version
        self.setVisible(bool(news.address))
        self._switch.set_on(news.check is True)
        self._status.set_text(_status_words(news))
        clear(self._found)
        if news.withdrawn:
            title = tr("Tooltray {version} was withdrawn. You are using it.", version=snapshot.version)
            self._found.addWidget(Banner(self._theme, "warning", title, news.withdrawn))
        if news.version:
            self._found.addWidget(self._newer(news))

    def _newer(self, news: ReleaseNews) -> Banner:
        buttons = []
        if news.download:
            download = Button(self._theme, tr("Download"), icon="external", small=True)
            download.clicked.connect(lambda: QDesktopServices.openUrl(QUrl(news.download)))
            buttons.append(download)
        if news.command:
            copy = Button(self._theme, tr("Copy command"), icon="copy", small=True)
            copy.clicked.connect(lambda: self.context.copy(news.command, tr("The command is copied")))
            buttons.append(copy)
        text = "\n".join((*(f"• {change}" for change in news.changes), say(news.update)))
        return Banner(self._theme, "info", tr("Tooltray {version} is available", version=news.version), text, *buttons)


async def choose_updates(context: PageContext, is_wanted: bool) -> None:
    """Switches the daily check for new versions on, and checks at once; or switches it off."""
    await context.hub.settings.change_settings({"updates": {"check": is_wanted}})
    if is_wanted:
        await context.hub.releases.check_for_release()


def _status_words(news: ReleaseNews) -> str:
    if news.problem is not None:
        return whole(news.problem)
    if not news.checked_at:
        return tr("Not checked yet")
    when = moment(news.checked_at, datetime.now())
    return tr("Checked {when}", when=when) if news.version else tr("No newer version. Checked {when}", when=when)


class AboutTab(SettingsTab):
    def __init__(self, context: PageContext) -> None:
        super().__init__(context, tr("About"))
        theme = context.theme
        self._program = ProgramSnapshot("", "", "", "", False)
        self._paths: dict[str, ElidedLabel] = {}
        self._add_program()
        self._add_places()
        self._add_diagnostics()
        self.add_group(tr("Keyboard"), *(setting_row(theme, what, "", Chip(theme, keys)) for keys, what in _shortcuts()))
        self.body.addStretch(1)
        self._look = self.reading(self._read)
        self.look_requested.connect(self._look)

    def enable(self, is_usable: bool) -> None:
        for widget in (self._about, self._releases, self._files, self._reports):
            widget.setEnabled(is_usable)

    async def _read(self) -> None:
        program = self._program = await self.hub.program.get_program()
        self._version.setText(f"{program.version}, {say(program.kind_name)}")
        self._update.set_text(say(program.update))
        for member, path in self._paths.items():
            path.set_text(getattr(program, member))
        self._show_load(await self.hub.program.get_load())  # the share of the processor is known from the second measurement on

    def _show_load(self, load: ProgramLoad) -> None:
        own, servers = number(load.memory_bytes / MEGABYTE), number(load.server_memory_bytes / MEGABYTE)
        share = number(load.cpu_share * 100)
        self._load.setText(tr("{megabytes} MB of memory, {percent} % of a processor", megabytes=own, percent=share))
        words = many(load.running_servers, "{megabytes} MB, 1 server", "{megabytes} MB, {count} servers", megabytes=servers)
        self._servers_load.setText(words)

    def _add_program(self) -> None:
        theme = self._theme
        self._version = Label(theme, "", "caption", "secondary")
        self._update = ElidedLabel(theme, "", "caption", "secondary", mode=Qt.TextElideMode.ElideMiddle)
        self._update.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._load = Label(theme, "", "caption", "secondary", tabular=True)
        self._servers_load = Label(theme, "", "caption", "secondary", tabular=True)
        licences = Button(theme, tr("Show licences"), small=True)
        licences.clicked.connect(lambda: self.run(self._show_licences(), button=licences))
        self._about = self.add_group(
            "Tooltray",
            setting_row(theme, tr("Version"), "", self._version),
            setting_row(theme, tr("Updating"), "", self._update),
            setting_row(theme, tr("Tooltray uses"), "", self._load),
            setting_row(theme, tr("Your servers use"), tr("With what they have started."), self._servers_load),
            setting_row(theme, tr("Licences"), "", licences),
        )
        self._releases = ReleaseSection(self.context)
        self._releases.body.setContentsMargins(0, px(SECTION_GAP), 0, 0)
        self.body.addWidget(self._releases)

    def _add_places(self) -> None:
        self._files = self.add_group(
            tr("Where files are"),
            self._place_row("settings", tr("Settings"), tr("A text that you can edit.")),
            self._place_row("logs", tr("Logs"), tr("Of Tooltray and of each server.")),
            self._place_row("home", tr("All files"), tr("Everything that Tooltray keeps.")),
        )

    def _place_row(self, member: str, title: str, text: str) -> QWidget:
        """Makes the row of a file or folder; `member`: its path in ProgramSnapshot."""
        theme = self._theme
        path = self._paths[member] = ElidedLabel(theme, "", "mono", "secondary", mode=Qt.TextElideMode.ElideMiddle)
        path.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        copy = IconButton(theme, "copy", tr("Copy the path of {what}", what=title), small=True)
        copy.clicked.connect(lambda: self.context.copy(getattr(self._program, member), tr("The path is copied")))
        open_it = Button(theme, tr("Open"), icon="external", small=True, on_click=lambda: self._open_path(getattr(self._program, member)))
        open_it.setAccessibleName(tr("Open {what}", what=title))
        return setting_row(theme, title, text, path, copy, open_it)

    def _add_diagnostics(self) -> None:
        theme = self._theme
        diagnostics = Button(theme, tr("Copy diagnostics…"), small=True)
        diagnostics.clicked.connect(lambda: self.run(self._show_diagnostics(), button=diagnostics))
        text = tr("For a bug report. You see them first.")
        self._reports = self.add_group(tr("If something is wrong"), setting_row(theme, tr("Diagnostics"), text, diagnostics))

    def _open_path(self, path: str) -> None:
        """Opens a file or a folder with the system's program for it."""
        is_open = QDesktopServices.openUrl(QUrl.fromLocalFile(path))
        self.show_problem(None if is_open else Problem(tr("Nothing could be opened for this"), path))

    async def _show_licences(self) -> None:
        about = tr("Of Tooltray, and of what comes with it.")
        self.context.sheets.show(TextSheet(self.context, tr("Licences"), about, await self.hub.program.get_licences()))

    async def _show_diagnostics(self) -> None:
        about = tr("This is what you copy. Secrets are masked; look whether you want to share the rest.")
        self.context.sheets.show(TextSheet(self.context, tr("Diagnostics"), about, await self.hub.program.get_diagnostics()))
