"""The filters of the list as chips that can be removed, and the menu that adds some. Knows no verb."""

from collections.abc import Sequence
from datetime import datetime
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt, Signal
from PySide6.QtWidgets import QMenu, QScrollArea, QSizePolicy, QWidget

from tooltray.foundation.snapshots.activity import KINDS, ActivityChoices, ActivityFilter
from tooltray.ui.activity.activity_words import FilterChip, chips, client_words, kind_name
from tooltray.ui.i18n import tr
from tooltray.ui.server_text import one_line
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, add_tick, new_menu
from tooltray.ui.widgets.surface import clear, row
from tooltray.ui.zoom import px

LONGEST = 60  # characters of a choice in the menu
MOST = 40  # choices of a kind in the menu; a search finds the others
HEIGHT = 36  # px


class FilterBar(QScrollArea):
    """A row of filters. `filter_changed` carries the new filter, whose text and outcome the bar leaves unchanged. `menu_opened` requests
    the choices.

    Attributes:
        choices: of the menu.
    """

    filter_changed = Signal(object)
    menu_opened = Signal()

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._filter, self.choices = ActivityFilter(), ActivityChoices()
        self._shown: list[FilterChip] | None = None
        self.setAccessibleName(tr("Filters"))
        self.setFocusPolicy(Qt.FocusPolicy.NoFocus)
        self.setFrameShape(QScrollArea.Shape.NoFrame)
        self.setWidgetResizable(True)
        self.setHorizontalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setVerticalScrollBarPolicy(Qt.ScrollBarPolicy.ScrollBarAlwaysOff)
        self.setFixedHeight(px(HEIGHT))
        self.setSizePolicy(QSizePolicy.Policy.Expanding, QSizePolicy.Policy.Fixed)
        content = QWidget()
        self._line = row(content, margins=(0, 0, 0, 8), spacing=6)
        self.setWidget(content)
        self.add = Button(theme, tr("Filter"), "ghost", "plus", small=True, on_click=self._on_add)
        self.add.setAccessibleName(tr("Add a filter"))
        self.show_filter(self._filter)

    def show_filter(self, filter: ActivityFilter) -> None:
        """Shows a filter as chips."""
        self._filter = filter
        shown = chips(filter, datetime.now())
        if shown == self._shown:
            return
        self._shown = shown
        clear(self._line)
        for chip in shown:
            text, remove = one_line(chip.label, LONGEST), partial(self._on_remove, chip)
            button = Button(self._theme, text, "secondary", "x", small=True, on_click=remove)
            button.setLayoutDirection(Qt.LayoutDirection.RightToLeft)  # the cross stands behind the word
            button.setAccessibleName(tr("Remove the filter {name}", name=chip.label))
            self._line.addWidget(button)
        if len(shown) > 1:
            self._line.addWidget(Button(self._theme, tr("Clear filters"), "link", small=True, on_click=self._on_clear))
        self._line.addStretch(1)
        self.setVisible(bool(shown))

    def _on_remove(self, chip: FilterChip, *_: object) -> None:
        self.add.setFocus(Qt.FocusReason.OtherFocusReason)
        self.filter_changed.emit(without(self._filter, chip))

    def _on_clear(self) -> None:
        self.add.setFocus(Qt.FocusReason.OtherFocusReason)
        self.filter_changed.emit(ActivityFilter(text=self._filter.text, outcomes=self._filter.outcomes))

    def _on_add(self) -> None:
        self.menu_opened.emit()
        menu = new_menu(self, self._theme, tr("Add a filter"))
        choices, filter = self.choices, self._filter
        clients = [(client, client_words(client)) for client in choices.clients]
        self._fill(menu, tr("Client"), "clients", clients, filter.clients)
        self._fill(menu, tr("Server"), "servers", [(each, each) for each in choices.servers], filter.servers)
        self._fill(menu, tr("Project"), "projects", [(each, each) for each in choices.projects], filter.projects)
        self._fill(menu, tr("Kind"), "kinds", [(kind, kind_name(kind)) for kind in KINDS], filter.kinds)
        menu.popup(self.add.mapToGlobal(QPoint(0, self.add.height() + px(2))))

    def _fill(self, menu: QMenu, title: str, field: str, options: Sequence[tuple[str, str]], chosen: Sequence[str]) -> None:
        part = menu.addMenu(title)
        part.setFont(self._theme.font())
        part.setEnabled(bool(options))
        for value, name in options[:MOST]:
            add_tick(part, one_line(name, LONGEST).replace("&", "&&"), value in chosen, partial(self._on_chosen, field, value))

    def _on_chosen(self, field: str, value: str, is_on: bool) -> None:
        before = without(self._filter, FilterChip(field, value, ""))
        self.filter_changed.emit(with_value(before, field, value) if is_on else before)


def with_value(filter: ActivityFilter, field: str, value: str) -> ActivityFilter:
    """Returns a filter that also accepts this value of a field."""
    known: tuple[str, ...] = getattr(filter, field)
    return replace(filter, **{field: known if value in known else (*known, value)})


def without(filter: ActivityFilter, chip: FilterChip) -> ActivityFilter:
    """Returns a filter without the value of a chip."""
    if chip.field == "since":
        return replace(filter, since=0.0, until=0.0)
    return replace(filter, **{chip.field: tuple(each for each in getattr(filter, chip.field) if each != chip.value)})
