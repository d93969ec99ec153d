"""The npm registries: the time of each, the one in use, and the user's own. Draws frozen snapshots."""

from datetime import datetime

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.events import NpmRegistryChanged
from tooltray.foundation.snapshots.hub import NpmRegistryStatus, RegistryMeasurement
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.section import Section
from tooltray.ui.settings.add_registry import AddRegistrySheet
from tooltray.ui.settings.network_words import measured, registry_look, registry_time, where_from
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.row_model import Column, Kind
from tooltray.ui.widgets.setting_rows import setting_row
from tooltray.ui.widgets.surface import Surface, column, divider
from tooltray.ui.widgets.table import Table


class RegistrySection(Section):
    def __init__(self, context: PageContext) -> None:
        theme = context.theme
        self._when = ElidedLabel(theme, "", "caption", "muted")
        self._measure = Button(theme, tr("Measure again"), icon="refresh", small=True)
        super().__init__(context, tr("npm registries"), self._when, self._measure)
        self._measure.clicked.connect(lambda: self.run(self._measured(), button=self._measure))
        self._status = NpmRegistryStatus()
        box = Surface(theme)
        layout = column(box, margins=(16, 1, 16, 0))
        layout.addWidget(self._add_table())
        self._nothing = setting_row(theme, tr("Nothing is measured yet"), tr("Servers use what npm itself is configured to use."))
        layout.addWidget(self._nothing)
        layout.addWidget(divider())
        layout.addWidget(self._add_custom())
        self._auto = Switch(theme, tr("Use the fastest automatically"))
        self._auto.clicked.connect(self._on_auto)
        add = Button(theme, tr("Add registry"), "ghost", "plus", small=True)
        add.clicked.connect(lambda: context.sheets.show(AddRegistrySheet(context, self.show_registries)))
        text = tr("Checked once a day. A server can name its own registry.")
        layout.addWidget(setting_row(theme, tr("Use the fastest automatically"), text, add, self._auto))
        self.body.addWidget(box)
        self.show_registries(self._status)
        context.hub.on(NpmRegistryChanged, lambda news: self.show_registries(news.status), self)

    @property
    def status(self) -> NpmRegistryStatus:
        """The status that is shown."""
        return self._status

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

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure, and the switch as it is; None removes the failure."""
        super().show_problem(problem)
        self._auto.set_on(self._status.is_auto_detect)

    async def read(self) -> None:
        """Reads the status, and shows it."""
        self.show_registries(await self.hub.registries.get_npm_registry_status())

    def _on_auto(self, is_on: bool) -> None:
        self.run(self.hub.registries.set_auto_detect_npm_registry(is_on), then=self.read)

    async def _measured(self) -> None:
        self.show_registries(await self.hub.registries.refresh_npm_registry())

    async def _leave_custom(self) -> None:
        self.show_registries(await self.hub.registries.set_custom_npm_registry(""))

    def _add_table(self) -> Table:
        theme = self._theme
        name = tr("npm registries")
        self._table = Table(theme, self._columns(), name, lambda each: (each.origin, each.url), in_card=True, has_header=True)
        return self._table

    def _add_custom(self) -> QWidget:
        theme = self._theme
        self._custom = ElidedLabel(theme, "", "mono", "secondary", mode=Qt.TextElideMode.ElideMiddle)
        end = Button(theme, tr("Use no longer"), small=True)
        end.clicked.connect(lambda: self.run(self._leave_custom()))
        self._custom_row = QWidget()
        lines = column(self._custom_row)
        lines.addWidget(setting_row(theme, tr("Your registry"), tr("It goes before all others."), self._custom, end))
        lines.addWidget(divider())
        return self._custom_row

    def _columns(self) -> list[Column]:
        def tip(entry: RegistryMeasurement) -> str:
            return entry.problem or entry.url

        return [
            Column(tr("Registry"), lambda each: each.name, Kind.TEXT, 150, tip),
            Column(tr("Where from"), where_from, Kind.QUIET, 156),
            Column(tr("Answer time"), lambda each: registry_time(each, self._status), Kind.BAR),
            Column(tr("State"), lambda each: registry_look(each, self._status), Kind.STATE, 116, tip),
        ]
