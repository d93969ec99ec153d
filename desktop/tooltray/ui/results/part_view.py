"""One part of an answer: long text, JSON as a tree or as text, Markdown, a picture, a file, a link; each view is built when it is first
shown."""

import re
from collections.abc import Callable

from PySide6.QtCore import Qt, Signal
from PySide6.QtGui import QGuiApplication
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.ui.i18n import tr
from tooltray.ui.results.json_tree import JsonTree
from tooltray.ui.results.picture import Picture, PictureFile, decode, decoded_base64, look_at
from tooltray.ui.results.result_parts import Part, as_json
from tooltray.ui.server_text import broken, seen
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.label import ElidedLabel, Label
from tooltray.ui.widgets.markdown_view import MarkdownView
from tooltray.ui.widgets.surface import Surface, column, row
from tooltray.ui.zoom import px

FIRST_SHOWN = 60_000  # characters of a text: 20 ms to lay out
MORE_SHOWN = 250_000  # by one press; 50 ms
MOST_SHOWN = 3_000_000  # then it is for an editor, and can be saved
MOST_LINES = 24  # of one part among several; more scroll inside it
PICTURE_HEIGHT = 480  # px
MARKDOWN_SIGNS = re.compile(r"^(?:#{1,6} |[-*] |\d+\. |```|> |\|.*\|)", re.MULTILINE)


class LongText(QWidget):
    """A text in mono that wraps; shows its beginning first."""

    def __init__(self, theme: Theme, text: str, name: str, *, is_alone: bool) -> None:
        super().__init__()
        self._text, self._shown, self._is_alone = text, min(len(text), FIRST_SHOWN), is_alone
        layout = column(self, spacing=6)
        self._view = CodeView(theme, broken(seen(text[: self._shown])), name)
        self._view.setLineWrapMode(CodeView.LineWrapMode.WidgetWidth)
        layout.addWidget(self._view, 1)
        self._rest = QWidget()
        line = row(self._rest)
        self._words = Label(theme, "", "caption", "muted", tabular=True)
        self._more = Button(theme, tr("Show more"), "link", small=True)
        self._more.clicked.connect(self.show_more)
        line.addWidget(self._words)
        line.addWidget(self._more)
        line.addStretch(1)
        layout.addWidget(self._rest)
        if not is_alone:
            self._view.set_lines(min(MOST_LINES, max(2, text.count("\n", 0, FIRST_SHOWN) + 1 + len(text[:FIRST_SHOWN]) // 90)))
        self._draw_rest()

    @property
    def shown(self) -> int:
        """How many characters of the text are shown."""
        return self._shown

    def show_more(self) -> None:
        """Shows the next stretch of the text."""
        more = self._text[self._shown : min(self._shown + MORE_SHOWN, MOST_SHOWN)]
        self._shown += len(more)
        cursor = self._view.textCursor()
        cursor.movePosition(cursor.MoveOperation.End)
        cursor.insertText(broken(seen(more)))
        self._draw_rest()

    def _draw_rest(self) -> None:
        shown, count = f"{self._shown:,}", f"{len(self._text):,}"
        if self._shown >= MOST_SHOWN:
            self._words.setText(tr("The first {shown} of {count} characters. Save it to see the rest.", shown=shown, count=count))
        else:
            self._words.setText(tr("The first {shown} of {count} characters.", shown=shown, count=count))
        self._rest.setVisible(self._shown < len(self._text))
        self._more.setVisible(self._shown < min(len(self._text), MOST_SHOWN))


class PartView(QWidget):
    """A part with its heading, and a choice of views of its content. Each view is built when it is first shown.

    Args:
        is_alone: it is the only part, and may use the full height.
    """

    save_requested = Signal(object)  # Part

    def __init__(self, theme: Theme, part: Part, number: int, *, is_alone: bool) -> None:
        super().__init__()
        self._theme, self._part, self._is_alone = theme, part, is_alone
        self._name = part.heading or tr("Part {number} of the result", number=number)
        layout = self._layout = column(self, spacing=6)
        self._ways = self._possible_ways()
        self._built: dict[int, QWidget] = {}
        head = self._head()
        if head is not None:
            layout.addLayout(head)
        self._choose(self._first_way())

    @property
    def wants_room(self) -> bool:
        """Whether it uses all the height that it can get."""
        return self._part.kind in ("text", "json")

    def _possible_ways(self) -> list[str]:
        if self._part.kind == "json":
            return ["tree", "text"]
        return ["text", "markdown"] if self._part.kind == "text" and self._looks_marked_up() else ["only"]

    def _looks_marked_up(self) -> bool:
        return self._part.mime == "text/markdown" or MARKDOWN_SIGNS.search(self._part.text[:FIRST_SHOWN]) is not None

    def _first_way(self) -> int:
        return 1 if self._part.mime == "text/markdown" else 0

    def _head(self) -> QHBoxLayout | None:
        if not self._part.heading and len(self._ways) == 1:
            return None
        line = row(spacing=8)
        line.addWidget(ElidedLabel(self._theme, self._part.heading, "caption_strong", "secondary", mode=Qt.TextElideMode.ElideMiddle), 1)
        if len(self._ways) > 1:
            titles = {"tree": tr("Tree"), "text": tr("Text"), "markdown": tr("Markdown")}
            name = tr("How to show {name}", name=self._name)
            tabs = FilterTabs(self._theme, [titles[way] for way in self._ways], name=name, have_counts=False)
            tabs.choose(self._first_way())
            tabs.chosen.connect(self._choose)
            line.addWidget(tabs)
        return line

    def _choose(self, way: int) -> None:
        if way not in self._built:
            make = {"tree": self._tree, "markdown": self._markdown, "text": self._text, "only": self._only}[self._ways[way]]
            self._built[way] = make()
            self._layout.addWidget(self._built[way], 1)
        for each, widget in self._built.items():
            widget.setVisible(each == way)

    def _tree(self) -> QWidget:
        tree = JsonTree(self._theme, self._name)
        tree.set_value(self._part.value)
        if not self._is_alone:
            tree.setFixedHeight(tree.content_height(MOST_LINES))
        return tree

    def _markdown(self) -> QWidget:
        view = MarkdownView(self._theme, self._name)
        view.set_markdown(self._part.text)
        if not self._is_alone:
            view.setMinimumHeight(px(160))
        return view

    def _text(self) -> QWidget:
        text = self._part.text if self._part.kind == "text" else as_json(self._part.value)
        return LongText(self._theme, text, self._name, is_alone=self._is_alone)

    def _only(self) -> QWidget:
        match self._part.kind:
            case "text":
                return self._text()
            case "link":
                return self._link()
            case _:
                return FilePart(self._theme, self._part, self._name, self._on_save)

    def _link(self) -> QWidget:
        box = Surface(self._theme, "surface.sunken", "border", "m")
        line = row(box, margins=(12, 8, 8, 8))
        line.addWidget(Icon(self._theme, "link", 16, "text.secondary", "surface.sunken"))
        words = column()
        words.addWidget(ElidedLabel(self._theme, seen(self._part.text), "mono", mode=Qt.TextElideMode.ElideMiddle))
        if about := " · ".join(filter(None, [self._part.mime, self._part.note])):
            words.addWidget(ElidedLabel(self._theme, about, "caption", "muted"))
        line.addLayout(words, 1)
        copy = IconButton(self._theme, "copy", tr("Copy the address"), small=True)
        copy.clicked.connect(self._on_copy)
        line.addWidget(copy)
        return box

    def _on_copy(self) -> None:
        QGuiApplication.clipboard().setText(self._part.text)

    def _on_save(self) -> None:
        self.save_requested.emit(self._part)


class FilePart(QWidget):
    """A picture, a sound or another file: the picture itself where it can be shown, and the file's facts."""

    def __init__(self, theme: Theme, part: Part, name: str, save: Callable[[], object]) -> None:
        super().__init__()
        self._theme, self._name = theme, name
        self._layout = column(self, spacing=6)
        content = decoded_base64(part.text)
        file = look_at(content) if part.kind == "picture" and content is not None else None
        self._file = file
        words = {"picture": tr("Picture"), "audio": tr("Audio")}.get(part.kind, tr("File"))
        facts = [words, part.mime, *(_sides(file) if file else []), size_words(len(content)) if content is not None else tr("damaged")]
        line = row()
        line.addWidget(Icon(theme, "image" if part.kind == "picture" else "log", 16, "text.secondary"))
        line.addWidget(ElidedLabel(theme, " · ".join(filter(None, facts)), "caption", "secondary"), 1)
        self._show = Button(theme, tr("Show picture"), small=True)
        self._show.clicked.connect(self._decode)
        self._show.hide()
        line.addWidget(self._show)
        button = Button(theme, tr("Save as…"), small=True)
        button.setEnabled(content is not None)
        button.clicked.connect(save)
        line.addWidget(button)
        self._layout.addLayout(line)
        if file is not None and file.problem:
            self._layout.addWidget(Label(theme, file.problem, "caption", "warning", wrap=True))
        elif file is not None and file.is_small:
            self._decode()
        elif file is not None:
            self._show.show()

    def _decode(self) -> None:
        self._show.hide()
        image = decode(self._file) if self._file is not None else None
        if image is None:
            self._layout.addWidget(Label(self._theme, tr("It is damaged."), "caption", "warning"))
        else:
            self._layout.addWidget(Picture(self._theme, image, self._name, most_height=PICTURE_HEIGHT))


def _sides(file: PictureFile) -> list[str]:
    return [f"{file.width:,} × {file.height:,}"] if file.width else []


def size_words(count: int) -> str:
    """Returns a size with its unit."""
    if count < 1_000:
        return tr("{count} bytes", count=count)
    return f"{count / 1_000:.3g} kB" if count < 1_000_000 else f"{count / 1_000_000:.3g} MB"
