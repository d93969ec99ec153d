"""A server's answer for the user to read: text, JSON as a tree, pictures, files and links. Nothing in it is run or fetched. However large
an answer is, only its beginning is laid out; the rest is shown after a click, or saved."""

import re
from collections.abc import Mapping, Sequence

from PySide6.QtCore import QSaveFile, Qt
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QFileDialog, QWidget

from tooltray.foundation.errors import Problem
from tooltray.ui.i18n import many, tr
from tooltray.ui.problem_words import sentences, title
from tooltray.ui.results.part_view import FIRST_SHOWN, PartView, size_words
from tooltray.ui.results.picture import decoded_base64
from tooltray.ui.results.result_parts import Part, as_json, parts_of, whole_text
from tooltray.ui.server_text import seen
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.page_frame import PageScroll
from tooltray.ui.widgets.surface import clear, column, row

FIRST_PARTS, MORE_PARTS = 20, 40  # widgets are made for each
ENDINGS = {"picture": "png", "audio": "wav", "file": "bin", "text": "txt", "json": "json"}


class ResultView(QWidget):
    """A view of an answer, empty until `show_result`, which takes a CallToolResult or the answer of a resource or a prompt."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme = theme
        self._result: Mapping[str, object] = {}
        self._parts: Sequence[Part] = ()
        self._shown = 0
        layout = column(self, spacing=8)
        layout.addWidget(self._make_bar())
        self._area = PageScroll(tr("Result"), margin=0, below=0)
        self._content = QWidget()
        self._lines = column(self._content, spacing=14)
        self._area.setWidget(self._content)
        layout.addWidget(self._area, 1)
        self.clear()

    @property
    def parts(self) -> Sequence[Part]:
        return self._parts

    def clear(self) -> None:
        """Shows nothing."""
        self._result, self._parts, self._shown = {}, (), 0
        clear(self._lines)
        self._bar.hide()

    def show_result(self, result: Mapping[str, object]) -> None:
        """Shows an answer; an error is marked."""
        self.clear()
        self._result, self._parts = result, parts_of(result)
        self._bar.show()
        is_error = result.get("isError") is True
        self._state.setVisible(is_error)
        self._about.setText(self._words())
        if isinstance(about := result.get("description"), str) and "messages" in result:
            self._lines.addWidget(Label(self._theme, seen(about[:FIRST_SHOWN]), "body", "secondary", wrap=True))
        self._add_parts(FIRST_PARTS)

    def show_problem(self, problem: Problem) -> None:
        """Shows a problem in place of an answer."""
        self.clear()
        self._lines.addWidget(Banner(self._theme, "error", title(problem), sentences(problem)))
        self._lines.addStretch(1)

    def _make_bar(self) -> QWidget:
        self._bar = QWidget()
        line = row(self._bar)
        self._state = Chip(self._theme, tr("The tool failed"), "error")
        line.addWidget(self._state)
        self._about = Label(self._theme, "", "caption", "muted", tabular=True)
        line.addWidget(self._about)
        line.addStretch(1)
        self._copied = Label(self._theme, "", "caption", "muted")
        line.addWidget(self._copied)
        for words, icon, slot in ((tr("Copy"), "copy", self.copy), (tr("Save as…"), "download", self._on_save)):
            button = Button(self._theme, words, "ghost", icon, small=True)
            button.clicked.connect(slot)
            line.addWidget(button)
        return self._bar

    def _words(self) -> str:
        if not self._parts:
            return tr("The answer is empty.")
        count = len(self._parts)
        size = sum(len(part.text) for part in self._parts)
        return " · ".join([many(count, "1 part", "{count} parts"), *([size_words(size)] if size else [])])

    def _add_parts(self, count: int) -> None:
        is_alone = len(self._parts) == 1
        for part in self._parts[self._shown : self._shown + count]:
            self._shown += 1
            view = PartView(self._theme, part, self._shown, is_alone=is_alone)
            view.save_requested.connect(self._save_part)
            self._lines.addWidget(view, 1 if is_alone and view.wants_room else 0)
        if self._shown < len(self._parts):
            more = Button(self._theme, tr("Show {count} more", count=min(MORE_PARTS, len(self._parts) - self._shown)), "link", small=True)
            more.clicked.connect(self._on_more)
            self._lines.addWidget(more)
        if not is_alone or self._parts[0].kind not in ("text", "json"):
            self._lines.addStretch(1)

    def _on_more(self) -> None:
        for _ in range(2):  # the stretch and the button
            item = self._lines.takeAt(self._lines.count() - 1)
            if item is not None and (widget := item.widget()) is not None:
                widget.hide()
                widget.deleteLater()
        self._add_parts(MORE_PARTS)

    def copy(self) -> None:
        """Copies the text to the clipboard, or without text everything as JSON."""
        QGuiApplication.clipboard().setText(whole_text(self._parts, self._result))
        self._copied.setText(tr("Copied"))

    def _on_save(self) -> None:
        if len(self._parts) == 1:
            self._save_part(self._parts[0])
        else:
            self._ask_where("result.json", as_json(self._result).encode("utf-8", "replace"))

    def _save_part(self, part: Part) -> None:
        if part.kind in ("text", "json"):
            text = part.text or as_json(part.value)
            self._ask_where(f"result.{_ending(part)}", text.encode("utf-8", "replace"))
        elif part.kind == "link":
            self._ask_where("result.json", as_json(self._result).encode("utf-8", "replace"))
        elif (content := decoded_base64(part.text)) is not None:
            self._ask_where(f"result.{_ending(part)}", content)

    def _ask_where(self, name: str, content: bytes) -> None:
        dialog = QFileDialog(self.window(), tr("Save the result"))
        dialog.setAttribute(Qt.WidgetAttribute.WA_DeleteOnClose)
        dialog.setAcceptMode(QFileDialog.AcceptMode.AcceptSave)
        dialog.selectFile(name)
        dialog.fileSelected.connect(lambda path: self.save(path, content))
        dialog.open()

    def save(self, path: str, content: bytes) -> None:
        """Writes a file, whole or not at all, and shows the outcome."""
        file = QSaveFile(path)
        is_written = file.open(QSaveFile.OpenModeFlag.WriteOnly) and file.write(content) == len(content) and file.commit()
        self._copied.setText(tr("Saved") if is_written else tr("Could not be saved: {reason}", reason=file.errorString()))


def _ending(part: Part) -> str:
    """Returns the ending of a file's name: the subtype of the server's MIME type, if it is a plain word."""
    if part.kind in ("text", "json"):
        return "md" if part.mime == "text/markdown" else ENDINGS[part.kind]
    kind = part.mime.rpartition("/")[2].lower()
    return {"jpeg": "jpg", "mpeg": "mp3"}.get(kind, kind) if re.fullmatch(r"[a-z0-9]{2,5}", kind) else ENDINGS[part.kind]
