"""What a server may do, as three choices: the one that its settings make is chosen. Which settings make one is the engine's."""

from functools import partial

from PySide6.QtCore import Qt
from PySide6.QtGui import QMouseEvent
from PySide6.QtWidgets import QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import AccessChoice, ServerSnapshot
from tooltray.ui.confinement_words import choice_text, choice_title, differs
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import confirm
from tooltray.ui.server_pane.access_section import AccessSection
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.choice import Option
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import Surface, column, divider

CHOICES: tuple[AccessChoice | None, ...] = ("careful", "trusted", "free", None)
TEXT_INSET = 26  # px: the text begins where the title does, beside the mark


class AccessChoices(AccessSection):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__(context, name)
        self._server: ServerSnapshot | None = None
        self._is_busy = False
        self.body.addLayout(self.notes)
        box = Surface(self._theme)
        box.setAccessibleName(tr("What {name} may do", name=name))
        lines = column(box, margins=(14, 2, 14, 2))
        self._lines: dict[AccessChoice | None, ChoiceLine] = {}
        for choice in CHOICES:
            line = self._lines[choice] = ChoiceLine(self._theme, choice_title(choice), has_edge=choice != CHOICES[0])
            line.option.clicked.connect(partial(self._on_clicked, choice))
            lines.addWidget(line)
        self.body.addWidget(box)

    def set_server(self, server: ServerSnapshot) -> None:
        self._server = server
        self._draw()

    def show_problem(self, problem: Problem | None) -> None:
        super().show_problem(problem)
        self._draw()  # the choice that was not made is not shown as made

    def _draw(self) -> None:
        server = self._server
        if server is None or (access := server.access) is None:
            return
        is_process = server.confinement is not None
        for choice, line in self._lines.items():
            line.option.setChecked(choice == access.choice)
            if choice is not None:
                line.set_text(choice_text(choice, is_process=is_process))
                line.option.setEnabled(choice in access.offered)
        if "careful" not in access.offered:
            self._lines["careful"].set_text(tr("It cannot be sandboxed on this computer."))
        self._lines["careful"].setVisible(is_process)
        self._lines["trusted"].set_edge(is_process)
        self._lines[None].setVisible(access.choice is None)
        self._lines[None].set_text(differs(server))

    def _on_clicked(self, choice: AccessChoice | None) -> None:
        server = self._server
        if self._is_busy or choice is None or server is None or server.access is None or choice == server.access.choice:
            self._draw()
        else:
            self._is_busy = True
            self.run(self._choose(choice, server))

    async def _choose(self, choice: AccessChoice, server: ServerSnapshot) -> None:
        try:
            if choice == "free" and not await self._is_confirmed(server):
                return
            await self.hub.approvals.set_access(self._name, choice)
        finally:
            self._is_busy = False
        limits = (server.confinement.files, server.confinement.network) if server.confinement is not None else ()
        undo = partial(self.hub.approvals.set_access, self._name, None, list(server.auto_approve), *limits)
        self.context.offer_undo(tr("{server}: {words}", server=self._name, words=choice_title(choice)), undo)

    async def _is_confirmed(self, server: ServerSnapshot) -> bool:
        text = tr("No call asks first, not even one that deletes something.")
        if server.confinement is not None:
            text += " " + tr("Can read and change all your files, including keys and passwords.")
        title = tr("Let {name} do everything without asking?", name=self._name)
        return await confirm(self.context, title, text, yes=tr("Never ask"), no=tr("Cancel"), variant="danger")


class ChoiceLine(QWidget):
    """A choice with its meaning below it; a click anywhere chooses it."""

    def __init__(self, theme: Theme, title: str, *, has_edge: bool) -> None:
        super().__init__()
        lines = column(self)
        self._edge = divider()
        self._edge.setVisible(has_edge)
        lines.addWidget(self._edge)
        words = column(margins=(0, 6, 0, 8))
        self.option = Option(theme, title, is_round=True)
        words.addWidget(self.option)
        self._text = Label(theme, "", "caption", "muted", wrap=True)
        self._text.setContentsMargins(TEXT_INSET, 0, 0, 0)
        words.addWidget(self._text)
        lines.addLayout(words)

    def set_text(self, text: str) -> None:
        self._text.setText(text)
        self.option.setAccessibleDescription(text)

    def set_edge(self, has_edge: bool) -> None:
        """Sets whether a line separates it from the one above."""
        self._edge.setVisible(has_edge)

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()) and self.option.isEnabled():
            self.option.click()
