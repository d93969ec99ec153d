"""The sheet that lists the profiles: each can be edited, duplicated and removed."""

from collections.abc import Callable, Sequence
from functools import partial
from typing import TYPE_CHECKING, Protocol

from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot
from tooltray.ui.clients.client_words import client_title, profile_text, what_a_profile_is
from tooltray.ui.clients.profile_sheet import remove_profile
from tooltray.ui.i18n import tr
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import clear, column, divider, row

if TYPE_CHECKING:
    from tooltray.ui.clients.clients_page import ClientsPage

WIDTH = 640


class OpenProfile(Protocol):
    """Opens the sheet of a profile, or of a new one; `copy`: a new one with its content."""

    def __call__(self, profile: ProfileSnapshot | None, *, copy: bool = False) -> object: ...


class ProfilesSheet(SheetView):
    """A sheet with all profiles.

    Args:
        page: undoes a removal after the sheet is closed.
    """

    def __init__(self, page: "ClientsPage", open_profile: OpenProfile) -> None:
        super().__init__(page.context, tr("Profiles"), WIDTH)
        self._page, self._open_profile = page, open_profile
        self.body.addWidget(Label(self._theme, what_a_profile_is(), "body", "secondary", wrap=True))
        self._lines = column()
        self.body.addLayout(self._lines)
        self.add_button(tr("Close"), self.close_requested.emit)
        new = self.add_button(tr("New profile…"), lambda: open_profile(None), "primary", "plus")
        self.set_first_focus(new)

    async def read(self) -> None:
        """Reads the profiles, and which clients have them."""
        profiles, kinds = await self.hub.views.get_profiles(), await self.hub.views.get_client_modes()
        self._show(sorted(profiles, key=lambda profile: profile.name.casefold()), kinds)

    def _show(self, profiles: Sequence[ProfileSnapshot], kinds: Sequence[ClientModeSnapshot]) -> None:
        clear(self._lines)
        for index, profile in enumerate(profiles):
            if index:
                self._lines.addWidget(divider())
            self._lines.addWidget(self._row(profile, [client_title(kind) for kind in kinds if kind.profile == profile.name]))
        if not profiles:
            self._lines.addWidget(Label(self._theme, tr("No profiles: every client gets everything."), "body", "muted", wrap=True))

    def _row(self, profile: ProfileSnapshot, clients: Sequence[str]) -> QWidget:
        widget, theme = QWidget(), self._theme
        line = row(widget, margins=(0, 10, 0, 10), spacing=8)
        words = column(spacing=2)
        words.addWidget(ElidedLabel(theme, profile.name, "strong"))
        if profile.description:
            words.addWidget(ElidedLabel(theme, profile.description, "body", "secondary"))
        words.addWidget(ElidedLabel(theme, profile_text(profile, clients), "caption", "muted"))
        line.addLayout(words, 1)
        actions: tuple[tuple[str, str, Callable[[], object]], ...] = (
            (tr("Edit…"), tr("Edit {name}", name=profile.name), partial(self._open_profile, profile)),
            (tr("Duplicate…"), tr("Duplicate {name}", name=profile.name), partial(self._open_profile, profile, copy=True)),
            (tr("Remove"), tr("Remove {name}", name=profile.name), partial(self._remove, profile)),
        )
        for text, name, action in actions:
            button = Button(theme, text, "danger" if action is actions[-1][2] else "secondary", small=True)
            button.setAccessibleName(name)
            button.clicked.connect(lambda _=False, action=action: action())
            line.addWidget(button)
        return widget

    def _remove(self, profile: ProfileSnapshot) -> None:
        self.run(remove_profile(self._page, profile), then=self.read)
