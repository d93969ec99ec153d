"""The sheet that makes or changes a profile: its name, its description, and its servers and tools. Nothing applies before Save."""

from collections.abc import Sequence

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QShowEvent
from PySide6.QtWidgets import QLineEdit

from tooltray.foundation.errors import Problem
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.clients import ProfileSnapshot
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.foundation.snapshots.tools import ToolSnapshot
from tooltray.ui.clients.profile_choice import CheckTable, Choice, choices, profile_choice
from tooltray.ui.i18n import tr
from tooltray.ui.state_language import UNKNOWN
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.accept_keys import add_accept_keys
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.page_frame import SearchField
from tooltray.ui.widgets.sheet import SheetFrame
from tooltray.ui.widgets.surface import Surface, column

WIDTH = 680
LIST_HEIGHT = 272  # px; about eight lines, the rest scrolls
LONGEST_NAME, LONGEST_DESCRIPTION = 100, 500  # characters; the engine says more exactly what a name may be
ALL, THESE = "all", "these"


class ProfilePanel(SheetFrame):
    """A sheet that edits a profile. `save_requested` carries the name and the profile in the form of the settings, `removal_requested` the
    profile.
    """

    save_requested = Signal(str, object)
    removal_requested = Signal(object)

    def __init__(self, theme: Theme, profile: ProfileSnapshot | None, servers: Sequence[ServerSnapshot]) -> None:
        super().__init__(theme, tr("Profile {name}", name=profile.name) if profile is not None else tr("New profile"), WIDTH)
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
        if self._name is not None:
            self._name.textChanged.connect(self._on_name)
        self._on_name()
        self._draw()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        (self._name or self._description).setFocus(Qt.FocusReason.OtherFocusReason)

    def show_tools(self, tools: Sequence[ToolSnapshot]) -> None:
        """Shows the tools; until then servers can only be ticked as a whole."""
        self._choice.list_tools(tools)
        self._draw()

    def show_refusal(self, problem: Problem) -> None:
        """Shows why it could not be saved or removed; the choices stay."""
        self._set_busy(False)
        self.show_problem(problem)

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
        theme = self._theme
        if self._profile is not None:
            self._remove = Button(theme, tr("Remove"), "danger", "trash")
            self._remove.clicked.connect(self._on_remove)
            self.buttons.addWidget(self._remove)
        self.buttons.addStretch(1)
        cancel = Button(theme, tr("Cancel"))
        cancel.clicked.connect(self.close_requested)
        self.buttons.addWidget(cancel)
        self._save = Button(theme, tr("Save"), "primary")
        self._save.setToolTip("Ctrl+Enter")
        self._save.clicked.connect(self._on_save)
        self.buttons.addWidget(self._save)
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
            self.save_requested.emit(self._name_now, self._choice.settings(self._description.text().strip()))

    def _on_remove(self) -> None:
        self.show_problem(None)
        self._set_busy(True)
        self.removal_requested.emit(self._profile)

    def _set_busy(self, is_busy: bool) -> None:
        self._save.setEnabled(not is_busy and bool(self._name_now))
        if self._profile is not None:
            self._remove.setEnabled(not is_busy)
