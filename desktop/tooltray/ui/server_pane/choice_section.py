"""The files and hosts that a server may reach: the choices, and the lists of what the user names. Each applies at once. Draws a frozen
snapshot."""

from collections.abc import Callable, Sequence
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.confinement import ConfinementSnapshot, ConfinementSupport
from tooltray.foundation.snapshots.servers import ServerSnapshot
from tooltray.ui.confinement_words import FILES, NETWORKS, files_text, files_title, in_full, network_text, network_title
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.problem_words import in_a_row, sentences, title, whole
from tooltray.ui.schema_form.leaves import text_line
from tooltray.ui.server_pane.server_view import AccessSection
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, add_gap, clear, column, row
from tooltray.ui.zoom import px

READ, WRITE = "read", "write"
HEIGHT = 34  # px, of a line of a list


class ChoiceSection(AccessSection):
    def __init__(self, context: PageContext, name: str) -> None:
        super().__init__(context, name)
        self._now = ConfinementSnapshot()
        self._is_of_host = False  # what was asked for last
        self._support = ConfinementSupport(files=True, network=True, hosts=True)
        self.body.addLayout(self.notes)
        self._add_files()
        add_gap(self.body, 8)
        self._add_network()
        self._draw()
        self.reading(self._read_support)()

    def set_server(self, server: ServerSnapshot) -> None:
        self._now = server.confinement or ConfinementSnapshot()
        self._draw()

    def _add_files(self) -> None:
        theme = self._theme
        self.body.addWidget(Label(theme, tr("Files"), "strong"))
        self._files = OptionList(theme, [(each, files_title(each)) for each in FILES], name=tr("Files"), may_be_empty=False)
        self._files.changed.connect(self._on_files)
        self.body.addWidget(self._files)
        self._files_text = Label(theme, "", "caption", "muted", wrap=True)
        self.body.addWidget(self._files_text)
        self._folders = NamedList(theme, tr("No folders named yet."), self._on_folder_removed)
        self.body.addWidget(self._folders)
        self._folder_buttons = QWidget()
        line = row(self._folder_buttons, spacing=8)
        self._add_button(line, tr("Let it read a folder"), READ)
        self._write_button = self._add_button(line, tr("Let it change a folder"), WRITE)
        line.addStretch(1)
        self.body.addWidget(self._folder_buttons)

    def _add_button(self, line: QHBoxLayout, text: str, kind: str) -> Button:
        button = Button(self._theme, text, icon="folder", small=True)
        button.clicked.connect(lambda: self.context.choose_folder(text, lambda path: self._on_folder(kind, path)))
        line.addWidget(button)
        return button

    def _add_network(self) -> None:
        theme = self._theme
        self.body.addWidget(Label(theme, tr("Network"), "strong"))
        self._network = OptionList(theme, [(each, network_title(each)) for each in NETWORKS], name=tr("Network"), may_be_empty=False)
        self._network.changed.connect(self._on_network)
        self.body.addWidget(self._network)
        self._network_text = Label(theme, "", "caption", "muted", wrap=True)
        self.body.addWidget(self._network_text)
        self._hosts = NamedList(theme, tr("No hosts added: no network access."), self._on_host_removed)
        self.body.addWidget(self._hosts)
        self._host_notes = column()
        self.body.addLayout(self._host_notes)
        self._host_line = QWidget()
        line = row(self._host_line, spacing=8)
        self._host = text_line(theme, tr("Host that it may reach"), placeholder="api.example.org", font="mono")
        self._host.returnPressed.connect(self._on_host)
        line.addWidget(self._host, 1)
        add = Button(theme, tr("Allow"))
        add.setAccessibleName(tr("Allow this host"))
        add.clicked.connect(self._on_host)
        line.addWidget(add)
        self.body.addWidget(self._host_line)

    def _draw(self) -> None:
        now = self._now
        self._files.set_chosen([now.files])
        self._files_text.setText(files_text(now.files))
        kept = now.files != "open"
        writes = tr("read") if now.files == "read" else tr("read and change")
        names = [*((path, WRITE, writes) for path in now.write), *((path, READ, tr("read")) for path in now.read)]
        self._folders.set_names(names)
        self._folders.setVisible(kept)
        self._folder_buttons.setVisible(kept)
        self._write_button.setVisible(now.files == "own")
        self._network.set_chosen([now.network])
        self._network_text.setText(network_text(now.network))
        self._hosts.set_names([(host, "", "") for host in now.hosts])
        self._hosts.setVisible(now.network == "hosts")
        self._host_line.setVisible(now.network == "hosts")
        self._draw_notes(None)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows a failure beside what it is about, and the choices as they are; None removes it."""
        if problem is not None:
            self._draw()
        self._draw_notes(problem)

    def _draw_notes(self, problem: Problem | None) -> None:
        clear(self.notes)
        clear(self._host_notes)
        if problem is not None:
            place = self._host_notes if self._is_of_host else self.notes  # above the field that it is about
            place.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))
        missing = self._now.missing or (() if self._support.files else self._support.missing)
        if missing:
            is_less = self._now.is_in_vain or not self._support.files
            heading = tr("This computer cannot sandbox it") if is_less else tr("What to know about it")
            self.notes.addWidget(Banner(self._theme, "warning", heading, in_a_row(*(whole(Problem(each)) for each in missing))))

    def _choose(self, wanted: ConfinementSnapshot, *, is_of_host: bool = False) -> None:
        self._is_of_host = is_of_host
        self.run(self._chosen(wanted, self._now))

    async def _chosen(self, wanted: ConfinementSnapshot, before: ConfinementSnapshot) -> None:
        words = in_full(await self.confine(wanted)).partition("\n")[0]
        self.context.offer_undo(tr("{server}: {words}", server=self._name, words=words), partial(self.confine, before))
        self._host.clear()

    def _on_files(self) -> None:
        [files] = self._files.chosen
        self._choose(replace(self._now, files=files))

    def _on_network(self) -> None:
        [network] = self._network.chosen
        self._choose(replace(self._now, network=network))

    def _on_folder(self, kind: str, path: str) -> None:
        others = {READ: [each for each in self._now.read if each != path], WRITE: [each for each in self._now.write if each != path]}
        others[kind].append(path)
        self._choose(replace(self._now, read=tuple(others[READ]), write=tuple(others[WRITE])))

    def _on_folder_removed(self, path: str, kind: str) -> None:
        left = tuple(each for each in (self._now.read if kind == READ else self._now.write) if each != path)
        self._choose(replace(self._now, read=left) if kind == READ else replace(self._now, write=left))

    def _on_host(self) -> None:
        if host := self._host.text().strip():
            self._choose(replace(self._now, hosts=(*(each for each in self._now.hosts if each != host), host)), is_of_host=True)

    def _on_host_removed(self, host: str, _kind: str) -> None:
        self._choose(replace(self._now, hosts=tuple(each for each in self._now.hosts if each != host)))

    async def _read_support(self) -> None:
        self._support = await self.hub.confinement.get_confinement_support()
        self._network.set_enabled("hosts", self._support.hosts)
        self._draw_notes(None)


class NamedList(QWidget):
    """A list of folders or hosts, each with a button that removes it.

    Args:
        empty: the text while there are none.
        remove: called with the name to remove, and its kind.
    """

    def __init__(self, theme: Theme, empty: str, remove: Callable[[str, str], None]) -> None:
        super().__init__()
        self._theme, self._empty, self._remove = theme, empty, remove
        self._shown: Sequence[tuple[str, str, str]] | None = None
        self._box = Surface(theme)
        self._lines = column(self._box, margins=(12, 2, 6, 2))
        column(self).addWidget(self._box)

    def set_names(self, names: Sequence[tuple[str, str, str]]) -> None:
        """Shows other names, each with its kind and the text beside it."""
        if names == self._shown:
            return
        self._shown = names
        clear(self._lines)
        for name, kind, words in names:
            self._lines.addWidget(self._line(name, kind, words))
        if not names:
            empty = Label(self._theme, self._empty, "caption", "muted", wrap=True)
            empty.setMinimumHeight(px(HEIGHT))
            self._lines.addWidget(empty)

    def _line(self, name: str, kind: str, words: str) -> QWidget:
        widget = QWidget()
        widget.setFixedHeight(px(HEIGHT))
        line = row(widget, spacing=8)
        line.addWidget(ElidedLabel(self._theme, name, "mono", mode=Qt.TextElideMode.ElideMiddle), 1)
        if words:
            line.addWidget(Label(self._theme, words, "caption", "muted"))
        remove = IconButton(self._theme, "x", tr("Take {name} away", name=name), small=True)
        remove.clicked.connect(lambda: self._remove(name, kind))
        line.addWidget(remove)
        return widget
