"""The sheet of one tool call that waits: everything that the user should read before the answer, and the answers. Enter allows nothing;
Ctrl+Enter allows once, a moment after the sheet was opened."""

from collections.abc import Callable

from PySide6.QtCore import Qt, QTimer
from PySide6.QtGui import QShowEvent

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, OfferedRule
from tooltray.ui.approval.approval_body import WIDTH, ApprovalBody, lasting_choice, question
from tooltray.ui.approval.rule_choice import RuleChoice
from tooltray.ui.i18n import tr
from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.sheet_view import SheetView
from tooltray.ui.widgets.accept_keys import add_accept_keys
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.sheet import GUARD_MS

CHOICE_WIDTH = 230  # px
BY_RULE = "rule"  # among the lengths: as long as a rule on arguments stands


class CallSheet(SheetView):
    """A sheet with a call that waits for approval.

    Args:
        answer: answers the call with one of its choices, the choice of a rule, or "refuse". It closes the sheet, or calls `show_problem`.
    """

    def __init__(self, context: PageContext, call: ApprovalSnapshot, answer: Callable[[str], None]) -> None:
        super().__init__(context, tr("A call waits for your answer"), WIDTH)
        theme, self._call, self._answer_call = context.theme, call, answer
        self.setAccessibleDescription(question(call))
        self.body.addWidget(ApprovalBody(theme, call, "", has_margins=False))
        self._rule = RuleChoice(theme, call) if call.rules else None
        if self._rule is not None:
            self._rule.preview_requested.connect(self._on_preview_requested)
            self.body.addWidget(self._rule)
            self._rule.hide()
        self._how_long = Choice(theme, _lengths(call), name=tr("If you allow it"))
        self._how_long.chosen_changed.connect(self._on_chosen)
        self._how_long.setMaximumWidth(CHOICE_WIDTH)
        self.buttons.addWidget(self._how_long, 1)
        self.buttons.addStretch(0)
        self._refuse = Button(theme, tr("Not now"), heeds_enter=False)
        self._refuse.clicked.connect(self._on_refuse)
        self.buttons.addWidget(self._refuse)
        self._allow = Button(theme, tr("Allow"), "primary", heeds_enter=False)
        self._allow.setToolTip("Ctrl+Enter")
        self._allow.clicked.connect(self._on_allow)
        self.buttons.addWidget(self._allow)
        self._guard = QTimer(self, singleShot=True, interval=GUARD_MS)
        self._guard.timeout.connect(self._on_guard_over)
        add_accept_keys(self, self._on_allow)

    @property
    def call_id(self) -> str:
        """The id of the call."""
        return self._call.id

    def showEvent(self, event: QShowEvent) -> None:
        super().showEvent(event)
        self._set_usable(False)
        self._guard.start()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why the answer was not accepted."""
        super().show_problem(problem)
        if problem is not None:
            self._set_usable(True)

    def _on_chosen(self, how_long: str) -> None:
        if self._rule is not None:
            self._rule.setVisible(how_long == BY_RULE)
            if how_long == BY_RULE:
                self._rule.ask_for_preview()

    def _on_preview_requested(self, server: str, rule: OfferedRule) -> None:
        self.run(self._preview(server, rule), show=super().show_problem)

    async def _preview(self, server: str, rule: OfferedRule) -> None:
        """Shows which calls a rule would have covered."""
        preview = await self.hub.approvals.preview_rule(server, dict(rule.rule))
        if self._rule is not None:
            self._rule.show_preview(rule, preview)

    def _on_guard_over(self) -> None:
        self._set_usable(True)
        self._refuse.setFocus(Qt.FocusReason.OtherFocusReason)

    def _set_usable(self, is_usable: bool) -> None:
        self._allow.setEnabled(is_usable)
        self._refuse.setEnabled(is_usable)

    def _on_refuse(self) -> None:
        self._answer("refuse")

    def _on_allow(self) -> None:
        if self._allow.isEnabled():
            is_rule = self._rule is not None and self._how_long.chosen == BY_RULE
            self._answer(self._rule.chosen.answer if self._rule and is_rule else self._how_long.chosen)

    def _answer(self, answer: str) -> None:
        self._set_usable(False)
        self.show_problem(None)
        self._answer_call(answer)


def _lengths(call: ApprovalSnapshot) -> list[tuple[str, str]]:
    words = {"once": tr("This once"), "session": tr("For this session")}
    by_rule = [(BY_RULE, tr("By a rule…"))] if call.rules else []
    return [*((choice, words.get(choice) or lasting_choice(choice, call)) for choice in call.choices), *by_rule]
