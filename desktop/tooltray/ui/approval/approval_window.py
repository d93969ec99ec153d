"""The window for a tool call that waits for the user's approval."""

from collections.abc import Iterable

from PySide6.QtCore import QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QHBoxLayout, QMenu, QPushButton

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, OfferedRule, RulePreview
from tooltray.ui.approval.approval_body import LASTING, MARGIN, WIDTH, ApprovalBody, because, lasting_choice, question, wish
from tooltray.ui.approval.asking_window import AskingWindow
from tooltray.ui.approval.rule_choice import RuleChoice
from tooltray.ui.i18n import tr
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.sheet import GUARD_MS
from tooltray.ui.widgets.surface import column, row

MAKE_RULE = "make a rule"  # in the menu of lasting answers


class ApprovalWindow(AskingWindow[ApprovalSnapshot]):
    """A window with a call that waits for approval. It is answered with one of its choices, the choice of a rule, or "refuse"."""

    preview_requested = Signal(str, object)  # a server and an OfferedRule, to find the calls that the rule would have covered

    def __init__(self, theme: Theme, *, guard_ms: int = GUARD_MS) -> None:
        super().__init__(theme, guard_ms=guard_ms)
        self._rule: RuleChoice | None = None  # a rule is being made of the call
        self._count = 1  # of calls that wait

    def ask(self, request: ApprovalSnapshot, count: int) -> None:
        self._count = count
        if request == self._request and self._rule is not None:
            return
        place = tr("1 of {count}", count=count) if count > 1 else ""
        if request == self._request and isinstance(self._body, ApprovalBody):
            self._body.set_place(place)
            return
        self._request, self._rule = request, None
        self.setAccessibleName(question(request))
        self.setAccessibleDescription(f"{wish(request)} {because(request)}")
        self._once.setVisible("once" in request.choices)
        self._session.setVisible("session" in request.choices)
        self._always.setVisible(bool(self._lasting() or request.rules))
        self._once.setText(tr("Allow once"))
        self._refuse.setText(tr("Not now"))
        self._show_body(ApprovalBody(self._theme, request, place))

    def show_ended(self, problem: Problem) -> None:
        self._rule = None
        super().show_ended(problem)

    def show_preview(self, rule: OfferedRule, preview: RulePreview) -> None:
        """Shows what a rule would have covered."""
        if self._rule is not None:
            self._rule.show_preview(rule, preview)
            self._refit.start()

    # the parts

    def _buttons(self) -> QHBoxLayout:
        theme = self._theme
        line = row(margins=(24, 16, 24, 12))
        self._session = Button(theme, tr("Allow this session"), heeds_enter=False)
        self._always = Button(theme, tr("For longer…"), "ghost")
        self._refuse = Button(theme, tr("Not now"), heeds_enter=False)
        self._once = Button(theme, tr("Allow once"), "primary", heeds_enter=False)
        self._once.setToolTip("Ctrl+Enter")
        self._session.clicked.connect(self._on_session)
        self._always.clicked.connect(self.open_longer)
        self._refuse.clicked.connect(self._on_refuse)
        self._once.clicked.connect(self._on_once)
        buttons = (self._session, self._always, self._refuse, self._once)
        margins = line.contentsMargins()
        needed = sum(each.sizeHint().width() for each in buttons) + 3 * line.spacing() + margins.left() + margins.right()
        lasting, single = (row(), row()) if needed > WIDTH else (line, line)  # a language with long words needs two lines
        lasting.addWidget(self._session)
        lasting.addWidget(self._always)
        lasting.addStretch(1)
        single.addWidget(self._refuse)
        single.addWidget(self._once)
        if single is not line:
            single.insertStretch(0, 1)
            lines = column(spacing=8)
            lines.addLayout(lasting)
            lines.addLayout(single)
            line.addLayout(lines)
        return line

    def _yes_buttons(self) -> Iterable[QPushButton]:
        return self._session, self._always, self._once

    def _no_button(self) -> QPushButton:
        return self._refuse

    def _lasting(self) -> list[str]:
        choices = self._request.choices if self._request is not None else ()
        return [each for each in LASTING if each in choices]

    # answers

    def _answer(self, is_yes: bool) -> None:
        if not is_yes:
            self._send("refuse")
        elif self._request is not None and "once" in self._request.choices:
            self._on_once()

    def _on_no_key(self) -> None:
        if not self._arrival.isActive():
            self._on_refuse()

    def _on_once(self) -> None:
        self._send("once" if self._rule is None else self._rule.chosen.answer)

    def _on_session(self) -> None:
        self._send("session")

    def _on_refuse(self) -> None:
        if self._rule is not None and self.takes_answers:
            self._end_rule()
        else:
            self._send("refuse")

    def open_longer(self) -> None:
        """Opens the menu of answers that last."""
        assert self._request is not None
        menu = QMenu(self)
        menu.setFont(self._theme.font())
        menu.aboutToHide.connect(menu.deleteLater)
        for choice in self._lasting():
            action = menu.addAction(lasting_choice(choice, self._request).replace("&", "&&"))
            action.setData((self._request, choice))
        if self._request.rules:
            menu.addAction(tr("Make a rule…")).setData((self._request, MAKE_RULE))
        menu.triggered.connect(self._on_lasting)
        menu.popup(self._always.mapToGlobal(QPoint(0, -menu.sizeHint().height() - 4)))

    def _on_lasting(self, action: QAction) -> None:
        request, choice = action.data()
        if request != self._request:  # it may have become another one while the menu was open
            return
        if choice == MAKE_RULE:
            self._begin_rule(request)
        else:
            self._send(choice)

    def _begin_rule(self, request: ApprovalSnapshot) -> None:
        """Shows the possible rules in place of the call."""
        rule = self._rule = RuleChoice(self._theme, request, margin=MARGIN)
        rule.preview_requested.connect(self.preview_requested)
        self._session.hide()
        self._always.hide()
        self._refuse.setText(tr("Back"))
        self._once.setText(tr("Allow, and make the rule"))
        self._once.show()
        self._show_body(rule)
        rule.ask_for_preview()

    def _end_rule(self) -> None:
        """Returns from the choice of a rule to the call."""
        self._rule = None
        if (request := self._request) is not None:
            self.ask(request, self._count)
