"""A server's question to the user: a form to fill in, or a page to open; and the sheets over the window that show questions. The server's
name is at the top; everything else is the server's text. The sheet opens without a control in focus, so that what the user is typing
elsewhere answers nothing."""

from collections.abc import Sequence
from datetime import datetime

from PySide6.QtCore import QObject, Qt, QUrl, Signal
from PySide6.QtGui import QDesktopServices
from PySide6.QtWidgets import QHBoxLayout, QWidget

from tooltray.foundation.events import ElicitationAsked, ElicitationEnded
from tooltray.foundation.snapshots.questions import AnswerKind, ElicitationField, ElicitationSnapshot
from tooltray.ui.addresses import LOOPBACK, host_of, is_of_other_letters
from tooltray.ui.approval.approval_body import hint_line
from tooltray.ui.i18n import many, tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.icon import Icon
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.sheet import SheetFrame
from tooltray.ui.widgets.surface import Surface, column, fill, row
from tooltray.ui.zoom import px

WIDTH = 560


class QuestionPanel(SheetFrame):
    """A sheet with a server's question. `answered` carries the question's id, "accept", "decline" or "cancel", and a form's values."""

    answered = Signal(str, str, object)

    def __init__(self, context: PageContext, question: ElicitationSnapshot) -> None:
        from tooltray.ui.schema_form.schema_form import SchemaForm

        theme, name = context.theme, tr("{name} asks you something", name=question.server)
        super().__init__(theme, name, WIDTH)
        self._context, self.question = context, question
        self._is_settled = False
        self.form = SchemaForm(theme, schema_of(question.fields), is_question=True) if question.fields else None
        self._failure: Banner | None = None
        self.setFocusPolicy(Qt.FocusPolicy.ClickFocus)
        self.setAccessibleDescription(question.message)
        self._close_button.set_name(tr("Close without an answer"))
        self.title_line.insertWidget(0, Icon(theme, "message", 16, "accent.text", "surface.raised"))
        self.body.setSpacing(px(16))
        self._add_content()
        self._add_foot()
        self.set_first_focus(self)
        add_accept_keys(self, self._on_accept)

    def set_waiting(self, count: int) -> None:
        """Shows how many more questions wait."""
        self._more.setVisible(count > 0)
        self._more.setText(many(count, "1 more question waits", "{count} more questions wait"))

    def settle(self) -> None:
        """Marks the question as ended, so that closing the sheet sends no answer."""
        self._is_settled = True

    def on_closed(self) -> None:
        """Sends "cancel" to the server, since the sheet was closed without an answer."""
        self._answer("cancel")

    leave = on_closed  # the cross

    def show_no_browser(self) -> None:
        """Shows that the page could not be opened, with a button that copies its address."""
        if self._failure is None:
            text = tr("Copy the address and open it yourself.")
            copy = Button(self._theme, tr("Copy and continue"), small=True, on_click=self._on_copy)
            self._failure = Banner(self._theme, "warning", tr("No browser could be opened"), text, copy)
            self.body.addWidget(self._failure)

    def _add_content(self) -> None:
        if self.question.message:
            self.body.addWidget(Label(self._theme, self.question.message, wrap=True))
        text = tr("The server made this form and gets what you send. No form should ask for passwords or keys.")
        if self.question.mode == "url":
            self.body.addWidget(self._page())
            text = tr("Opens in your browser. Tooltray does not see what you type there.")
        elif self.form is not None:
            self.body.addWidget(self.form)
        self.body.addLayout(self._note("info", "muted", text))

    def _page(self) -> QWidget:
        url, theme = QUrl(self.question.url), self._theme
        icon = Icon(theme, "globe", 16, "text.secondary", "surface.sunken")
        host = fill(row(), icon, (ElidedLabel(theme, host_of(url), "heading", mode=Qt.TextElideMode.ElideLeft), 1))
        box = Surface(theme, "surface.sunken", "border", "m")
        lines = fill(column(box, margins=(14, 10, 14, 10), spacing=4), host, CodeLabel(theme, self.question.url, "secondary"))
        if url.scheme() == "http" and url.host() not in LOOPBACK:
            lines.addLayout(self._note("alert", "warning", tr("The connection is not encrypted: others can read along.")))
        if is_of_other_letters(url):
            text = tr("The name is written with letters that can look like others: is it the one you expect?")
            lines.addLayout(self._note("alert", "warning", text))
        return box

    def _note(self, icon: str, tone: str, text: str) -> QHBoxLayout:
        return hint_line(self._theme, icon, text, tone, behind="surface.raised")

    def _add_foot(self) -> None:
        theme, is_url = self._theme, self.question.mode == "url"
        until = f"{datetime.fromtimestamp(self.question.ends_at):%H:%M}"
        waits = Label(theme, tr("Waits until {time}", time=until), "caption", "muted", tabular=True)
        self._more = Label(theme, "", "caption", "secondary")
        self._more.hide()
        decline = Button(theme, tr("Decline"), heeds_enter=False, on_click=lambda: self._answer("decline"))
        words, icon = (tr("Open page"), "external") if is_url else (tr("Send"), "")
        accept = Button(theme, words, "primary", icon, heeds_enter=False, on_click=self._on_accept)
        accept.setToolTip("Ctrl+Enter")
        fill(self.buttons, (fill(column(), waits, self._more), 1), decline, accept)

    def _on_accept(self) -> None:
        if self.question.mode != "url":
            if self.form is None or self.form.check():
                self._answer("accept", (self.form.value if self.form is not None else None) or {})
        elif QDesktopServices.openUrl(QUrl(self.question.url)):
            self._answer("accept")
        else:
            self.show_no_browser()

    def _on_copy(self) -> None:
        self._context.copy(self.question.url, tr("The address is copied"))
        self._answer("accept")

    def _answer(self, action: str, content: dict[str, object] | None = None) -> None:
        if not self._is_settled:
            self._is_settled = True
            self.answered.emit(self.question.id, action, content)


def schema_of(fields: Sequence[ElicitationField]) -> dict[str, object]:
    """Returns the schema of the answers in a server's form."""
    required = [field.name for field in fields if field.is_required]
    return {"type": "object", "properties": {field.name: _schema_of(field) for field in fields}, "required": required}


LIMITS = {AnswerKind.TEXT: ("minLength", "maxLength"), AnswerKind.CHOICES: ("minItems", "maxItems")}


def _schema_of(field: ElicitationField) -> dict[str, object]:
    texts = {"title": field.title, "description": field.description, "format": field.format}
    schema: dict[str, object] = {name: text for name, text in texts.items() if text}
    options = [{"const": option.value, "title": option.title} for option in field.options]
    match field.kind:
        case AnswerKind.TEXT:
            schema["type"] = "string"
        case AnswerKind.CHOICE:
            schema["oneOf"] = options
        case AnswerKind.CHOICES:
            schema |= {"type": "array", "items": {"oneOf": options}, "uniqueItems": True}
        case AnswerKind.NUMBER | AnswerKind.INTEGER | AnswerKind.BOOLEAN:
            schema["type"] = field.kind.value
    for name, limit in zip(LIMITS.get(field.kind, ("minimum", "maximum")), (field.least, field.most), strict=True):
        if limit is not None:
            schema[name] = _plain(limit)
    if field.kind is AnswerKind.BOOLEAN or field.default is not None:
        schema["default"] = _plain(field.default) if field.kind is not AnswerKind.BOOLEAN else field.default is True
    return schema


def _plain(value: object) -> object:
    """Returns a value as its server wrote it: snapshots carry whole numbers as floats, and lists as tuples."""
    if isinstance(value, float) and value.is_integer():
        return int(value)
    return list(value) if isinstance(value, tuple) else value


class Questions(QObject):
    """The sheets with questions over the window, one at a time and the oldest first. A question waits while another sheet is open; one
    about a call that shows its questions itself is not shown here.
    """

    def __init__(self, context: PageContext, parent: QObject) -> None:
        super().__init__(parent)
        self._context = context
        self._waiting: list[ElicitationSnapshot] = []
        hub = context.hub
        hub.on(ElicitationAsked, self._on_asked, self)
        hub.on(ElicitationEnded, lambda news: self._drop(news.id), self)
        hub.snapshot_changed.connect(self._on_snapshot_changed)
        context.links.attempt_left.connect(self._on_attempt_left)
        context.sheets.freed.connect(self._show)
        context.sheets.replacing.connect(self._on_replacing)

    @property
    def _panel(self) -> QuestionPanel | None:
        panel = self._context.sheets.panel
        return panel if isinstance(panel, QuestionPanel) else None

    def _show(self) -> None:
        """Shows the oldest question, unless something else lies over the window, and closes one that has ended."""
        here = [question for question in self._waiting if question.attempt not in self._context.attempts]
        panel, sheet = self._panel, self._context.sheets.sheet
        if panel is not None and sheet is not None and (not here or panel.question.id != here[0].id):
            panel.settle()
            sheet.dismiss()
        elif panel is not None:
            panel.set_waiting(len(here) - 1)
        elif here and sheet is None:
            self._open(here[0], len(here) - 1)

    def _open(self, question: ElicitationSnapshot, count_behind: int) -> None:
        panel = QuestionPanel(self._context, question)
        panel.set_waiting(count_behind)
        panel.answered.connect(self._on_answered)
        sheet = self._context.sheets.open(panel, closes_outside=False)  # a stray click is no answer
        sheet.closed.connect(panel.on_closed)

    def _drop(self, id: str) -> None:
        """Removes a question that was answered or has ended; ignores an unknown one."""
        left = [question for question in self._waiting if question.id != id]
        if len(left) < len(self._waiting):
            self._waiting = left
            self._show()

    def _on_attempt_left(self, attempt: str) -> None:
        """Removes the questions of a call that has ended, which the engine is about to withdraw."""
        self._waiting = [question for question in self._waiting if question.attempt != attempt]
        self._show()

    def _on_asked(self, news: ElicitationAsked) -> None:
        self._waiting.append(news.question)
        self._show()

    def _on_snapshot_changed(self) -> None:
        if self._context.hub.snapshot is None and self._waiting:  # the engine is gone, and the servers with it
            self._waiting = []
            self._show()

    def _on_replacing(self) -> None:
        if (panel := self._panel) is not None:
            panel.settle()  # it is shown again afterwards

    def _on_answered(self, id: str, action: str, content: dict[str, object] | None) -> None:
        self._context.run(self._context.hub.questions.answer_elicitation(id, action, content))
        self._drop(id)
