"""The registries of the Network tab: npm's, with how long each took to answer, which one is used, and the user's own with its sheet; and
that of MCP servers: whether it is used, which one, and how old its copy on this disk is. Draws frozen snapshots."""

from collections.abc import Callable
from datetime import datetime, timedelta

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import NpmRegistryChanged
from tooltray.foundation.snapshots.discovery import RegistryStatus
from tooltray.foundation.snapshots.hub import NpmRegistryStatus, RegistryMeasurement
from tooltray.ui.figures import moment
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import Section
from tooltray.ui.kit.setting_form import patch, value_at
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.state_language import UNKNOWN, Look
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import group, setting_row, text_line
from tooltray.ui.widgets.surface import Surface, column, divider, fill
from tooltray.ui.widgets.table import Table
from tooltray.ui.zoom import px

SHEET_WIDTH, FIELD_WIDTH = 520, 320  # px
SETTING = "discovery.registry"
SLOWEST_MS = 300.0  # a full bar, unless something answered later: differences between quick ones stay visible


class RegistrySection(Section):
    def __init__(self, context: PageContext) -> None:
        theme = context.theme
        self._when = ElidedLabel(theme, "", "caption", "muted")
        self._measure = Button(theme, tr("Measure again"), icon="refresh", small=True)
        super().__init__(context, tr("npm registries"), self._when, self._measure)
        self._measure.clicked.connect(lambda: self.run(self._measured(), button=self._measure))
        self.status = NpmRegistryStatus()
        box, name = Surface(theme), tr("npm registries")
        self._table = Table(theme, self._columns(), name, lambda each: (each.origin, each.url), in_card=True, has_header=True)
        self._nothing = setting_row(theme, tr("Nothing is measured yet"), tr("Servers use what npm itself is configured to use."))
        self._auto = Switch(theme, tr("Use the fastest automatically"))
        self._auto.clicked.connect(lambda is_on: self.run(self.hub.registries.set_auto_detect_npm_registry(is_on), then=self.read))
        add = Button(theme, tr("Add registry"), "ghost", "plus", small=True)
        add.clicked.connect(lambda: context.sheets.show(AddRegistrySheet(context, self.show_registries)))
        text = tr("Checked once a day. A server can name its own registry.")
        fastest = setting_row(theme, tr("Use the fastest automatically"), text, add, self._auto)
        fill(column(box, margins=(16, 1, 16, 0)), self._table, self._nothing, divider(), self._add_custom(), fastest)
        self.body.addWidget(box)
        self.show_registries(self.status)
        context.hub.on(NpmRegistryChanged, lambda news: self.show_registries(news.status), self)

    def show_registries(self, status: NpmRegistryStatus) -> None:
        self.status = status
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

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure, and the switch as it is; None removes the failure."""
        super().show_problem(problem)
        self._auto.set_on(self.status.is_auto_detect)

    async def read(self) -> None:
        """Reads the status, and shows it."""
        self.show_registries(await self.hub.registries.get_npm_registry_status())

    async def _measured(self) -> None:
        self.show_registries(await self.hub.registries.refresh_npm_registry())

    async def _leave_custom(self) -> None:
        self.show_registries(await self.hub.registries.set_custom_npm_registry(""))

    def _add_custom(self) -> QWidget:
        theme = self._theme
        self._custom = ElidedLabel(theme, "", "mono", "secondary", mode=Qt.TextElideMode.ElideMiddle)
        end = Button(theme, tr("Use no longer"), small=True, on_click=lambda: self.run(self._leave_custom()))
        line = setting_row(theme, tr("Your registry"), tr("It goes before all others."), self._custom, end)
        self._custom_row = QWidget()
        fill(column(self._custom_row), line, divider())
        return self._custom_row

    def _columns(self) -> list[Column]:
        def tip(entry: RegistryMeasurement) -> str:
            return entry.problem or entry.url

        return [
            Column(tr("Registry"), lambda each: each.name, Kind.TEXT, 150, tip),
            Column(tr("Where from"), where_from, Kind.QUIET, 156),
            Column(tr("Answer time"), lambda each: registry_time(each, self.status), Kind.BAR),
            Column(tr("State"), lambda each: registry_look(each, self.status), Kind.STATE, 116, tip),
        ]


class AddRegistrySheet(SheetView):
    """A sheet for a registry's address.

    Args:
        show_status: shows the status with the new registry.
    """

    def __init__(self, context: PageContext, show_status: Callable[[NpmRegistryStatus], object]) -> None:
        super().__init__(context, tr("Add registry"), SHEET_WIDTH)
        theme, self._show_status = context.theme, show_status
        self._field = text_line(theme, tr("Address of the registry"), style="mono")
        self._field.textChanged.connect(self._on_text_changed)
        text = tr("It is measured first. If it answers, all servers that name no registry of their own use it.")
        about = Label(theme, text, "caption", "muted", wrap=True)
        fill(self.body, Label(theme, tr("Address of the registry"), "strong"), self._field, about)
        self.add_button(tr("Cancel"), self.leave)
        self._use = self.add_button(tr("Measure and use"), self._on_use, "primary")
        self._field.returnPressed.connect(self._use.click)
        self._use.setEnabled(False)
        self.set_first_focus(self._field)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why the registry cannot be used; the field keeps its content."""
        super().show_problem(problem)
        if problem is not None:
            self._set_busy(False)
            self._field.setFocus(Qt.FocusReason.OtherFocusReason)

    async def _measure(self) -> None:
        self._show_status(await self.hub.registries.set_custom_npm_registry(self._field.text().strip()))
        self.close_requested.emit()
        self.context.say(tr("Servers now use this registry"))

    def _on_text_changed(self, text: str) -> None:
        self._use.setEnabled(bool(text.strip()))
        self.show_problem(None)

    def _on_use(self) -> None:
        self.show_problem(None)
        self._set_busy(True)
        self.run(self._measure())

    def _set_busy(self, is_busy: bool) -> None:
        self._field.setReadOnly(is_busy)
        self._use.setText(tr("Measuring…") if is_busy else tr("Measure and use"))
        self._use.setEnabled(not is_busy)


def registry_look(entry: RegistryMeasurement, status: NpmRegistryStatus) -> Look:
    """Returns the state of a registry: shape, colour and word."""
    if entry.milliseconds is None and (entry.problem or not is_used(entry, status)):
        return Look("state-error", "error", tr("No answer"))
    if entry.problem:  # it answers, but lacks packages or has old ones
        return Look("state-waiting", "warning", tr("Left out"))
    if is_used(entry, status):
        return Look("state-connected", "success", tr("In use"))
    return Look("state-off", "neutral", tr("Reachable"))


def is_used(entry: RegistryMeasurement, status: NpmRegistryStatus) -> bool:
    """Returns whether servers use this registry; with no URL they use the registry that npm itself is configured to use."""
    return entry.url == status.url if status.url else entry.origin == "npm"


def registry_time(entry: RegistryMeasurement, status: NpmRegistryStatus) -> tuple[float, str, str]:
    """Returns the bar of a registry: its share of the slowest, its tone, its word."""
    if entry.milliseconds is None:
        return 0.0, "neutral", UNKNOWN
    slowest = max((SLOWEST_MS, *(each.milliseconds or 0.0 for each in status.measurements)))
    return (
        entry.milliseconds / slowest,
        "success" if is_used(entry, status) and not entry.problem else "neutral",
        f"{entry.milliseconds:,.0f} ms",
    )


def where_from(entry: RegistryMeasurement) -> str:
    """Returns whence a registry is known; of a mirror its country, in the user's language where that is known."""
    origins = {"npm": tr("your npm configuration"), "custom": tr("chosen by you"), "settings": tr("your settings")}
    countries = {"": tr("mirror"), "China": tr("China")}
    return origins.get(entry.origin) or countries.get(entry.region, entry.region)


def measured(status: NpmRegistryStatus, now: datetime) -> str:
    """Returns when the registries were measured."""
    if status.is_measuring:
        return tr("They are being measured now.")
    if not status.measured_at:
        return tr("Not measured yet.")
    ago = now - datetime.fromtimestamp(status.measured_at)
    if ago < timedelta(minutes=1):
        return tr("Measured just now.")
    if ago < timedelta(hours=1):
        return tr("Measured {minutes} min ago.", minutes=int(ago.total_seconds() // 60))
    if ago < timedelta(days=2):
        return tr("Measured {hours} h ago.", hours=int(ago.total_seconds() // 3600))
    return tr("Measured {days} days ago.", days=ago.days)


class ServerRegistrySection(Section):
    def __init__(self, context: PageContext) -> None:
        theme = context.theme
        self._status = ElidedLabel(theme, "", "caption", "muted")
        self._refresh = Button(theme, tr("Update now"), icon="refresh", small=True)
        super().__init__(context, tr("Registry of MCP servers"), self._status, self._refresh)
        self._refresh.clicked.connect(lambda: self.run(self._update(), button=self._refresh))
        self._address: str | bool = True
        self._copy_problem: Problem | None = None
        self._switch = Switch(theme, tr("Find servers in a registry"))
        self._switch.clicked.connect(self._choose)
        self._field = text_line(theme, tr("Address of the registry of MCP servers"), tr("The official registry"), style="mono")
        self._field.setMinimumWidth(px(FIELD_WIDTH))
        self._field.textChanged.connect(self._draw)
        self._use = Button(theme, tr("Use"), on_click=self._on_use)
        self._field.returnPressed.connect(self._use.click)
        self._use.setAccessibleName(tr("Use this registry of MCP servers"))
        text = tr("A copy is kept on this disk, and searched there.")
        self._address_row = setting_row(theme, tr("Address"), tr("Empty: the official one."), self._field, self._use)
        self.body.addWidget(group(theme, setting_row(theme, tr("Find servers in a registry"), text, self._switch), self._address_row))
        self.show_address(True)

    def show_status(self, status: RegistryStatus) -> None:
        """Shows the age of the copy, and why it was not updated."""
        self._status.set_text(_copy_words(status, datetime.now()))
        self._refresh.setEnabled(not status.is_updating and self._address is not False)
        self._copy_problem = status.problem
        self.show_problem(None)

    def show_address(self, address: str | bool) -> None:
        """Shows which registry is used: an address, True for the official one, False for none."""
        if address != self._address or not self._field.isModified():
            self._field.setText(address if isinstance(address, str) else "")
        self._address = address
        self._switch.set_on(address is not False)
        self._refresh.setEnabled(address is not False)
        self._draw()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure, else why the copy was not updated; and the switch as it is."""
        super().show_problem(problem or self._copy_problem)
        self._switch.set_on(self._address is not False)

    async def read(self) -> None:
        """Reads which registry is used and the age of its copy, and shows them; also why the copy was not updated."""
        address = value_at((await self.hub.settings.get_settings()).settings, SETTING)
        self.show_address(address if isinstance(address, str) and address.strip() else address not in (False, ""))
        self.show_status((await self.hub.discovery.search_registry("", 0)).status)

    async def _update(self) -> None:
        self.show_status(await self.hub.discovery.refresh_registry())

    def _choose(self, address: str | bool) -> None:
        """Changes the registry: an address, True for the official one, False for none."""
        change = self.hub.settings.change_settings(patch(SETTING, None if address is True else address))
        self.run(change, then=self.read)

    def _on_use(self) -> None:
        self._field.setModified(False)
        self._choose(self._field.text().strip() or True)

    def _draw(self) -> None:
        is_on = self._address is not False
        self._field.setEnabled(is_on)
        self._use.setEnabled(is_on and (self._field.text().strip() or True) != self._address)


def _copy_words(status: RegistryStatus, now: datetime) -> str:
    """Returns how many servers of the registry of MCP servers are known, and the age of that list."""
    if status.is_updating:
        return tr("It is being fetched…")
    if not status.updated_at:
        return tr("It was never fetched.")
    return tr("{count} servers, as of {when}.", count=f"{status.servers:,}", when=moment(status.updated_at, now))
