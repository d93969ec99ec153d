"""The sheet that makes a new profile of some tools, and gives it to a client."""

from collections.abc import Callable, Sequence
from functools import partial

from PySide6.QtWidgets import QLineEdit

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.tools.tool_rows import ToolRow, profile_of
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.keyboard import add_accept_keys
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
        self._before: dict[str, str] = {}  # the profiles that clients have
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
        self.body.addWidget(Label(theme, tr("Give these tools to"), "label"))
        self._client = Choice(theme, [("", tr("No client yet"))], name=tr("Give these tools to"))
        self._client.chosen_changed.connect(self._draw)
        self.body.addWidget(self._client)
        self._instead = Label(theme, "", "caption", "warning", wrap=True)
        self._instead.hide()
        self.body.addWidget(self._instead)
        self.add_button(tr("Cancel"), self.leave)
        self._save = self.add_button(tr("Make the profile"), self._on_save, "primary")
        self.set_first_focus(self._name)
        add_accept_keys(self, self._on_save)

    async def read(self) -> None:
        """Reads which clients can get it: those that have connected."""
        kinds = [kind for kind in await self.hub.views.get_client_modes() if kind.is_seen and kind.client]
        self._before = {kind.client: kind.profile for kind in kinds}
        self._client.set_options([("", tr("No client yet")), *((kind.client, kind.title or kind.client) for kind in kinds)])

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why no profile was made; the name stays."""
        super().show_problem(problem)
        self._draw()

    def _draw(self) -> None:
        self._save.setEnabled(bool(self._name.text().strip()))
        before = self._before.get(self._client.chosen, "")
        self._instead.setText(tr("Instead of {profile}", profile=before) if before else "")
        self._instead.setVisible(bool(before))

    def _on_save(self) -> None:
        if self._save.isEnabled():
            self._save.setEnabled(False)
            name = self._name.text().strip()
            client = self._client.chosen
            before = self._before.get(client, "")
            self.run(
                self._make(name, client), toast=tr("The profile {name} is made", name=name), undo=partial(self._undo, name, client, before)
            )

    async def _make(self, name: str, client: str) -> None:
        if any(each.name == name for each in await self.hub.views.get_profiles()):
            raise TooltrayError(tr("There is a profile {name} already", name=name), "", tr("Choose another name."))
        await self.hub.views.set_profile(name, self._profile)
        if client:
            await self.hub.views.set_client_profile(client, name)
        self._made()
        self.close_requested.emit()

    async def _undo(self, name: str, client: str, before: str) -> None:
        if client:
            await self.hub.views.set_client_profile(client, before)
        await self.hub.views.remove_profile(name)
