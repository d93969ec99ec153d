"""The choice of the rule to make from a waiting call: choices from narrow to wide, the full text of the chosen one, and the calls that it
would have covered; and sentences about rules. A rule's own text is the engine's."""

from collections.abc import Callable

from PySide6.QtWidgets import QWidget

from tooltray.foundation.snapshots.approvals import ApprovalSnapshot, OfferedRule, RulePreview, tried_in_words
from tooltray.ui.approval.approval_body import warnings
from tooltray.ui.i18n import say, tr
from tooltray.ui.problem_words import in_a_row
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.choice import OptionList
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import Surface, clear, column


class RuleChoice(QWidget):
    """A choice of the rule to make from a call.

    Args:
        preview: reads what a rule would have covered, and calls `show_preview`.
    """

    def __init__(
        self, theme: Theme, request: ApprovalSnapshot, preview: Callable[[OfferedRule], None] = lambda rule: None, *, margin: int = 0
    ) -> None:
        super().__init__()
        self._theme, self._request, self._preview = theme, request, preview
        layout = column(self, margins=(margin, margin, margin, 16 if margin else 0), spacing=12)
        layout.addWidget(Label(theme, tr("Make a rule of this call"), "heading", wrap=True))
        text = tr("Allows this call and every later one that matches. All others ask as before.")
        layout.addWidget(Label(theme, text, "body", "secondary", wrap=True))
        options = [(each.answer, say(each.title)) for each in request.rules]
        self._options = OptionList(theme, options, name=tr("Rules, from narrow to wide"), chosen=[options[0][0]], may_be_empty=False)
        self._options.changed.connect(self._draw)
        layout.addWidget(self._options)
        box = Surface(theme, "surface", "border", "m")
        inside = column(box, margins=(14, 10, 14, 10), spacing=6)
        self._words = Label(theme, "", "body", wrap=True)
        self._past = Label(theme, "", "caption", "muted", wrap=True)
        inside.addWidget(self._words)
        inside.addWidget(self._past)
        layout.addWidget(box)
        self._cautions = column()
        layout.addLayout(self._cautions)
        layout.addStretch(1)
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


def covered(words: str) -> str:
    """Returns which calls run without asking by a rule, as a sentence; `words`: of the rule."""
    return tr("Runs without asking: {calls}.", calls=say(words))


def of_late(preview: RulePreview) -> str:
    """Returns how many recent calls a rule would have covered."""
    return in_a_row(*map(say, tried_in_words(preview)))


def cautions(preview: RulePreview) -> str:
    """Returns what the user should know about a rule, a sentence on each line."""
    return warnings((*preview.problems, *preview.cautions))
