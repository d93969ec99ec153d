"""The Settings page: rows of one question each; a change applies at once, there is no Save.

Above it: the window. Below it: SettingsCommands, which carries its wishes out. Draws frozen snapshots.
"""

from datetime import datetime

from PySide6.QtCore import Qt, Signal, SignalInstance
from PySide6.QtWidgets import QVBoxLayout, QWidget

from tooltray.errors import Problem
from tooltray.snapshots.http import HttpStatus
from tooltray.snapshots.registries import NpmRegistryStatus, RegistryMeasurement
from tooltray.ui.i18n import tr
from tooltray.ui.pages.page import Page
from tooltray.ui.pages.page_context import PageContext
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.settings.api_section import ApiSection
from tooltray.ui.settings.program_section import ProgramSection, ProgramSheets
from tooltray.ui.settings.settings_commands import SettingsCommands
from tooltray.ui.settings.settings_words import measured, registry_look, registry_time, where_from
from tooltray.ui.settings.setup_sheets import SetupSheets
from tooltray.ui.settings.token_list import TokenList
from tooltray.ui.settings.token_sheets import TokenSheets
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, IconButton, Switch
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import Header, PageScroll
from tooltray.ui.widgets.setting_rows import group, heading, setting_row
from tooltray.ui.widgets.surface import Surface, clear, column, divider, row
from tooltray.ui.widgets.table import Column, Kind, Table

CONTENT_WIDTH = 920


class SettingsPage(Page):
    measure_requested = Signal()
    auto_detect_requested = Signal(bool)
    registry_add_requested = Signal()
    registry_clear_requested = Signal()
    http_requested = Signal(bool)
    reset_requested = Signal()
    export_requested = Signal()
    import_requested = Signal()

    def __init__(self, context: PageContext) -> None:
        super().__init__()
        theme, self._context = context.theme, context
        self._theme = theme
        self._status = NpmRegistryStatus()
        self._address = ""
        self._closed: Problem | None = None  # why HTTP is wanted and not open
        self._faults: dict[str, QVBoxLayout] = {}
        outer = column(self)
        outer.addWidget(Header(theme, tr("Settings")))
        area = self._area = PageScroll(tr("Settings"))
        content = QWidget()
        line = row(content, margins=(24, 20, 24, 32), spacing=0)
        inner = self._inner = QWidget()
        inner.setMaximumWidth(CONTENT_WIDTH)
        self._body = column(inner, spacing=10)
        line.addWidget(inner, 1)
        line.addStretch(0)
        self._add_registries()
        self._add_http()
        self._body.addSpacing(20)
        self.api = ApiSection(theme)
        self._body.addWidget(self.api)
        self._add_setup()
        self._body.addSpacing(20)
        self.program = ProgramSection(theme)
        self._body.addWidget(self.program)
        self._body.addStretch(1)
        area.setWidget(content)
        outer.addWidget(area, 1)
        self.show_registries(self._status)
        self.show_http(HttpStatus())
        self.enable(False)
        self.commands = SettingsCommands(hub=context.hub, tasks=context.tasks, save_file=context.local.save_file)
        self.sheets = SetupSheets(context, self, commands=self.commands)
        self.tokens = TokenSheets(context, self)
        self.program_sheets = ProgramSheets(context, self, self.program)
        self._connect()

    def _connect(self) -> None:
        commands = self.commands
        self.look_requested.connect(commands.look)
        self.look_requested.connect(self.program_sheets.commands.look)
        self.measure_requested.connect(commands.measure)
        self.auto_detect_requested.connect(commands.set_auto_detect)
        self.registry_add_requested.connect(self.sheets.open_add_registry)
        self.registry_clear_requested.connect(commands.clear_registry)
        self.http_requested.connect(commands.set_http)
        self.reset_requested.connect(commands.preview_reset)
        self.export_requested.connect(self.sheets.export)
        self.import_requested.connect(self.sheets.open_import)
        commands.registry_changed.connect(self.show_registries)
        commands.http_changed.connect(self.show_http)
        commands.section_failed.connect(self.show_fault)
        commands.done.connect(self._context.say)
        self._context.hub.http_address_changed.connect(self.look_again)
        self._context.links.about_asked.connect(self.show_about)

    def show_about(self) -> None:
        """Brings what is said of Tooltray itself into view."""
        self._area.ensureWidgetVisible(self.program)

    def enable(self, is_usable: bool) -> None:
        self._inner.setEnabled(is_usable)

    def show_registries(self, status: NpmRegistryStatus) -> None:
        self._status = status
        self._when.set_text(f"{tr('Servers started with npx download from the one in use.')} {measured(status, datetime.now())}")
        self._measure.setEnabled(not status.is_measuring)
        self._measure.set_face(tr("Measuring…") if status.is_measuring else tr("Measure again"), "refresh")
        self._auto.set_on(status.is_auto_detect)
        self._table.set_rows(status.measurements)
        self._table.viewport().update()  # which one is in use may have changed without its own row
        self._table.fit_height()
        self._table.setVisible(bool(status.measurements))
        self._nothing.setVisible(not status.measurements)
        self._custom_row.setVisible(bool(status.custom_url))
        self._custom.set_text(status.custom_url)
        self._custom.setMaximumWidth(self._custom.fontMetrics().horizontalAdvance(status.custom_url) + 1)

    def show_http(self, http: HttpStatus) -> None:
        self._http.set_on(http.is_enabled)
        self._address = http.url
        self._url.setText(http.url or tr("Switched off"))
        self._url.setFont(self._theme.font("mono" if http.url else "caption"))
        self._copy.setVisible(bool(http.url))
        self._token.setText(tr("Each client needs its own token.") if http.requires_token else tr("No token is asked for."))
        self._closed = http.problem
        self.api.show_http(http)
        self.show_fault("http", None)

    def show_fault(self, where: str, problem: Problem | None) -> None:
        """Shows above a section what did not work there; None takes it away.

        Args:
            where: "registry", "http" or "setup".
        """
        place = self._faults[where]
        problem = problem or (self._closed if where == "http" else None)
        clear(place)
        if problem is not None:
            place.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))
        if where == "registry":
            self._auto.set_on(self._status.is_auto_detect)

    # npm registries

    def _add_registries(self) -> None:
        theme = self._theme
        self._when = ElidedLabel(theme, "", "caption", "muted")
        self._measure = _button(theme, tr("Measure again"), self.measure_requested, "refresh")
        self._body.addLayout(heading(theme, tr("npm registries"), self._when, self._measure))
        self._add_fault_place("registry")
        box = Surface(theme)
        layout = column(box, margins=(16, 1, 16, 0))
        self._table = Table(
            theme, self._columns(), tr("npm registries"), lambda each: (each.origin, each.url), in_card=True, has_header=True
        )
        layout.addWidget(self._table)
        self._nothing = setting_row(theme, tr("Nothing is measured yet"), tr("Servers use what npm itself is configured to use."))
        layout.addWidget(self._nothing)
        layout.addWidget(divider())
        self._custom = ElidedLabel(theme, "", "mono", "secondary", mode=Qt.TextElideMode.ElideMiddle)
        end = _button(theme, tr("Use no longer"), self.registry_clear_requested)
        self._custom_row = QWidget()
        lines = column(self._custom_row)
        lines.addWidget(setting_row(theme, tr("Your registry"), tr("It goes before all others."), self._custom, end))
        lines.addWidget(divider())
        layout.addWidget(self._custom_row)
        self._auto = Switch(theme, tr("Use the fastest automatically"))
        self._auto.clicked.connect(self.auto_detect_requested)
        add = Button(theme, tr("Add registry"), "ghost", "plus", small=True)
        add.clicked.connect(self.registry_add_requested)
        text = tr("Checked once a day. A server can name its own registry.")
        layout.addWidget(setting_row(theme, tr("Use the fastest automatically"), text, add, self._auto))
        self._body.addWidget(box)

    def _columns(self) -> list[Column]:
        def tip(entry: RegistryMeasurement) -> str:
            return entry.problem or entry.url

        return [
            Column(tr("Registry"), lambda each: each.name, Kind.TEXT, 150, tip),
            Column(tr("Where from"), where_from, Kind.QUIET, 156),
            Column(tr("Answer time"), lambda each: registry_time(each, self._status), Kind.BAR),
            Column(tr("State"), lambda each: registry_look(each, self._status), Kind.STATE, 116, tip),
        ]

    # HTTP

    def _add_http(self) -> None:
        theme = self._theme
        self._body.addSpacing(20)
        text = ElidedLabel(theme, tr("For clients that cannot start the bridge. Only this computer can connect."), "caption", "muted")
        self._body.addLayout(heading(theme, tr("HTTP access"), text))
        self._add_fault_place("http")
        self._http = Switch(theme, tr("HTTP access"))
        self._http.clicked.connect(self.http_requested)
        self._url = Label(theme, "", "mono", "secondary")
        self._copy = IconButton(theme, "copy", tr("Copy address"), small=True)
        self._copy.clicked.connect(self._on_copy)
        self._token = Label(theme, "", "caption", "secondary")
        self.client_tokens = TokenList(theme, tr("Clients with a token"), tr("Each client needs its own."))
        rows = (
            setting_row(theme, tr("Let clients connect over HTTP"), "", self._http),
            setting_row(theme, tr("Address"), "", self._url, self._copy),
            setting_row(theme, tr("Token"), "", self._token),
            self.client_tokens,
        )
        self._body.addWidget(group(theme, *rows))

    def _on_copy(self) -> None:
        self._context.copy(self._address, tr("The address is copied"))

    # the set-up

    def _add_setup(self) -> None:
        theme = self._theme
        self._body.addSpacing(20)
        text = ElidedLabel(theme, tr("Servers and settings as one file, without secrets."), "caption", "muted")
        self._body.addLayout(heading(theme, tr("Backup"), text))
        self._add_fault_place("setup")
        defaults = tr("The servers that come with Tooltray become as they came. Your own stay.")
        rows = (
            setting_row(theme, tr("Export"), tr("For another computer, or to keep."), _button(theme, tr("Export…"), self.export_requested)),
            setting_row(theme, tr("Import"), tr("You see what changes first."), _button(theme, tr("Import…"), self.import_requested)),
            setting_row(theme, tr("Starter servers"), defaults, _button(theme, tr("Restore starter servers…"), self.reset_requested)),
        )
        self._body.addWidget(group(theme, *rows))

    def _add_fault_place(self, where: str) -> None:
        self._faults[where] = column()
        self._body.addLayout(self._faults[where])


def _button(theme: Theme, text: str, wish: SignalInstance, icon: str = "") -> Button:
    button = Button(theme, text, icon=icon, small=True)
    button.clicked.connect(wish)
    return button
