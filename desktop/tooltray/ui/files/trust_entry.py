"""One server of a project's file that waits for a person's yes: what it starts, what it gets, what is odd about it, and a switch."""

from collections.abc import Iterator

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QHBoxLayout, QVBoxLayout, QWidget

from tooltray.snapshots.trust import TrustRequest
from tooltray.ui.files.file_words import line_word, odd, request_chip, unasked, variable_lines
from tooltray.ui.i18n import tr
from tooltray.ui.origins import visible_path
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.banner import Banner
from tooltray.ui.widgets.chip import Chip
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.diff_view import DiffView
from tooltray.ui.widgets.label import CodeLabel, ElidedLabel, Label
from tooltray.ui.widgets.surface import Surface, column, divider, row
from tooltray.ui.widgets.switch import Switch

FACT_WIDTH = 104
MARGIN = 14
LONGEST_WHOLE, MOST_LINES = 600, 8  # characters of a command in full; a longer one scrolls, and nothing of it is cut


class TrustEntry(Surface):
    """`switched`: a person wants it, or no longer.

    Args:
        width: px that it will have.
        is_on: at first.
        is_changed: it was another one a moment ago, while a person looked at it.
    """

    switched = Signal()

    def __init__(self, theme: Theme, request: TrustRequest, width: int, *, is_on: bool, is_changed: bool) -> None:
        super().__init__(theme, "surface", "border", "m")
        self._request, self._inner = request, width - 2 * MARGIN
        self.setAccessibleName(request.entry)
        layout = column(self, margins=(MARGIN, 10, MARGIN, 8), spacing=8)
        self._switch = Switch(theme, tr("Trust {name}", name=request.entry), on=is_on)
        self._switch.clicked.connect(self.switched)
        layout.addLayout(self._title())
        if is_changed:
            text = tr("Read it again, and switch it on if it is what you want.")
            layout.addWidget(Banner(theme, "warning", tr("It has changed while you looked at it"), text))
        if request.warnings:
            warnings = "\n".join(odd(warning) for warning in request.warnings)
            layout.addWidget(Banner(theme, "warning", tr("Look closely at this server"), warnings))
        layout.addLayout(self._facts())
        if request.diff:
            layout.addWidget(Label(theme, tr("What is different from what you trusted:"), "caption_strong", "secondary", wrap=True))
            layout.addWidget(DiffView(theme, request.diff, tr("What is different in {name}", name=request.entry), width=self._inner))

    @property
    def request(self) -> TrustRequest:
        return self._request

    @property
    def is_on(self) -> bool:
        """Whether a person wants it."""
        return self._switch.isChecked()

    def _title(self) -> QHBoxLayout:
        theme, request = self._theme, self._request
        line = row(spacing=8)
        line.addWidget(ElidedLabel(theme, request.entry, "strong", mode=Qt.TextElideMode.ElideMiddle), 1)
        if request.is_inside:
            inside = Chip(theme, tr("Lies in the project"), "warning")
            inside.setToolTip(tr("Whoever can change the project can change what it starts."))
            line.addWidget(inside)
        line.addWidget(Chip(theme, request.transport))
        line.addWidget(Chip(theme, *request_chip(request)))
        line.addWidget(self._switch)
        return line

    def _facts(self) -> QVBoxLayout:
        lines = column()
        for index, (name, value) in enumerate(self._fact_words()):
            if index:
                lines.addWidget(divider())
            line = row(margins=(0, 6, 0, 6))
            label = Label(self._theme, name, "caption", "muted")
            label.setFixedWidth(FACT_WIDTH)
            line.addWidget(label, 0, Qt.AlignmentFlag.AlignTop)
            line.addWidget(value, 1)
            lines.addLayout(line)
        return lines

    def _fact_words(self) -> Iterator[tuple[str, QWidget]]:
        request = self._request
        if request.asked_by:
            yield tr("Asked for by"), self._plain(tr("the program with the token {name}", name=request.asked_by))
        if request.command:
            yield tr("Starts"), self._code(request.target)
            yield tr("In the folder"), self._code(visible_path(request.cwd or request.project))
        else:
            yield tr("Connects to"), self._code(request.host or request.target)
            yield tr("Address"), self._code(request.target)
        if request.secrets:
            yield tr("Gets secrets"), self._code(", ".join(request.secrets))
        if request.variables:
            yield tr("Gets variables"), self._code(variable_lines(request))
        if not (request.secrets or request.variables):
            environment = tr("nothing by name; like every program that you start, it sees your environment")
            yield tr("Gets"), self._plain(environment if request.command else tr("none of your secrets, none of your variables"))
        yield from self._written_words()
        yield tr("Runs without asking"), self._plain(unasked(request))
        if place := line_word(request.line):
            yield tr("In the file"), self._plain(place)

    def _written_words(self) -> Iterator[tuple[str, QWidget]]:
        """What the file says besides; it is shown as it stands there."""
        request = self._request
        for name, lines in ((tr("Sets"), request.env), (tr("Sends"), request.headers), (tr("Also says"), request.others)):
            if lines:
                yield name, self._code("\n".join(lines))

    def _plain(self, text: str) -> Label:
        return Label(self._theme, text, "caption", "secondary", wrap=True)

    def _code(self, text: str) -> QWidget:
        if len(text) <= LONGEST_WHOLE:
            return CodeLabel(self._theme, text)
        view = CodeView(self._theme, text, tr("What {name} starts", name=self._request.entry))
        view.wrap(self._inner - FACT_WIDTH - 8, MOST_LINES)
        return view
