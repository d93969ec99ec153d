"""What tools cost together: a bar for the part that a client gets at the start, and the numbers beside it."""

from PySide6.QtWidgets import QWidget

from tooltray.errors import Problem
from tooltray.snapshots.tools import ToolCosts
from tooltray.ui.i18n import tr
from tooltray.ui.problem_words import whole
from tooltray.ui.theme import Theme
from tooltray.ui.token_count import tokens
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.meter import Meter
from tooltray.ui.widgets.surface import row

METER = 88


class TokenSummary(QWidget):
    """Empty until something is known."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        line = row(self, spacing=10)
        self._meter = Meter(theme, tr("Tokens that clients read before the first word"))
        self._meter.setFixedWidth(METER)
        line.addWidget(self._meter)
        self._words = Label(theme, "", "caption", "secondary", tabular=True)
        line.addWidget(self._words)
        self._meter.hide()

    def show_costs(self, costs: ToolCosts) -> None:
        shown, all_tokens = costs.shown_tokens, costs.tokens
        self._meter.setVisible(all_tokens > 0)
        self._meter.set_share(shown / all_tokens if all_tokens else 0.0)
        text = tr("Clients read {tokens} before the first word", tokens=tokens(shown, all_tokens))
        self._words.setText(text if all_tokens else "")
        self.setToolTip(tr("What a client's model reads before the first word, counted with {tokenizer}", tokenizer=costs.tokenizer))

    def show_problem(self, problem: Problem) -> None:
        """The tokens could not be counted."""
        self._meter.hide()
        self._words.setText(tr("Tokens could not be counted"))
        self.setToolTip(whole(problem))
