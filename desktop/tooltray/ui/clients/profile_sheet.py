"""The sheet that makes or changes a profile, where nothing applies before Save; and the sheet that lists the profiles: each can be edited,
duplicated and removed."""

from collections.abc import Callable, Mapping, Sequence
from functools import partial
from typing import TYPE_CHECKING

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QLineEdit, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.shell_words import quoted
from tooltray.foundation.snapshots.clients import ClientModeSnapshot, ProfileSnapshot
from tooltray.ui.clients.client_words import client_title, profile_text, what_a_profile_is
from tooltray.ui.clients.profile_choice import CheckTable, Choice, choices, profile_choice
from tooltray.ui.i18n import tr
from tooltray.ui.kit.setting_form import value_at
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.state_language import UNKNOWN
from tooltray.ui.widgets import choice as widgets
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.page_frame import SearchField
from tooltray.ui.widgets.setting_rows import add_lines, text_line
from tooltray.ui.widgets.surface import Surface, clear, column, fill, row
from tooltray.ui.zoom import px

if TYPE_CHECKING:
    from tooltray.ui.clients.clients_page import ClientsPage

WIDTH, LIST_WIDTH, CHOICE_WIDTH = 720, 640, 220
LIST_HEIGHT, LEAST_HEIGHT = 340, 150  # px; the rest of the list scrolls
LONGEST_NAME, LONGEST_DESCRIPTION = 100, 500  # characters; the engine says more exactly what a name may be
MOST_UNFOLDED = 100  # tools; more are found by the search, or server by server
ALL, THESE = "all", "these"


class ProfileSheet(SheetView):
    """A sheet that edits a profile, or a new one.

    Args:
        page: is read again afterwards, and undoes a removal.
        client: gets the profile when it is saved; a new one is named after it, and all tools to choose from are listed.
        is_copy: the profile is a new one with the content of `profile`.
    """

    def __init__(
        self,
        page: "ClientsPage",
        profile: ProfileSnapshot | None,
        *,
        client: str = "",
        is_copy: bool = False,
    ) -> None:
        names = {row.kind.client: row.name for row in page.rows if row.kind is not None}
        what = tr("New profile") if profile is None or is_copy else tr("Profile {name}", name=profile.name)
        super().__init__(page.context, tr("Tools for {client}", client=names[client]) if client else what, WIDTH)
        theme, servers, self._page = page.context.theme, page.context.servers.servers, page
        self._profile = edited = None if is_copy else profile
        self._names = names  # of the clients that can get it
        self._before = {row.kind.client: row.kind.profile for row in page.rows if row.kind is not None}  # their profiles
        self._has_it = [row.kind.client for row in page.rows if edited and row.kind and row.kind.profile == edited.name]
        self._gets_it = [client] if client and client not in self._has_it else []
        self._own = client  # it keeps the profile, which is made for it
        self._choice = profile_choice(profile, servers)
        self._descriptions = {server.name: server.description for server in servers}
        self._opened: set[str] = set(profile.tools) if profile is not None else set()
        own = tr("{client}'s tools", client=names[client]) if client else ""
        suggested, description = (profile.name, profile.description) if profile is not None else (own, "")
        about = ElidedLabel(theme, what_a_profile_is(), "body", "secondary")  # one line: the list alone gives way
        fields = row(spacing=12)
        self._name = self._field(fields, tr("Name"), LONGEST_NAME, _free(suggested, page.profile_names) if edited is None else suggested)
        self._description = self._field(fields, tr("Description"), LONGEST_DESCRIPTION, description)
        fill(self.body, about, fields)
        self._add_list()
        self._add_clients()
        self._bridge = ElidedLabel(theme, "", "caption", "muted")
        self.body.addWidget(self._bridge)
        self._bridge.setVisible(not client)  # the client gets it without being started in another way
        self._add_buttons()
        self.set_first_focus(self._search if client else self._name)
        self._name.textChanged.connect(self._on_name)
        self._on_name()
        self._draw()

    async def read(self) -> None:
        """Reads the tools of all servers; until then servers can only be ticked as a whole."""
        self._choice.list_tools(await self.hub.tools.get_tools())
        if self._own and sum(map(len, self._choice.tools.values())) <= MOST_UNFOLDED:
            self._opened |= self._choice.tools.keys() - self._choice.own
        self._draw()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why it could not be saved or removed; the choices stay. None removes it."""
        super().show_problem(problem)
        if problem is not None:
            self._set_busy(False)

    @property
    def _name_now(self) -> str:
        return self._name.text().strip()

    def _field(self, line: QHBoxLayout, name: str, longest: int, text: str) -> QLineEdit:
        field = text_line(self._theme, name)
        field.setMaxLength(longest)
        field.setText(text)
        fill(line, (fill(column(spacing=6), Label(self._theme, name, "strong"), field), 1))
        return field

    def _add_list(self) -> None:
        theme, box = self._theme, Surface(self._theme, "surface", "border", "m")
        options = [(ALL, tr("All servers, also those that are added later")), (THESE, tr("Selected only"))]
        self._scope = widgets.Choice(theme, options, name=tr("Contents"))
        self._scope.chosen_changed.connect(self._on_scope)
        self._search = SearchField(theme, tr("Search servers and tools"), width=WIDTH)
        self._search.textChanged.connect(self._draw)
        self._table = CheckTable(theme, self._count, LIST_HEIGHT)
        self._table.switched.connect(self._on_switched)
        self._table.row_chosen.connect(self._on_row)
        self._table.setMinimumHeight(px(LEAST_HEIGHT))
        fill(column(box, margins=(1, 1, 1, 1)), self._table)
        fill(self.body, fill(row(spacing=12), Label(theme, tr("Contents"), "strong"), self._scope, (self._search, 1)), (box, 1))

    def _add_clients(self) -> None:
        """Adds which clients have the profile, which get it, and the choice that gives it to one more."""
        self._clients, self._given = ElidedLabel(self._theme, "", "body", "secondary"), column(spacing=2)
        self._give = widgets.Choice(self._theme, [("", "")], name=tr("Give these tools to"))
        self._give.setFixedWidth(px(CHOICE_WIDTH))
        self._give.chosen_changed.connect(self._on_give)
        line = fill(row(spacing=12), (fill(column(spacing=2), self._clients, self._given), 1))
        line.addWidget(self._give, 0, Qt.AlignmentFlag.AlignTop)
        self.body.addLayout(line)

    def _add_buttons(self) -> None:
        if self._profile is not None:
            self._remove = Button(self._theme, tr("Remove"), "danger", "trash", on_click=self._on_remove)
            fill(self.buttons, self._remove, 1)
        self.add_button(tr("Cancel"), self.leave)
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
        self._scope.choose(ALL if self._choice.takes_all else THESE)
        self._draw_clients()

    def _draw_clients(self) -> None:
        names = ", ".join(self._names.get(client, client) for client in self._has_it)
        self._clients.set_text(tr("For {clients}", clients=names) if names else tr("No client has it"))
        self._clients.setVisible(bool(self._has_it or not self._gets_it))
        clear(self._given)
        for client in self._gets_it:
            self._given.addWidget(self._given_to(client))
        others = [(client, name) for client, name in self._names.items() if client not in (*self._has_it, *self._gets_it)]
        self._give.set_options([("", tr("Give these tools to…")), *others])
        self._give.choose("")

    def _given_to(self, client: str) -> QWidget:
        """Returns the line of a client that gets the profile: which one it replaces, and a button that takes it off again."""
        widget, name, before = QWidget(), self._names[client], self._before[client]
        words = tr("For {clients}, instead of {profile}", clients=name, profile=before) if before else tr("For {clients}", clients=name)
        line = fill(row(widget), ElidedLabel(self._theme, words, "body", "warning" if before else "secondary", hugs=True))
        if client != self._own:
            text = tr("Do not give it to {client}", client=name)
            line.addWidget(IconButton(self._theme, "x", text, small=True, on_click=lambda: self._on_take(client)))
        line.addStretch(1)
        return widget

    def _on_name(self) -> None:
        name = self._name_now
        self._save.setEnabled(bool(name))
        command = f"tooltray-bridge --profile {quoted(name) if name else tr('NAME')}"
        self._bridge.set_text(tr("In a client's own config: {command}", command=command))
        self.show_problem(None)

    def _on_scope(self, chosen: str) -> None:
        self._choice.take_all(chosen == ALL)
        self._draw()

    def _on_give(self, client: str) -> None:
        self._gets_it.append(client)
        self._draw_clients()

    def _on_take(self, client: str) -> None:
        self._gets_it.remove(client)
        self._draw_clients()
        self._give.setFocus()

    def _on_switched(self, choice: Choice, on: bool) -> None:
        if choice.tool:
            self._choice.set_tool(choice.server, choice.tool, on)
        else:
            self._choice.set_server(choice.server, on)
        self._draw()

    def _on_row(self, choice: Choice) -> None:
        self._opened ^= {choice.server}
        self._draw()

    def _on_save(self) -> None:
        if self._save.isEnabled():
            self.show_problem(None)
            self._set_busy(True)
            name, content = self._name_now, self._choice.settings(self._description.text().strip())
            undo = partial(self._undone, name) if self._profile is None else None
            self.run(self._saved(name, content), then=self._page.read, toast=tr("The profile {name} is saved", name=name), undo=undo)

    async def _undone(self, name: str) -> None:
        """Removes a new profile, and gives back to its clients what they had."""
        for client in self._gets_it:
            await self.hub.views.set_client_profile(client, self._before[client])
        await self.hub.views.remove_profile(name)

    async def _saved(self, name: str, content: dict[str, object]) -> None:
        """Saves the profile under its name, which may be another one than before, and gives it to the chosen clients."""
        views, before = self.hub.views, self._profile.name if self._profile is not None else ""
        profiles = await views.get_profiles()
        if name != before and any(each.name == name for each in profiles):
            raise TooltrayError(tr("There is a profile {name} already", name=name), "", tr("Choose another name."))
        await views.set_profile(name, content)
        if before and name != before:
            await self._replace(before, name)
        self._profile = next((each for each in await views.get_profiles() if each.name == name), self._profile)  # if the rest fails
        for client in self._gets_it:
            await views.set_client_profile(client, name)
        self.close_requested.emit()

    async def _replace(self, before: str, name: str) -> None:
        """Removes the profile's old name, and gives the new one to the clients that had it, in one change."""
        document = await self.hub.settings.get_settings()
        clients = value_at(document.settings, "publish.clients")
        of_clients = clients.items() if isinstance(clients, Mapping) else ()
        users = {client: {"profile": name} for client, each in of_clients if isinstance(each, Mapping) and each.get("profile") == before}
        change = {"profiles": {before: None}, "publish": {"clients": users}} if users else {"profiles": {before: None}}
        await self.hub.settings.change_settings(change, document.revision)

    def _on_remove(self) -> None:
        if (profile := self._profile) is not None:
            self.show_problem(None)
            self._set_busy(True)
            self.run(self._removed(profile), then=self._page.read)

    async def _removed(self, profile: ProfileSnapshot) -> None:
        await remove_profile(self._page, profile)
        self.close_requested.emit()

    def _set_busy(self, is_busy: bool) -> None:
        self._save.setEnabled(not is_busy and bool(self._name_now))
        if self._profile is not None:
            self._remove.setEnabled(not is_busy)


async def remove_profile(page: "ClientsPage", profile: ProfileSnapshot) -> None:
    """Removes a profile, and offers to undo that; the page reads what is left."""
    await page.hub.views.remove_profile(profile.name)
    content: dict[str, object] = {"tools": {server: list(tools) for server, tools in profile.tools.items()}}
    if profile.servers is not None:
        content["servers"] = list(profile.servers)
    if profile.description:
        content["description"] = profile.description
    if profile.skills:
        content["skills"] = {server: list(skills) for server, skills in profile.skills.items()}
    toast = page.context.offer_undo(tr("The profile {name} is removed", name=profile.name))
    bring_back = partial(page.hub.views.set_profile, profile.name, content)
    toast.action_requested.connect(lambda: page.run(bring_back(), then=page.read))


def _free(name: str, taken: Sequence[str]) -> str:
    """Returns a name that no profile has."""
    names = (name, *(f"{name} {number}" for number in range(2, len(taken) + 3)))
    return next(each for each in names if each not in taken)


class ProfilesSheet(SheetView):
    """A sheet with all profiles.

    Args:
        page: undoes a removal after the sheet is closed.
    """

    def __init__(self, page: "ClientsPage") -> None:
        super().__init__(page.context, tr("Profiles"), LIST_WIDTH)
        self._page = page
        self._lines = column()
        fill(self.body, Label(self._theme, what_a_profile_is(), "body", "secondary", wrap=True), self._lines)
        self.add_button(tr("Close"), self.leave)
        self.set_first_focus(self.add_button(tr("New profile…"), lambda: page.open_profile(None), "primary", "plus"))

    async def read(self) -> None:
        """Reads the profiles, and which clients have them."""
        profiles, kinds = await self.hub.views.get_profiles(), await self.hub.views.get_client_modes()
        self._show(sorted(profiles, key=lambda profile: profile.name.casefold()), kinds)

    def _show(self, profiles: Sequence[ProfileSnapshot], kinds: Sequence[ClientModeSnapshot]) -> None:
        clear(self._lines)
        users = {profile.name: [client_title(kind) for kind in kinds if kind.profile == profile.name] for profile in profiles}
        add_lines(self._lines, (self._row(profile, users[profile.name]) for profile in profiles))
        if not profiles:
            self._lines.addWidget(Label(self._theme, tr("No profiles: every client gets everything."), "body", "muted", wrap=True))

    def _row(self, profile: ProfileSnapshot, clients: Sequence[str]) -> QWidget:
        widget, theme = QWidget(), self._theme
        words = fill(column(spacing=2), ElidedLabel(theme, profile.name, "strong"))
        if profile.description:
            words.addWidget(Label(theme, profile.description, "body", "secondary", wrap=True))
        words.addWidget(ElidedLabel(theme, profile_text(profile, clients), "caption", "muted"))
        line = fill(row(widget, margins=(0, 10, 0, 10), spacing=8), (words, 1))
        actions: tuple[tuple[str, str, Callable[[], object]], ...] = (
            (tr("Edit…"), tr("Edit {name}", name=profile.name), partial(self._page.open_profile, profile)),
            (tr("Duplicate…"), tr("Duplicate {name}", name=profile.name), partial(self._page.open_profile, profile, is_copy=True)),
            (tr("Remove"), tr("Remove {name}", name=profile.name), lambda: self.run(remove_profile(self._page, profile), then=self.read)),
        )
        for text, name, action in actions:
            variant = "danger" if action is actions[-1][2] else "secondary"
            button = Button(theme, text, variant, small=True, on_click=lambda _=False, action=action: action())
            button.setAccessibleName(name)
            line.addWidget(button)
        return widget
