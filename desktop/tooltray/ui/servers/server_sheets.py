"""The sheets of a server: its name and that of its copy, the address of a sign-in, a secret that it lacks, links that add it to AI clients,
its options, which apply at once, and why it does not run."""

from collections.abc import Callable, Coroutine, Iterable, Mapping
from functools import partial
from itertools import starmap
from typing import NamedTuple

from PySide6.QtCore import Qt, QUrl
from PySide6.QtGui import QDesktopServices, QShowEvent
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.diagnosis import Diagnosis, Remedy
from tooltray.foundation.snapshots.servers import ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import ServerCost
from tooltray.ui.add.server_review import LONGEST_NAME
from tooltray.ui.figures import default_tokens
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import OpenServer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.link.qt_mcp_client import QtMcpClient
from tooltray.ui.origins import change_there, is_of_file
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.settings.secret_sheets import SecretEntry
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, Switch
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.setting_rows import lines_box, text_line
from tooltray.ui.widgets.surface import clear, column, divider, fill, row
from tooltray.ui.zoom import px

NARROW, WIDTH, WIDE = 480, 520, 560  # px


class Naming(NamedTuple):
    """The words of a NameSheet."""

    title: str
    label: str
    about: str
    button: str


def duplicating(server: str) -> Naming:
    """Returns the words for a copy: for another account of the same service, or for the same program with other arguments."""
    text = tr("It has the same settings, rules and secrets, and starts when it is used. Its settings open next, for an account of its own.")
    return Naming(tr("Duplicate {name}", name=server), tr("Name of the copy"), text, tr("Duplicate"))


def renaming(server: str) -> Naming:
    """Returns the words for another name of a server."""
    text = tr(
        "All that it has stays: settings, permissions, its place in profiles. If it runs, it restarts. Its history keeps the old name."
    )
    return Naming(tr("Rename {name}", name=server), tr("New name"), text, tr("Rename"))


class NameSheet(SheetView):
    """A sheet for the name of a server's copy, or another name of the server itself.

    Args:
        name: in the field at first.
        work: does it with the name that the user has chosen.
    """

    def __init__(self, context: PageContext, words: Naming, name: str, work: Callable[[str], Coroutine[object, object, None]]) -> None:
        super().__init__(context, words.title, NARROW)
        theme, self._name, self._work = context.theme, name, work
        self._taken = frozenset(each.name for each in context.servers.servers)
        self._field = text_line(theme, words.label)
        self._field.setText(name)
        self._field.setMaxLength(LONGEST_NAME)
        self._field.textChanged.connect(self._draw)
        self._field.returnPressed.connect(self._on_go)
        self._note = Label(theme, "", "caption", "error", wrap=True)
        fill(
            self.body, Label(theme, words.label, "label"), self._field, self._note, Label(theme, words.about, "caption", "muted", wrap=True)
        )
        self.add_button(tr("Cancel"), self.leave)
        self._go = self.add_button(words.button, self._on_go, "primary")
        add_accept_keys(self, self._on_go)
        self.set_first_focus(self._field)
        self._draw()

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._field.selectAll()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why it was not done; the field keeps its content."""
        super().show_problem(problem)
        self._draw()

    def _draw(self) -> None:
        name = self._field.text().strip()
        self._note.setText(tr("There is a server of this name.") if name in self._taken and name != self._name else "")
        self._note.setVisible(bool(self._note.text()))
        self._go.setEnabled(bool(name) and name not in self._taken)

    def _on_go(self) -> None:
        if self._go.isEnabled():
            self._go.setEnabled(False)  # once
            self.run(self._named(self._field.text().strip()))

    async def _named(self, name: str) -> None:
        await self._work(name)
        self.close_requested.emit()


class SignInAddressSheet(SheetView):
    """A sheet with the address of a sign-in, where no browser could be opened."""

    def __init__(self, context: PageContext, server: str, url: str) -> None:
        super().__init__(context, tr("Sign in to {name}", name=server), WIDE)
        theme, self.server = context.theme, server
        text = tr("Open this address in a browser on this computer. Tooltray waits for you to sign in there.")
        field = text_line(theme, tr("Address at which you sign in to {name}", name=server), style="mono")
        field.setText(url)
        field.setReadOnly(True)
        field.setCursorPosition(0)
        fill(self.body, Banner(theme, "warning", tr("No browser could be opened"), text), field)
        self.add_button(tr("Close"), self.leave)
        copy = partial(context.copy, url, tr("The address is copied"))
        self.set_first_focus(self.add_button(tr("Copy address"), copy, "primary", "copy"))


class SecretSheet(SheetView):
    """A sheet for a secret that a server lacks; the server starts as soon as the secret is stored."""

    def __init__(self, context: PageContext, server: str, secret: str) -> None:
        super().__init__(context, tr("A secret for {name}", name=server), WIDTH)
        self._server = server
        text = tr("Its settings name this secret, and none is stored. The server starts as soon as it is.")
        entry = SecretEntry(context, secret)
        entry.stored.connect(self._on_stored)
        fill(self.body, Label(context.theme, text, "body", "secondary", wrap=True), CodeLabel(context.theme, secret), entry)
        self.add_button(tr("Cancel"), self.leave)
        self.set_first_focus(entry)

    def _on_stored(self) -> None:
        self.close_requested.emit()
        self.context.say(tr("The secret is stored; {name} starts", name=self._server))


class AddToSheet(SheetView):
    """A sheet with links that add a server to AI clients: a client opens its link and asks the user itself."""

    def __init__(self, context: PageContext, server: str) -> None:
        super().__init__(context, tr("Add {name} to an AI client", name=server), WIDTH)
        theme, self._server = context.theme, server
        text = tr("The client opens the link, asks you, and starts {name} itself. No secret is in the link.", name=server)
        self._place = fill(column(), Label(theme, tr("One moment…"), "caption", "muted"))
        fill(self.body, Label(theme, text, "body", "secondary", wrap=True), self._place)
        self.add_button(tr("Close"), self.leave)
        self.reading(self._read)()

    async def _read(self) -> None:
        links = await self.hub.servers.get_client_links(self._server)
        if not links:
            raise TooltrayError(tr("No AI client takes a link for it"), "", tr("Connect the client on the page Clients."))
        clear(self._place)
        self._place.addWidget(lines_box(self._theme, starmap(self._line, links.items()), "surface.raised"))

    def _line(self, client: str, link: str) -> QHBoxLayout:
        copy = Button(self._theme, tr("Copy"), small=True, on_click=partial(self.context.copy, link, tr("The link is copied")))
        copy.setAccessibleName(tr("Copy the link for {name}", name=client))
        follow = Button(self._theme, tr("Open"), small=True, on_click=partial(self._open, link))
        follow.setAccessibleName(tr("Open the link for {name}", name=client))
        return fill(row(margins=(0, 8, 0, 8), spacing=8), (Label(self._theme, client, "strong"), 1), copy, follow)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why there are no links."""
        clear(self._place)
        super().show_problem(problem)

    def _open(self, link: str) -> None:
        if not QDesktopServices.openUrl(QUrl(link)):
            self.context.copy(link, tr("Nothing opens this link here. It is copied."))


LINES = 5  # of the field; more scroll
NAME_COLUMN = 120
LAZY: Mapping[str, bool | None] = {"all": None, "lazy": True, "everything": False}


class OptionsSheet(SheetView):
    """A sheet with a server's options; it goes with its server."""

    def __init__(self, context: PageContext, server: ServerSnapshot, cost: ServerCost | None) -> None:
        super().__init__(context, tr("Options of {name}", name=server.name), WIDE)
        theme, self.server = context.theme, server
        self._template: list[str] | None = None  # for a project, where the settings have one apart from its arguments
        self._arguments: list[str] | None = None  # as the settings have them; None until they are known, or if it takes none
        self._own_lazy: bool | None = None  # as the settings have it
        options = [("all", tr("Default")), ("lazy", tr("Compact")), ("everything", tr("Full"))]
        self._lazy = OptionList(theme, options, name=tr("Tool listing"), may_be_empty=False)
        self._lazy.changed.connect(self._on_lazy)
        self._lazy.setEnabled(False)  # until it is known
        self._meaning = Label(theme, "", "caption", "muted", wrap=True)
        self._cost = Label(theme, "", "caption", "muted", wrap=True, tabular=True)
        fill(self.body, Label(theme, tr("Tool listing"), "label", wrap=True), self._lazy, self._meaning, self._cost)
        self._deferred = Switch(theme, tr("Wait for a project"), on=server.is_deferred)
        self._deferred.clicked.connect(lambda on: self._set_deferred(on, self._template if on else None))
        self._deferred.setEnabled(False)  # until its template is known, which is kept
        self._project = QWidget()
        self._add_template()
        waiting = QWidget()
        text = tr("It does not start with Tooltray, but once for each project folder that a client works in.")
        name = Label(theme, self._deferred.accessibleName(), "label", wrap=True)
        words = fill(column(spacing=2), name, Label(theme, text, "caption", "muted", wrap=True))
        fill(column(waiting, spacing=12), fill(row(spacing=16), (words, 1), self._deferred), self._project)
        fill(self.body, divider(), waiting)
        if is_of_file(server):
            waiting.hide()  # only the settings have arguments for a project
            self.body.addWidget(Label(theme, change_there(server), "caption", "muted", wrap=True))
        self.add_button(tr("Close"), self.leave)
        self.set_cost(cost)
        self._draw()
        context.servers.server_changed.connect(self._on_server_changed)
        context.servers.server_removed.connect(self._on_server_removed)
        self.reading(self._read)()

    async def _read(self) -> None:
        self._show_entry((await self.hub.servers.get_server_entry(self.server.name)).counts)

    def _on_server_changed(self, server: ServerSnapshot) -> None:
        """Shows a newer snapshot; the switches show the real values."""
        if server.name == self.server.name:
            self.server = server
            self._draw()

    def _on_server_removed(self, name: str) -> None:
        if name == self.server.name:
            self.close_requested.emit()

    def set_cost(self, cost: ServerCost | None) -> None:
        """Shows what the definitions of the server's tools cost; None: not known."""
        self._cost.setVisible(cost is not None and cost.tokens > 0)
        if cost is not None:
            tokens = default_tokens(cost.shown_tokens, cost.tokens)
            self._cost.setText(tr("{tokens} for a client with all tools of this server.", tokens=tokens))

    def _show_entry(self, entry: Mapping[str, object]) -> None:
        """Shows with which arguments of its entry the server starts for a project."""
        template = entry.get("startupArgsTemplate")
        self._template = _texts(template) if isinstance(template, list) else None
        arguments = entry.get("args") if self._template is None else self._template
        self._deferred.setEnabled(True)
        has_command, before = "command" in entry, self._arguments
        self._arguments = _texts(arguments) if has_command else None
        if self._arguments != before:  # else what a person is writing stays
            self._field.setPlainText("\n".join(self._arguments or ()))
        self._own_lazy = own_lazy_load(entry)
        if self._own_lazy is None:  # else nothing here says what counts for all servers
            self._lazy.set_title("all", tr("Default (compact)") if self.server.is_lazy else tr("Default (full)"))
        self._lazy.setEnabled(True)
        self._draw_lazy()
        self._with_arguments.setVisible(has_command)
        self._remote.setVisible(not has_command)
        self._on_edited()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why a change failed, and resets the switches; None hides it."""
        super().show_problem(problem)
        self._draw()

    def _add_template(self) -> None:
        theme = self._theme
        self._with_arguments = QWidget()
        name = tr("Arguments for a project, one on each line")
        self._field = CodeView(theme, "", name, lines=LINES, editable=True)
        self._field.textChanged.connect(self._on_edited)
        self._note = Label(theme, "", "caption", "muted", wrap=True)
        self._save = Button(theme, tr("Save arguments"), small=True, on_click=lambda: self._set_deferred(True, self._edited))
        foot = fill(row(), (self._note, 1), self._save)
        fill(column(self._with_arguments, spacing=8), Label(theme, name, "label"), self._field, foot)
        self._remote = Label(theme, tr("Its URL and headers can have these in them:"), "caption", "muted", wrap=True)
        self._remote.hide()
        path = _variable(theme, "{project_path}", tr("the folder of the project, its whole path"))
        project = _variable(theme, "{project_name}", tr("the name of the project, mostly the folder's"))
        fill(column(self._project, spacing=8), self._with_arguments, self._remote, path, project)

    @property
    def _edited(self) -> list[str]:
        """The arguments in the field, without empty lines."""
        return [line for line in self._field.toPlainText().splitlines() if line.strip()]

    def _draw(self) -> None:
        self._draw_lazy()
        self._deferred.set_on(self.server.is_deferred)
        self._project.setVisible(self.server.is_deferred)
        self._on_edited()

    def _draw_lazy(self) -> None:
        chosen = next(value for value, own in LAZY.items() if own is self._own_lazy)
        self._lazy.set_chosen([chosen] if self._lazy.isEnabled() else [])
        compact = tr("Clients see one small tool; using it loads the rest.")
        self._meaning.setText(compact if self.server.is_lazy else tr("Clients see all its tools from the start."))

    def _on_lazy(self) -> None:
        is_lazy = LAZY[self._lazy.chosen[0]]
        self.run(self.hub.views.set_lazy_load(is_lazy, self.server.name), then=self._read)

    def _on_edited(self) -> None:
        self._save.setEnabled(self._arguments is not None and self._edited != self._arguments)
        has_project = any(each in self._field.toPlainText() for each in ("{project_path}", "{project_name}"))
        self._note.setText(tr("One argument per line, without quotes.") if has_project else tr("Nothing in them names the project yet."))

    def _set_deferred(self, is_deferred: bool, template: list[str] | None) -> None:
        """Sets whether the server waits for a project, and with which arguments it starts for one; None: its `args`."""
        self.run(self.hub.projects.set_deferred(self.server.name, is_deferred, template), then=self._read)


def _texts(value: object) -> list[str]:
    """Returns the arguments in an entry; empty if the value is not a list."""
    return [str(each) for each in value] if isinstance(value, list | tuple) else []


def own_lazy_load(entry: Mapping[str, object]) -> bool | None:
    """Returns the choice in a server's own entry; None: the default."""
    options = entry.get("options")
    inner = options.get("lazyLoad") if isinstance(options, Mapping) else None
    own = entry.get("lazyLoad", inner)
    return own if isinstance(own, bool) else None


def _variable(theme: Theme, placeholder: str, text: str) -> QHBoxLayout:
    code = Label(theme, placeholder, "mono")
    code.setFixedWidth(px(NAME_COLUMN))
    return fill(row(spacing=8), code, (Label(theme, text, "caption", "secondary", wrap=True), 1))


WHY_WIDTH = 680
FACT_COLUMN = 110
STDERR_LINES = 6


class WhySheet(SheetView):
    """A sheet about why a server does not run; it goes with its server.

    Args:
        open_log: opens the server's log at a time in unix seconds, 0: at its end.
    """

    def __init__(self, context: PageContext, client: QtMcpClient, open_log: Callable[[float], object]) -> None:
        super().__init__(context, tr("Why does {name} not run?", name=client.name), WHY_WIDTH)
        theme, self._client, self._open_log = context.theme, client, open_log
        client.setParent(self)
        client.removed.connect(self.close_requested)
        self._done = column()
        self._found = column(spacing=12)
        fill(self.body, self._done, self._found)
        self._found.addWidget(Label(theme, tr("Looking into it…"), "body", "muted"))
        log = Button(theme, tr("Show log"), icon="log", on_click=self._on_log)
        self._edit = Button(theme, tr("Edit"), icon="edit", on_click=self._on_edit)
        self._edit.setAccessibleName(tr("Edit {name}", name=client.name))
        fill(self.buttons, log, self._edit, 1)
        self._close = self.add_button(tr("Close"), self.leave)
        self.set_first_focus(self._close)
        self.reading(self._read)()

    async def _read(self) -> None:
        try:
            found = await self._client.diagnose()
        finally:
            if self.is_there:
                clear(self._found)
        if found is not None:
            self._show(found)
        if not self._found.count():
            self._found.addWidget(Label(self._theme, tr("No cause found."), "body", "muted"))

    def _show(self, found: Diagnosis) -> None:
        if found.problem is not None:
            self._found.addWidget(Banner(self._theme, "error", title(found.problem), sentences(found.problem)))
        elif found.is_ok:
            self._found.addWidget(Banner(self._theme, "info", tr("Nothing is wrong with it now"), ""))
        only_edited = found.problem is not None and all(remedy.kind == "start" for remedy in found.remedies)  # which fails again
        self._edit.set_variant("primary" if only_edited else "secondary")
        if found.remark:  # such as secrets that it usually needs and does not get
            self._found.addWidget(Label(self._theme, sentences(Problem("", found.remark)), "body", wrap=True))
        if found.remedies:
            self._add_box(tr("How to fix it"), map(self._remedy, found.remedies))
        if facts := _facts(found):
            self._add_box(tr("What was found"), starmap(self._fact, facts))
        if found.stderr:
            self._found.addWidget(Label(self._theme, tr("Its last lines"), "strong"))
            name = tr("Lines that {name} wrote", name=self._client.name)
            self._found.addWidget(CodeView(self._theme, "\n".join(found.stderr), name, lines=min(len(found.stderr), STDERR_LINES)))

    def _add_box(self, title: str, lines: Iterable[QHBoxLayout]) -> None:
        fill(self._found, Label(self._theme, title, "strong"), lines_box(self._theme, lines, margin=4))

    def _remedy(self, remedy: Remedy) -> QHBoxLayout:
        words = fill(column(spacing=2), Label(self._theme, _sentence(remedy.title), "label", wrap=True))
        if remedy.value and remedy.kind != "store_secret":
            words.addWidget(CodeLabel(self._theme, remedy.value, "secondary"))
        line = fill(row(margins=(0, 8, 0, 8), spacing=12), (words, 1))
        if (button := self._remedy_button(remedy)) is not None:
            line.addWidget(button)
        return line

    def _remedy_button(self, remedy: Remedy) -> QWidget | None:
        if remedy.is_automatic or remedy.kind == "sign_in":
            button = Button(self._theme, _verb(remedy.kind), small=True, on_click=partial(self._on_remedy, remedy))
        elif remedy.kind == "store_secret":
            button = Button(self._theme, tr("Enter it"), small=True, icon="key", on_click=partial(self._on_secret, remedy))
        elif remedy.value:
            button = Button(self._theme, tr("Copy"), icon="copy", small=True)
            button.clicked.connect(partial(self.context.copy, remedy.value, tr("Copied")))
        else:
            return None
        button.setAccessibleName(f"{button.text()}, {_sentence(remedy.title)}")
        return button

    def _fact(self, name: str, value: str) -> QHBoxLayout:
        line, label = row(margins=(0, 6, 0, 6)), Label(self._theme, name, "caption", "muted")
        label.setFixedWidth(px(FACT_COLUMN))
        line.addWidget(label, 0, Qt.AlignmentFlag.AlignTop)
        return fill(line, (CodeLabel(self._theme, value), 1))

    def _on_remedy(self, remedy: Remedy) -> None:
        if remedy.kind == "sign_in":
            self.context.wishes.sign_in_requested.emit(self._client.name)
            self.close_requested.emit()
        else:
            self._set_enabled(False)  # one at a time
            self.run(self._apply(remedy))

    async def _apply(self, remedy: Remedy) -> None:
        self.show_problem(None)
        clear(self._done)
        try:
            said = await self._client.apply_remedy(remedy.kind, remedy.value)
        finally:
            if self.is_there:
                self._set_enabled(True)
        self._done.addWidget(Banner(self._theme, "info", _sentence(said), ""))
        self._close.setFocus(Qt.FocusReason.OtherFocusReason)
        await self._read()

    def _set_enabled(self, is_enabled: bool) -> None:
        if (content := self._found.parentWidget()) is not None:
            content.setEnabled(is_enabled)

    def _on_edit(self) -> None:
        self.close_requested.emit()
        self.context.go(OpenServer(self._client.name, "settings"))

    def _on_secret(self, remedy: Remedy) -> None:
        self.close_requested.emit()
        name = str(remedy.title.fields["name"]) if isinstance(remedy.title, Phrase) else ""
        self.context.wishes.secret_requested.emit(self._client.name, name)

    def _on_log(self) -> None:
        server = self._client.snapshot
        self._open_log(server.since if server is not None and server.state is ServerState.ERROR else 0.0)


def _facts(found: Diagnosis) -> list[tuple[str, str]]:
    facts: list[tuple[str, str]] = [
        (tr("Command"), " ".join(found.command)),
        (tr("Found at"), found.resolved_command),
        (tr("Looked in"), "" if found.resolved_command else ", ".join(found.searched)),
        (tr("PATH"), found.path),
        (tr("Folder"), found.cwd),
        (tr("Flaws"), "\n".join(found.flaws)),
        (tr("Exit code"), "" if found.exit_code is None else str(found.exit_code)),
        (tr("Odd lines"), tr("{count} on its output are not MCP messages", count=found.noise_lines) if found.noise_lines else ""),
    ]
    return [(name, value) for name, value in facts if value]


def _verb(kind: str) -> str:
    words = {
        "use_absolute_path": tr("Use the full path"),
        "switch_registry": tr("Switch registry"),
        "add_to_path": tr("Add to PATH"),
        "sign_in": tr("Sign in"),
        "switch_on": tr("Switch on"),
        "start": tr("Start"),
    }
    return words.get(kind) or tr("Do it")


def _sentence(text: str) -> str:
    return title(Problem(text))
