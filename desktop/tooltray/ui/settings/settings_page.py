"""The Settings page: general settings, secrets, and the network; a tab each. A change applies at once, there is no Save.

Above it: the window. Below it: SettingsCommands, which carries its wishes out, and the tabs, which are pages of their own.
"""

from functools import cached_property
from typing import TypeVar

from PySide6.QtCore import Signal, SignalInstance
from PySide6.QtWidgets import QStackedWidget, QWidget

from tooltray.errors import Problem
from tooltray.ui.i18n import tr
from tooltray.ui.network.network_tab import NetworkTab
from tooltray.ui.pages.page import HubPhase, Page
from tooltray.ui.pages.page_context import PageContext
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.secrets.secrets_tab import SecretsTab
from tooltray.ui.settings.program_section import ProgramSection, ProgramSheets
from tooltray.ui.settings.settings_commands import SettingsCommands
from tooltray.ui.settings.setup_sheets import SetupSheets
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.page_frame import Header, PageScroll
from tooltray.ui.widgets.setting_rows import group, heading, setting_row
from tooltray.ui.widgets.surface import clear, column, row

CONTENT_WIDTH = 920
GENERAL, SECRETS, NETWORK = 0, 1, 2  # the tabs


T = TypeVar("T", bound=Page)


class SettingsPage(Page):
    reset_requested = Signal()
    export_requested = Signal()
    import_requested = Signal()

    def __init__(self, context: PageContext) -> None:
        super().__init__()
        theme, self._context = context.theme, context
        self._theme = theme
        self._phase = HubPhase.STARTING
        self._made: list[Page] = []
        outer = column(self)
        self._tabs = FilterTabs(theme, [tr("General"), tr("Secrets"), tr("Network")], name=tr("Settings"), have_counts=False)
        self._tabs.chosen.connect(self.show_tab)
        self._header = Header(theme, tr("Settings"), tabs=self._tabs)
        outer.addWidget(self._header)
        area = self._area = PageScroll(tr("Settings"))
        content = QWidget()
        line = row(content, margins=(24, 20, 24, 32), spacing=0)
        inner = self._inner = QWidget()
        inner.setMaximumWidth(CONTENT_WIDTH)
        self._body = column(inner, spacing=10)
        line.addWidget(inner, 1)
        line.addStretch(0)
        self._add_setup()
        self._body.addSpacing(20)
        self.program = ProgramSection(theme)
        self._body.addWidget(self.program)
        self._body.addStretch(1)
        area.setWidget(content)
        self._stack = QStackedWidget()
        self._stack.addWidget(area)
        outer.addWidget(self._stack, 1)
        self.enable(False)
        self.commands = SettingsCommands(hub=context.hub, tasks=context.tasks, save_file=context.local.save_file)
        self.sheets = SetupSheets(context, self, commands=self.commands)
        self.program_sheets = ProgramSheets(context, self, self.program)
        self._connect()

    def _connect(self) -> None:
        commands = self.commands
        self.look_requested.connect(self.program_sheets.commands.look)
        self.reset_requested.connect(commands.preview_reset)
        self.export_requested.connect(self.sheets.export)
        self.import_requested.connect(self.sheets.open_import)
        commands.failed.connect(self.show_fault)
        commands.done.connect(self._context.say)
        self._context.links.about_asked.connect(self.show_about)

    @cached_property
    def secrets(self) -> SecretsTab:
        return self._made_now(SecretsTab(self._context))

    @cached_property
    def network(self) -> NetworkTab:
        return self._made_now(NetworkTab(self._context))

    def _made_now(self, tab: T) -> T:
        self._made.append(tab)
        self._stack.addWidget(tab)
        tab.set_phase(self._phase)
        return tab

    def set_phase(self, phase: HubPhase) -> None:
        self._phase = phase
        super().set_phase(phase)
        for tab in self._made:
            tab.set_phase(phase)

    def show_tab(self, index: int) -> None:
        """Shows one of the tabs."""
        self._tabs.choose(index)
        tab: Page | None = None if index == GENERAL else self.secrets if index == SECRETS else self.network
        self._stack.setCurrentWidget(tab or self._area)
        self._header.set_actions(tab.header_actions if tab else ())

    def show_part(self, part: str, text: str = "") -> None:
        """Shows a tab by its name, "general", "secrets" (and the secret of this name) or "network"."""
        self.show_tab({"network": NETWORK, "secrets": SECRETS}.get(part, GENERAL))
        if part == "secrets" and text:
            self.secrets.show_part(part, text)

    def show_about(self) -> None:
        """Brings what is said of Tooltray itself into view."""
        self.show_tab(GENERAL)
        self._area.ensureWidgetVisible(self.program)

    def enable(self, is_usable: bool) -> None:
        self._inner.setEnabled(is_usable)

    def show_fault(self, problem: Problem | None) -> None:
        """Shows above backups what did not work; None takes it away."""
        clear(self._fault)
        if problem is not None:
            self._fault.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))

    def _add_setup(self) -> None:
        theme = self._theme
        text = ElidedLabel(theme, tr("Servers and settings as one file, without secrets."), "caption", "muted")
        self._body.addLayout(heading(theme, tr("Backup"), text))
        self._fault = column()
        self._body.addLayout(self._fault)
        defaults = tr("The servers that come with Tooltray become as they came. Your own stay.")
        rows = (
            setting_row(theme, tr("Export"), tr("For another computer, or to keep."), _button(theme, tr("Export…"), self.export_requested)),
            setting_row(theme, tr("Import"), tr("You see what changes first."), _button(theme, tr("Import…"), self.import_requested)),
            setting_row(theme, tr("Starter servers"), defaults, _button(theme, tr("Restore starter servers…"), self.reset_requested)),
        )
        self._body.addWidget(group(theme, *rows))


def _button(theme: Theme, text: str, wish: SignalInstance) -> Button:
    button = Button(theme, text, small=True)
    button.clicked.connect(wish)
    return button
