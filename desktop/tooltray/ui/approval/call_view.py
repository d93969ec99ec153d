"""A tool call that waits for the user's approval, with its answers: CallView; and the window and the sheet that have it, the sheet for the
list of what waits. Enter allows nothing; Ctrl+Enter allows once, a moment after it was opened."""

import asyncio
import contextlib
import time
from collections.abc import Callable, Coroutine, Mapping

from msgspec.structs import replace
from PySide6.QtCore import QPoint, Qt, QTimer
from PySide6.QtGui import QAction, QKeyEvent, QShowEvent
from PySide6.QtWidgets import QWidget

from tooltray.foundation import schema_check
from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.approvals import ApprovalForm, ApprovalSnapshot, OfferedRule, RulePreview
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.approval.approval_body import (
    LASTING,
    MARGIN,
    WIDTH,
    ApprovalBody,
    because,
    body_lines,
    lasting_choice,
    minutes,
    question,
    wish,
)
from tooltray.ui.approval.asking_window import TICK_MS, AskingWindow
from tooltray.ui.approval.permission_words import cautions, covered, of_late
from tooltray.ui.client_names import shown_client
from tooltray.ui.i18n import say, tr
from tooltray.ui.kit.background import timer
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.schema_form.schema_form import JSON, SchemaForm
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.button import Button, new_menu
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.keyboard import add_accept_keys
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.sheet import GUARD_MS
from tooltray.ui.widgets.surface import Surface, clear, column, fill, row
from tooltray.ui.zoom import px

KEEP_OPEN_MS = 30_000  # the engine lets a call wait for two minutes after each
MAKE_RULE = "make a rule"  # in the menu of answers that last
Arguments = Mapping[str, object]


async def answer_call(hub: QtMcpPresenter, id: str, answer: str, arguments: Arguments | None = None) -> None:
    """Answers a waiting call; `arguments`: as the user has changed them."""
    await hub.approvals.answer_approval(id, answer, *([] if arguments is None else [dict(arguments)]))


async def disk_diff(hub: QtMcpPresenter, request: ApprovalSnapshot) -> tuple[str, ...]:
    """Returns how a call would change the file on disk; only the diff of its arguments where that is unknown."""
    if not request.diff:
        return ()
    with contextlib.suppress(TooltrayError):  # the engine has just ended
        return await hub.approvals.get_approval_diff(request.id) or request.diff
    return request.diff


class RuleChoice(QWidget):
    """A choice of the rule to make from a call.

    Args:
        preview: reads what a rule would have covered, and calls `show_preview`.
    """

    def __init__(self, theme: Theme, request: ApprovalSnapshot, preview: Callable[[OfferedRule], None], *, margin: int) -> None:
        super().__init__()
        self._theme, self._request, self._preview = theme, request, preview
        head = Label(theme, tr("Make a rule of this call"), "heading", wrap=True)
        text = tr("Allows this call and every later one that matches. All others ask as before.")
        below = Label(theme, text, "body", "secondary", wrap=True)
        options = [(each.answer, say(each.title)) for each in request.rules]
        self._options = OptionList(theme, options, name=tr("Rules, from narrow to wide"), chosen=[options[0][0]], may_be_empty=False)
        self._options.changed.connect(self._draw)
        box = Surface(theme, "surface", "border", "m")
        self._words = Label(theme, "", "body", wrap=True)
        self._past = Label(theme, "", "caption", "muted", wrap=True)
        fill(column(box, margins=(14, 10, 14, 10), spacing=6), self._words, self._past)
        self._cautions = column()
        fill(body_lines(self, margin), head, below, self._options, box, self._cautions, 1)
        self._draw()

    @property
    def chosen(self) -> OfferedRule:
        """The rule that an answer would make."""
        answers = self._options.chosen
        return next(each for each in self._request.rules if each.answer in answers)

    def show_preview(self, rule: OfferedRule, preview: RulePreview) -> None:
        """Shows what a rule would have covered, if it is still the chosen one."""
        if rule == self.chosen:
            self._past.setText(of_late(preview))
            clear(self._cautions)
            if text := cautions(preview):
                self._cautions.addWidget(Banner(self._theme, "warning", tr("Look closely at this rule"), text))

    def _draw(self) -> None:
        self._words.setText(covered(self.chosen.words))
        self._past.setText("")
        clear(self._cautions)
        self._preview(self.chosen)


Answer = Callable[[str, Arguments | None], None]
"""Takes one of a call's choices, the answer of a rule, or "refuse", and the arguments that the user has changed, or None."""


class CallView:
    """A call that waits for approval: `body` shows it, its arguments in a form, or the rule that is made of it; `buttons` answer it.

    Args:
        owner: shows the body, sends the answer, and decides for how long the buttons take none.
        margin: px around the body.
    """

    def __init__(
        self, theme: Theme, hub: QtMcpPresenter, tasks: TaskKeeper, owner: "ApprovalWindow | CallSheet", *, margin: int = 0
    ) -> None:
        self._theme, self._hub, self._tasks, self._owner, self._margin = theme, hub, tasks, owner, margin
        self._call: ApprovalSnapshot | None = None
        self._place = ""
        self._rule: RuleChoice | None = None  # a rule is being made of the call
        self._form: SchemaForm | None = None  # its arguments are being changed
        self._asked: ApprovalForm | None = None  # what the client sent, once it was read
        self._typed: Arguments | None = None  # what the form had when it was left
        self._latest = 0.0  # when the call is declined at the latest while it is edited, in unix seconds; 0: not known
        self.body: QWidget
        self.refuse = Button(theme, tr("Decline"), heeds_enter=False, on_click=self.go_back)
        self.allow = Button(theme, tr("Allow"), "primary", heeds_enter=False, on_click=self.accept)
        self.allow.setToolTip("Ctrl+Enter")
        self.longer = Button(theme, tr("Allow for…"), on_click=self._open_menu)
        self.buttons = (self.refuse, self.allow, self.longer)
        self.line = fill(row(), 1, *self.buttons)

    @property
    def is_at_call(self) -> bool:
        """Whether the call itself is shown, and not a form or a rule."""
        return self._rule is None and self._form is None

    @property
    def time_left(self) -> tuple[float, str]:
        """How many seconds are left for an answer, and the text about that; while the call is edited, at most."""
        left_s = max(self._waiting.ends_at, 0.0 if self.is_at_call else self._latest) - time.time()
        time_left = minutes(left_s)
        if self._waiting.is_declined:
            return left_s, tr("An answer counts for {time} more", time=time_left)
        return left_s, tr("Declines in {time}", time=time_left)

    def show_call(self, call: ApprovalSnapshot, place: str = "") -> None:
        """Shows a call. What the user does with the same call stays, also if its time or its difference to the disk is another one now.

        Args:
            place: e.g. "1 of 3"; empty where nothing else waits.
        """
        before, is_same = self._call, self._is_shown(call)
        self._call, self._place = call, place
        if not is_same:
            self._asked, self._typed, self._latest = None, None, 0.0
        if before is None or not is_same or (self.is_at_call and call.diff != before.diff):
            self._show_call()
        elif isinstance(self.body, ApprovalBody):
            self.body.set_place(place)

    def set_usable(self, is_usable: bool) -> None:
        """Makes the buttons take answers, or not."""
        for button in self.buttons:
            button.setEnabled(is_usable)

    def accept(self) -> None:
        """Answers with what is shown: the call is allowed once, or the chosen rule is made."""
        if self.allow.isEnabled():
            self._answer("once" if self._rule is None else self._rule.chosen.answer)

    def go_back(self) -> None:
        """Returns from the rule or the form to what was shown before; from the call, refuses it."""
        if not self.refuse.isEnabled():
            return
        if self.is_at_call:
            self._owner.answer_call("refuse", None)
        elif self._rule is not None and self._typed is not None:
            self._show_form()
        else:
            self._typed = self._form.value if self._form is not None else None
            self._show_call()

    def end(self) -> None:
        """Leaves only a button that closes, since the call has ended."""
        self._rule = self._form = self._call = None
        self.refuse.setText(tr("Close"))

    def edit(self) -> None:
        """Shows the arguments in a form."""
        if self._asked is not None:
            self._show_form()
        else:
            self._spawn(self._read_form(), "arguments of a call")

    def make_rule(self) -> None:
        """Shows the rules that can be made of the call, or of the arguments in the form."""
        if self._form is None:
            self._show_rule(self._waiting)
        elif (arguments := self._checked()) is not None:
            self._typed = arguments
            self._spawn(self._read_rules(self._waiting, arguments), "rules of a changed call")

    # what is shown

    def _is_shown(self, call: ApprovalSnapshot) -> bool:
        """Returns whether this call is shown; its time, or its difference to the disk, may be another one since."""
        return self._call is not None and replace(call, diff=self._call.diff, ends_at=self._call.ends_at) == self._call

    @property
    def _waiting(self) -> ApprovalSnapshot:
        assert self._call is not None
        return self._call

    @property
    def _lasting(self) -> list[str]:
        return [each for each in LASTING if each in self._waiting.choices]

    def _show_call(self) -> None:
        call = self._waiting
        self._rule = self._form = None
        body = ApprovalBody(self._theme, call, self._place, self.edit, margin=self._margin)
        self._show_body(body, tr("Decline"), tr("Allow"))

    def _show_form(self) -> None:
        assert self._asked is not None
        theme, asked = self._theme, self._asked
        values, fields = asked.arguments if self._typed is None else self._typed, asked.schema.get("properties")
        form = SchemaForm(theme, asked.schema, values=values)
        if not (isinstance(fields, Mapping) and values.keys() <= fields.keys()):  # all that is sent is in sight
            form.show_view(JSON)
        self._rule, self._form = None, form
        body, head = QWidget(), fill(row(), Label(theme, tr("Edit arguments"), "heading"), 1, form.views)
        who = shown_client(self._waiting.client) or tr("An AI client")
        text = tr("The call runs with what is here. {client} learns what you changed.", client=who)
        fill(body_lines(body, self._margin), head, Label(theme, text, "caption", "muted", wrap=True), form, 1)
        self._show_body(body, tr("Back"), tr("Allow"))
        QTimer.singleShot(0, form, form.focus)

    def _show_rule(self, call: ApprovalSnapshot) -> None:
        self._rule = RuleChoice(self._theme, call, self._read_preview, margin=self._margin)
        self._form = None
        self._show_body(self._rule, tr("Back"), tr("Allow, and make the rule"))

    def _show_body(self, body: QWidget, refuse: str, allow: str) -> None:
        self.body = body
        self.refuse.setText(refuse)
        self.allow.setText(allow)
        self.longer.setVisible(self._rule is None and bool(self._lasting or self._waiting.rules))
        if not self.is_at_call:
            timer(body, KEEP_OPEN_MS, self._keep_open, repeats=True).start()  # ends with what the user is doing
            self._keep_open()
        self._owner.place_body(body)

    # answers

    def _answer(self, answer: str) -> None:
        if self._form is None:
            self._owner.answer_call(answer, self._typed if self._rule is not None else None)
        elif (arguments := self._checked()) is not None:
            is_changed = self._asked is None or arguments != self._asked.arguments
            self._owner.answer_call(answer, arguments if is_changed else None)

    def _checked(self) -> Arguments | None:
        """Returns the arguments in the form; None after errors were shown in it."""
        return self._form.value if self._form is not None and self._form.check() else None

    def _open_menu(self) -> None:
        """Opens the menu of answers that last."""
        menu = new_menu(self.longer, self._theme, self.longer.text())
        for choice in self._lasting:
            menu.addAction(lasting_choice(choice, self._waiting).replace("&", "&&")).setData((self._call, choice))
        if self._waiting.rules:
            menu.addAction(tr("Make a rule…")).setData((self._call, MAKE_RULE))
        menu.triggered.connect(self._on_lasting)
        menu.popup(self.longer.mapToGlobal(QPoint(0, -menu.sizeHint().height() - px(4))))

    def _on_lasting(self, action: QAction) -> None:
        call, choice = action.data()
        if not self._is_shown(call) or not self.longer.isEnabled():  # it may have become another one while the menu was open
            return
        if choice == MAKE_RULE:
            self.make_rule()
        else:
            self._answer(choice)

    # what is read

    async def _read_form(self) -> None:
        call = self._waiting
        await asyncio.to_thread(schema_check.prepare)  # before the user presses Allow
        asked = await self._hub.approvals.get_approval_form(call.id)
        if self._is_shown(call):
            self._asked = asked
            self._show_form()

    async def _read_rules(self, call: ApprovalSnapshot, arguments: Arguments) -> None:
        changed = await self._hub.approvals.preview_approval(call.id, dict(arguments))
        if self._is_shown(call) and changed.rules:
            self._show_rule(changed)

    def _read_preview(self, rule: OfferedRule) -> None:
        self._spawn(self._preview(rule), "what a rule would have covered")

    async def _preview(self, rule: OfferedRule) -> None:
        preview = await self._hub.approvals.preview_rule(self._waiting.server, dict(rule.rule))
        if self._rule is not None:
            self._rule.show_preview(rule, preview)

    def _keep_open(self) -> None:
        self._tasks.spawn(self._read_latest(self._waiting), name="a call is edited")

    async def _read_latest(self, call: ApprovalSnapshot) -> None:
        """Reports that the user is still at a call, so that it waits for longer; reads how long at most."""
        with contextlib.suppress(TooltrayError):  # it has just ended
            latest = await self._hub.approvals.keep_approval_open(call.id)
            if self._is_shown(call):
                self._latest = latest

    def _spawn(self, work: Coroutine[object, object, None], name: str) -> None:
        self._tasks.spawn(self._reported(work), name=name)

    async def _reported(self, work: Coroutine[object, object, None]) -> None:
        try:
            await work
        except TooltrayError as error:
            self._owner.show_problem(error.problem)


class ApprovalWindow(AskingWindow[ApprovalSnapshot]):
    """A window with a call that waits for approval. It is answered with what a CallView is answered with, as a tuple."""

    def __init__(self, theme: Theme, *, hub: QtMcpPresenter, tasks: TaskKeeper, guard_ms: int = GUARD_MS) -> None:
        self.view = view = CallView(theme, hub, tasks, self, margin=MARGIN)
        view.line.setContentsMargins(px(24), px(16), px(24), px(12))
        super().__init__(theme, view.line, view.refuse, view.allow, view.longer, guard_ms=guard_ms)

    def ask(self, request: ApprovalSnapshot, count: int) -> None:
        self.request = request
        self.setAccessibleName(question(request))
        self.setAccessibleDescription(f"{wish(request)} {because(request)}")
        self.view.allow.show()
        self.view.show_call(request, tr("1 of {count}", count=count) if count > 1 else "")

    def show_ended(self, problem: Problem) -> None:
        super().show_ended(problem)
        self.view.end()

    def _time_left(self, request: ApprovalSnapshot) -> tuple[float, str]:
        return self.view.time_left

    # answers

    def answer_call(self, answer: str, arguments: Arguments | None) -> None:
        self._send((answer, arguments))

    def _answer(self, is_yes: bool) -> None:
        if not is_yes:
            self._send(("refuse", None))
        elif self.request is not None:
            self.view.accept()

    def _on_no_key(self) -> None:
        if not self._arrival.isActive():
            self.view.go_back()


class CallSheet(SheetView):
    """A sheet with a call that waits for approval.

    Args:
        answer: answers the call. It closes the sheet, or calls `show_problem`.

    Attributes:
        call_id: the id of the call.
    """

    def __init__(self, context: PageContext, call: ApprovalSnapshot, answer: Answer) -> None:
        super().__init__(context, tr("A call waits for your answer"), WIDTH)
        self._answer_call = answer
        self.setAccessibleDescription(question(call))
        self._guard = timer(self, GUARD_MS, self._on_guard_over)
        self._view = CallView(context.theme, context.hub, context.tasks, self)
        self._left = Label(context.theme, "", "caption", "muted", tabular=True)
        self.add_above_buttons(self._left)
        self._left.setContentsMargins(0, px(10), 0, 0)
        self.buttons.addLayout(self._view.line)
        timer(self, TICK_MS, self._tick, repeats=True).start()
        self.show_call(call)
        add_accept_keys(self, self._view.accept)

    def show_call(self, call: ApprovalSnapshot) -> None:
        """Shows a newer snapshot of the call."""
        self.call_id = call.id
        self._view.show_call(call)
        self._tick()

    def _tick(self) -> None:
        self._left.setText(self._view.time_left[1])

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._begin_guard()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Escape and not self._view.is_at_call:
            self._view.go_back()  # to the call first, and from the sheet by the next press
        else:
            super().keyPressEvent(event)

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why the answer was not accepted."""
        super().show_problem(problem)
        if problem is not None:
            self._view.set_usable(True)

    def place_body(self, body: QWidget) -> None:
        clear(self.body)
        self.body.addWidget(body)
        if not self._view.is_at_call:
            self.hold()  # a stray click loses nothing that was typed
        self._begin_guard()

    def _begin_guard(self) -> None:
        self._view.set_usable(False)
        self._guard.start()

    def _on_guard_over(self) -> None:
        self._view.set_usable(True)
        focused = self.window().focusWidget()
        if focused is None or not self._view.body.isAncestorOf(focused):  # else the user types there
            self._view.refuse.setFocus(Qt.FocusReason.OtherFocusReason)

    def answer_call(self, answer: str, arguments: Arguments | None) -> None:
        self._view.set_usable(False)
        self.show_problem(None)
        self._answer_call(answer, arguments)
