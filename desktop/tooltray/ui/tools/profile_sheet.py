"""The sheet that makes a new profile of some tools."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtWidgets import QLineEdit

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.tools.tool_rows import ToolRow, profile_of
from tooltray.ui.widgets.accept_keys import add_accept_keys
from tooltray.ui.widgets.label import Label

WIDTH = 460
LONGEST_NAME = 40  # characters; the engine says more exactly what a name may be
MOST_NAMES = 12  # tools named on the sheet


class ProfileSheet(SheetView):
    """A sheet that names a new profile, and makes it.

    Args:
        made: called after the profile is made.
    """

    def __init__(self, context: PageContext, rows: Sequence[ToolRow], made: Callable[[], object]) -> None:
        super().__init__(context, tr("New profile"), WIDTH)
        theme, self._profile, self._made = context.theme, profile_of(rows), made
        words = many(len(rows), "It has 1 tool:", "It has {count} tools:")
        self.body.addWidget(Label(theme, words, "body", "secondary", wrap=True))
        names = ", ".join(row.name for row in rows[:MOST_NAMES]) + (" …" if len(rows) > MOST_NAMES else "")
        self.body.addWidget(Label(theme, names, "caption", "muted", wrap=True))
        self.body.addWidget(Label(theme, tr("Name"), "label"))
        self._name = QLineEdit(tr("used"))
        self._name.setMaxLength(LONGEST_NAME)
        self._name.setFont(theme.font())
        self._name.setFixedHeight(theme.size("control"))
        self._name.setAccessibleName(tr("Name of the profile"))
        self._name.textChanged.connect(self._draw)
        self._name.returnPressed.connect(self._on_save)
        self._name.selectAll()
        self.body.addWidget(self._name)
        text = tr("You give it to a client afterwards. Nothing changes for the others.")
        self.body.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        self.add_button(tr("Cancel"), self.close_requested.emit)
        self._save = self.add_button(tr("Make the profile"), self._on_save, "primary")
        self.set_first_focus(self._name)
        add_accept_keys(self, self._on_save)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why no profile was made; the name stays."""
        super().show_problem(problem)
        self._draw()

    def _draw(self) -> None:
        self._save.setEnabled(bool(self._name.text().strip()))

    def _on_save(self) -> None:
        if self._save.isEnabled():
            self._save.setEnabled(False)
            name = self._name.text().strip()
            said = tr("The profile {name} is made. Give it to a client under AI clients.", name=name)
            self.run(self._make(name), toast=said, undo=partial(self.hub.views.remove_profile, name))

    async def _make(self, name: str) -> None:
        if any(each.name == name for each in await self.hub.views.get_profiles()):
            raise TooltrayError(tr("There is a profile {name} already", name=name), "", tr("Choose another name."))
        await self.hub.views.set_profile(name, self._profile)
        self._made()
        self.close_requested.emit()
