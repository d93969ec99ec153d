"""The prompts, resources and skills of one server, for the server's pane."""

from functools import partial

from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QStackedWidget, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.tools.offered import PROMPT, RESOURCE, SKILL
from tooltray.ui.tools.offered_list import OfferedList
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.surface import column, row


class OfferedPanel(QWidget):
    """A list of what one server offers, which reads nothing while it is hidden."""

    def __init__(self, context: PageContext, server: str) -> None:
        super().__init__()
        layout = column(self)
        head = row(margins=(20, 8, 20, 8))
        kinds = {PROMPT: tr("Prompts"), RESOURCE: tr("Resources"), SKILL: tr("Skills")}
        self._tabs = FilterTabs(context.theme, [*kinds.values()], name=tr("Prompts and resources of {name}", name=server))
        head.addWidget(self._tabs)
        head.addStretch(1)
        layout.addLayout(head)
        self._stack = QStackedWidget()
        self.lists = [OfferedList(context, kind, server) for kind in kinds]
        self._counts = [0] * len(kinds)
        for place, each in enumerate(self.lists):
            self._stack.addWidget(each)
            each.listed.connect(partial(self._on_listed, place))
        layout.addWidget(self._stack, 1)
        self._tabs.chosen.connect(self._stack.setCurrentIndex)

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        for each in self.lists:
            each.refresh()

    def _on_listed(self, place: int, count: int) -> None:
        self._counts[place] = count
        self._tabs.set_counts(self._counts)
        first = next((place for place, each in enumerate(self._counts) if each), 0)
        if not self._counts[0] and first and self._tabs.current == 0:
            self._tabs.choose(first)
            self._stack.setCurrentIndex(first)
