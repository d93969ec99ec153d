"""The sheet about why a server does not run: the diagnosis, and the remedies, most promising first."""

from collections.abc import Callable, Iterable
from functools import partial
from itertools import starmap

from PySide6.QtCore import Qt
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.diagnosis import Diagnosis, Remedy
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.i18n import tr
from tooltray.ui.kit.destinations import OpenServer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.link.qt_mcp_client import QtMcpClient
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.label import CodeLabel, Label
from tooltray.ui.widgets.setting_rows import lines_box
from tooltray.ui.widgets.surface import clear, column, fill, row
from tooltray.ui.zoom import px

WIDTH = 680
NAME_COLUMN = 110
STDERR_LINES = 6


class WhySheet(SheetView):
    """A sheet about why a server does not run; it goes with its server.

    Args:
        open_log: opens the server's log at a time in unix seconds, 0: at its end.
    """

    def __init__(self, context: PageContext, client: QtMcpClient, open_log: Callable[[float], object]) -> None:
        super().__init__(context, tr("Why does {name} not run?", name=client.name), WIDTH)
        theme, self._client, self._open_log = context.theme, client, open_log
        client.setParent(self)
        client.removed.connect(self.close_requested)
        self._done = column()
        self._found = column(spacing=12)
        fill(self.body, self._done, self._found)
        self._found.addWidget(Label(theme, tr("Looking into it…"), "body", "muted"))
        log = Button(theme, tr("Show log"), icon="log", on_click=self._on_log)
        edit = Button(theme, tr("Edit"), icon="edit", on_click=self._on_edit)
        edit.setAccessibleName(tr("Edit {name}", name=client.name))
        fill(self.buttons, log, edit, 1)
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
        label.setFixedWidth(px(NAME_COLUMN))
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
