"""The sheet that makes or changes a profile: its name, its description, and its servers and tools. Nothing applies before Save."""

from collections.abc import Callable

from PySide6.QtWidgets import QLineEdit

from tooltray.foundation.errors import Problem
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.clients import ProfileSnapshot
from tooltray.ui.clients.profile_choice import CheckTable, Choice, choices, profile_choice
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import Work
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.state_language import UNKNOWN
from tooltray.ui.widgets.accept_keys import add_accept_keys
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.page_frame import SearchField
from tooltray.ui.widgets.surface import Surface, column

WIDTH = 680
LIST_HEIGHT = 272  # px; about eight lines, the rest scrolls
LONGEST_NAME, LONGEST_DESCRIPTION = 100, 500  # characters; the engine says more exactly what a name may be
ALL, THESE = "all", "these"


class ProfileSheet(SheetView):
    """A sheet that edits a profile, or a new one.

    Args:
        read: reads what the page shows of profiles.
        offer_undo: gets a profile that was removed.
    """

    def __init__(
        self, context: PageContext, profile: ProfileSnapshot | None, read: Work, offer_undo: Callable[[ProfileSnapshot], object]
    ) -> None:
        super().__init__(context, tr("Profile {name}", name=profile.name) if profile is not None else tr("New profile"), WIDTH)
        theme, servers, self._read, self._offer_undo = context.theme, context.servers.servers, read, offer_undo
        self._profile = profile
        self._choice = profile_choice(profile, servers)
        self._descriptions = {server.name: server.description for server in servers}
        self._opened: set[str] = set(profile.tools) if profile is not None else set()
        self._name = self._field(tr("Name"), LONGEST_NAME) if profile is None else None
        self._description = self._field(tr("What it is for"), LONGEST_DESCRIPTION)
        self._description.setText(profile.description if profile is not None else "")
        self._scope = OptionList(
            theme,
            [(ALL, tr("All servers, also those that are added later")), (THESE, tr("Only what is ticked"))],
            name=tr("What is in it"),
            chosen=[ALL if self._choice.takes_all else THESE],
            may_be_empty=False,
        )
        self._scope.changed.connect(self._on_scope)
        self.body.addWidget(Label(theme, tr("What is in it"), "strong"))
        self.body.addWidget(self._scope)
        self._add_list()
        text = tr("A client gets it by your choice on the page AI clients, or when its bridge is started so:")
        self.body.addWidget(Label(theme, text, "caption", "muted", wrap=True))
        self._bridge = CodeLabel(theme, "", "secondary")
        self.body.addWidget(self._bridge)
        self._add_buttons()
        self.set_first_focus(self._name or self._description)
        if self._name is not None:
            self._name.textChanged.connect(self._on_name)
        self._on_name()
        self._draw()

    async def read_tools(self) -> None:
        """Reads the tools of all servers; until then servers can only be ticked as a whole."""
        self._choice.list_tools(await self.hub.tools.get_tools())
        self._draw()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why it could not be saved or removed; the choices stay. None removes it."""
        super().show_problem(problem)
        if problem is not None:
            self._set_busy(False)

    @property
    def _name_now(self) -> str:
        """Returns the name for the settings; an existing profile keeps its name."""
        return self._name.text().strip() if self._name is not None else self._profile.name if self._profile is not None else ""

    def _field(self, name: str, longest: int) -> QLineEdit:
        self.body.addWidget(Label(self._theme, name, "strong"))
        field = QLineEdit()
        field.setMaxLength(longest)
        field.setFont(self._theme.font())
        field.setFixedHeight(self._theme.size("control"))
        field.setAccessibleName(name)
        self.body.addWidget(field)
        return field

    def _add_list(self) -> None:
        self._search = SearchField(self._theme, tr("Search servers and tools"), width=WIDTH)
        self._search.textChanged.connect(self._draw)
        self.body.addWidget(self._search)
        box = Surface(self._theme, "surface", "border", "m")
        self._table = CheckTable(self._theme, self._count)
        self._table.switched.connect(self._on_switched)
        self._table.row_chosen.connect(self._on_row)
        column(box, margins=(1, 1, 1, 1)).addWidget(self._table)
        box.setFixedHeight(LIST_HEIGHT)
        self.body.addWidget(box)

    def _add_buttons(self) -> None:
        if self._profile is not None:
            self._remove = Button(self._theme, tr("Remove"), "danger", "trash")
            self._remove.clicked.connect(self._on_remove)
            self.buttons.addWidget(self._remove)
            self.buttons.addStretch(1)
        self.add_button(tr("Cancel"), self.close_requested.emit)
        self._save = self.add_button(tr("Save"), self._on_save, "primary")
        self._save.setToolTip("Ctrl+Enter")
        add_accept_keys(self, self._on_save)

    def _count(self, choice: Choice) -> str:
        names = self._choice.names(choice.server)
        ticked = sum(self._choice.has(choice.server, name) for name in names)
        return tr("{count} of {all}", count=ticked, all=len(names)) if names else UNKNOWN

    def _draw(self) -> None:
        words = self._search.text().casefold().split()
        self._table.set_rows(choices(self._choice, self._opened, words, self._descriptions))
        self._table.viewport().update()  # a server's count has changed with a tool of it
        self._scope.set_chosen([ALL if self._choice.takes_all else THESE])

    def _on_name(self) -> None:
        name = self._name_now
        self._save.setEnabled(bool(name))
        self._bridge.set_text(f"tooltray-bridge --profile {quoted(name) if name else tr('NAME')}")
        self.show_problem(None)

    def _on_scope(self) -> None:
        self._choice.take_all(self._scope.chosen == [ALL])
        self._draw()

    def _on_switched(self, choice: Choice, on: bool) -> None:
        if choice.tool:
            self._choice.set_tool(choice.server, choice.tool, on)
        else:
            self._choice.set_server(choice.server, on)
        self._draw()

    def _on_row(self, choice: Choice) -> None:
        if not choice.tool:
            self._opened ^= {choice.server}
            self._draw()

    def _on_save(self) -> None:
        if self._save.isEnabled():
            self.show_problem(None)
            self._set_busy(True)
            name, profile = self._name_now, self._choice.settings(self._description.text().strip())
            self.run(self._saved(name, profile), then=self._read, toast=tr("The profile {name} is saved", name=name))

    async def _saved(self, name: str, profile: dict[str, object]) -> None:
        await self.hub.views.set_profile(name, profile)
        self.close_requested.emit()

    def _on_remove(self) -> None:
        if (profile := self._profile) is not None:
            self.show_problem(None)
            self._set_busy(True)
            self.run(self._removed(profile), then=self._read)

    async def _removed(self, profile: ProfileSnapshot) -> None:
        await self.hub.views.remove_profile(profile.name)
        self._offer_undo(profile)
        self.close_requested.emit()

    def _set_busy(self, is_busy: bool) -> None:
        self._save.setEnabled(not is_busy and bool(self._name_now))
        if self._profile is not None:
            self._remove.setEnabled(not is_busy)


def profile_settings(profile: ProfileSnapshot) -> dict[str, object]:
    """Returns a profile in the form of the settings."""
    settings: dict[str, object] = {"tools": {server: list(tools) for server, tools in profile.tools.items()}}
    if profile.servers is not None:
        settings["servers"] = list(profile.servers)
    if profile.description:
        settings["description"] = profile.description
    if profile.skills:
        settings["skills"] = {server: list(skills) for server, skills in profile.skills.items()}
    return settings
