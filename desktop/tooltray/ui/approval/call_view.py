"""CallView: a waiting call with its answers, the same in the window for approval and in the sheet of the list of what waits."""

from PySide6.QtCore import QObject, QPoint, Signal
from PySide6.QtGui import QAction
from PySide6.QtWidgets import QMenu, QWidget

from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, OfferedRule
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.approval.approval_body import LASTING, ApprovalBody, lasting_choice
from tooltray.ui.approval.rule_choice import RuleChoice
from tooltray.ui.i18n import tr
from tooltray.ui.link.qt_mcp_presenter import QtMcpPresenter
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button
from tooltray.ui.widgets.surface import row

MAKE_RULE = "make a rule"  # in the menu of answers that last


class CallView(QObject):
    """A call that waits for approval: `body` shows it, or the rule that is made of it, and below are the `buttons`. Its owner gives both a
    place, and decides for how long the buttons take no answer.

    `answered` carries one of the call's choices, the answer of a rule, or "refuse". `body_changed`: `body` is another widget.

    Args:
        margin: px around the body.
    """

    answered = Signal(str)
    body_changed = Signal()

    def __init__(self, theme: Theme, hub: QtMcpPresenter, tasks: TaskKeeper, *, margin: int = 0) -> None:
        super().__init__()
        self._theme, self._hub, self._tasks, self._margin = theme, hub, tasks, margin
        self._call: ApprovalSnapshot
        self._place = ""
        self._rule: RuleChoice | None = None  # a rule is being made of the call
        self.body: QWidget
        self.refuse = Button(theme, tr("Not now"), heeds_enter=False)
        self.allow = Button(theme, tr("Allow"), "primary", heeds_enter=False)
        self.allow.setToolTip("Ctrl+Enter")
        self.longer = Button(theme, tr("Allow for…"))
        self.refuse.clicked.connect(self.go_back)
        self.allow.clicked.connect(self.accept)
        self.longer.clicked.connect(self._open_menu)
        self.buttons = (self.refuse, self.allow, self.longer)
        self.line = row()
        self.line.addStretch(1)
        for button in self.buttons:
            self.line.addWidget(button)

    def show_call(self, call: ApprovalSnapshot, place: str = "") -> None:
        """Shows a call.

        Args:
            place: e.g. "1 of 3"; empty where nothing else waits.
        """
        self._call, self._place, self._rule = call, place, None
        self.refuse.setText(tr("Not now"))
        self.allow.setText(tr("Allow"))
        self.longer.setVisible(bool(self._lasting or call.rules))
        self._show_body(ApprovalBody(self._theme, call, place, margin=self._margin))

    def set_place(self, place: str) -> None:
        """Shows how many calls wait."""
        self._place = place
        if isinstance(self.body, ApprovalBody):
            self.body.set_place(place)

    def set_usable(self, is_usable: bool) -> None:
        """Makes the buttons take answers, or not."""
        for button in self.buttons:
            button.setEnabled(is_usable)

    def accept(self) -> None:
        """Answers with what is shown: the call is allowed once, or the chosen rule is made."""
        if self.allow.isEnabled():
            self.answered.emit("once" if self._rule is None else self._rule.chosen.answer)

    def go_back(self) -> None:
        """Returns from the rule to the call; from there, refuses it."""
        if not self.refuse.isEnabled():
            return
        if self._rule is None:
            self.answered.emit("refuse")
        else:
            self.show_call(self._call, self._place)

    def begin_rule(self) -> None:
        """Shows the possible rules in place of the call."""
        rule = self._rule = RuleChoice(self._theme, self._call, margin=self._margin)
        rule.preview_requested.connect(self._on_preview_requested)
        self.longer.hide()
        self.refuse.setText(tr("Back"))
        self.allow.setText(tr("Allow, and make the rule"))
        self._show_body(rule)
        rule.ask_for_preview()

    def end(self) -> None:
        """Leaves only a button that closes, since the call has ended."""
        self._rule = None
        self.refuse.setText(tr("Close"))

    @property
    def _lasting(self) -> list[str]:
        return [each for each in LASTING if each in self._call.choices]

    def _show_body(self, body: QWidget) -> None:
        self.body = body
        self.body_changed.emit()

    def _open_menu(self) -> None:
        """Opens the menu of answers that last."""
        menu = QMenu(self.longer)
        menu.setFont(self._theme.font())
        menu.aboutToHide.connect(menu.deleteLater)
        for choice in self._lasting:
            menu.addAction(lasting_choice(choice, self._call).replace("&", "&&")).setData((self._call, choice))
        if self._call.rules:
            menu.addAction(tr("Make a rule…")).setData((self._call, MAKE_RULE))
        menu.triggered.connect(self._on_lasting)
        menu.popup(self.longer.mapToGlobal(QPoint(0, -menu.sizeHint().height() - 4)))

    def _on_lasting(self, action: QAction) -> None:
        call, choice = action.data()
        if call != self._call or not self.longer.isEnabled():  # it may have become another one while the menu was open
            return
        if choice == MAKE_RULE:
            self.begin_rule()
        else:
            self.answered.emit(choice)

    def _on_preview_requested(self, server: str, rule: OfferedRule) -> None:
        self._tasks.spawn(self._preview(server, rule), name="what a rule would have covered")

    async def _preview(self, server: str, rule: OfferedRule) -> None:
        try:
            preview = await self._hub.approvals.preview_rule(server, dict(rule.rule))
        except TooltrayError:
            return  # the server has just gone, and the call with it
        if self._rule is not None:
            self._rule.show_preview(rule, preview)
