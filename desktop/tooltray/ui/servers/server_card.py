"""A server's card: its name, its state, and what to do next. Rows of fixed height, so that cards line up in a grid and nothing jumps in any
state. Draws a frozen snapshot, emits requests; a new snapshot changes only what differs, so that focus and hover stay."""

import time
from datetime import datetime

from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QFontMetrics, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QHBoxLayout, QSizePolicy, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import LEFT_OUT, ServerSnapshot, ServerState
from tooltray.foundation.snapshots.tools import ServerCost
from tooltray.ui.confinement_words import in_full, in_short, refused_in_short
from tooltray.ui.figures import tokens
from tooltray.ui.i18n import tr
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.origins import origin, origin_chip
from tooltray.ui.server_pane.server_menu import ServerActions
from tooltray.ui.server_words import (
    Action,
    Foot,
    button_face,
    flaw_words,
    flaws_in_full,
    foot,
    label_tone,
    label_words,
    reached,
    reached_shortly,
    shown_label,
    sign,
    tool_count,
)
from tooltray.ui.state_language import IN_USE, paused_look, server_look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton, PaintedButton, Switch
from tooltray.ui.widgets.card_grid import GridCard
from tooltray.ui.widgets.charts import Sparkline
from tooltray.ui.widgets.chip import Chip, StateBadge
from tooltray.ui.widgets.icon import IconTile
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.surface import column, divider, row

HEIGHT, FOOT_HEIGHT = 148, 46
GHOST = 9  # a ghost button's inner padding: its text, not its edge, keeps to the card's margin


LEAST = 24  # px of a name that has hardly any room
RING = 4  # px around the word


class CardName(PaintedButton):
    """A server's name, which also describes the card's state to screen readers."""

    def __init__(self, theme: Theme) -> None:
        super().__init__()
        self._theme, self._tone = theme, "text.primary"
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(theme.line("strong"))
        self.setFont(theme.font("strong"))

    def set_name(self, name: str, state: str, explanation: str) -> None:
        """Shows a name; `state` is in words, `explanation` for a tooltip."""
        self.setText(name)
        self.setAccessibleName(f"{name}, {state}")
        self.setAccessibleDescription(tr("Opens it"))
        self.setToolTip(explanation or name)
        self.update()

    def set_tone(self, tone: str) -> None:
        self._tone = f"text.{tone}"
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(QFontMetrics(self.font()).horizontalAdvance(self.text()), self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(LEAST, self.height())

    def paintEvent(self, _event: QPaintEvent) -> None:
        theme, metrics = self._theme, QFontMetrics(self.font())
        shown = metrics.elidedText(self.text(), Qt.TextElideMode.ElideMiddle, self.width() + 1)  # advances are rounded
        place = QRectF(0, 0, metrics.horizontalAdvance(shown), self.height())
        with QPainter(self) as painter:
            painter.setFont(self.font())
            painter.setPen(theme.color("accent.text" if self.underMouse() else self._tone))
            painter.drawText(QRectF(self.rect()), Qt.AlignmentFlag.AlignVCenter, shown)
            if self.shows_focus:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(theme.color("accent"), 1.5))
                painter.drawRoundedRect(place.adjusted(0.75, 0.75, min(RING, self.width() - place.width()) - 0.75, -0.75), 4, 4)


class ServerCard(GridCard):
    def __init__(self, theme: Theme, server: ServerSnapshot, wishes: ServerWishes) -> None:
        super().__init__(theme, hover=True)
        self._server, self._wishes = server, wishes
        self._actions = ServerActions(theme, self, server=server, wishes=wishes)
        self._refusal: Problem | None = None
        self._wanted: bool | None = None  # where a person put the switch, until the server follows or refuses
        self._matches = -1
        self._is_paused = False
        self._cost: ServerCost | None = None
        self._shown: Foot | None = None
        self._changed_at = 0.0
        self._body = column(self, margins=(16, 16, 16 - GHOST, 8))
        self._body.addLayout(self._title_row())
        self._body.addSpacing(10)
        self._body.addLayout(self._state_row())
        self._body.addSpacing(10)
        self._body.addLayout(_inset(divider()))
        self._body.addWidget(self._foot_row())
        self.setFixedHeight(HEIGHT)
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._draw()

    @property
    def server(self) -> ServerSnapshot:
        return self._server

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()  # else a release is none of this card's

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Opens the server: its card is one button around the others."""
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self._actions.open()

    def set_server(self, server: ServerSnapshot) -> None:
        """Shows a newer snapshot."""
        if server == self._server:
            return
        if server.state is not self._server.state:
            self._wanted = self._refusal = None
        if server.state is ServerState.STOPPING:  # the switch waits for where that ends: a server that is idle stops and stays on demand
            self._wanted = self._switch.isChecked()
        self._server = self._actions.server = server
        self._draw()

    def show_problem(self, problem: Problem | None) -> None:
        """Shows why the user's action failed, and resets the switch; None removes it."""
        self._wanted, self._refusal = None, problem
        self._draw()

    def set_paused(self, is_paused: bool) -> None:
        """Shows that every call is refused, whatever state the server is in."""
        if is_paused != self._is_paused:
            self._is_paused = is_paused
            self._fill = "surface.sunken" if is_paused else "surface"
            self._name.set_tone("secondary" if is_paused else "primary")
            self.update()
            self._draw()

    def set_opened(self, is_opened: bool) -> None:
        """Shows by the border that the details of this server are open."""
        self._border = "accent" if is_opened else "border"
        self.update()

    def set_matches(self, count: int) -> None:
        """Shows how many of its tools a search found; -1 without a search."""
        if count != self._matches:
            self._matches = count
            self._draw()

    def set_cost(self, cost: ServerCost | None) -> None:
        """Shows what the definitions of the server's tools cost; None: not known."""
        if cost != self._cost:
            self._cost = cost
            self._draw()

    def controls(self) -> list[QWidget]:
        return [self._name, self._menu_button, self._switch, self._why, *self._page_buttons, self._button, self._expand]

    def _title_row(self) -> QHBoxLayout:
        theme = self._theme
        line = row(margins=(0, 0, GHOST, 0), spacing=12)
        self._tile = IconTile(theme)
        line.addWidget(self._tile)
        words = column()
        self._name = CardName(theme)
        self._name.clicked.connect(self._actions.open)
        self._reached = ElidedLabel(theme, "", "caption", "muted", mode=Qt.TextElideMode.ElideMiddle)
        words.addWidget(self._name)
        words.addWidget(self._reached)
        line.addLayout(words, 1)
        self._menu_button = IconButton(theme, "more", tr("More for {name}", name=self._server.name), small=True)
        self._menu_button.clicked.connect(self._on_menu)
        line.addWidget(self._menu_button, 0, Qt.AlignmentFlag.AlignTop)
        self._switch = Switch(theme, tr("Use {name}", name=self._server.name), on=self._server.state in IN_USE)
        if self._server.is_builtin:
            self._switch.hide()
        self._switch.clicked.connect(self._on_switch)
        line.addWidget(self._switch, 0, Qt.AlignmentFlag.AlignTop)
        return line

    def _state_row(self) -> QHBoxLayout:
        line = row(margins=(0, 0, GHOST, 0), spacing=12)
        self._badge = StateBadge(self._theme, server_look(self._server))
        line.addWidget(self._badge)
        self._lazy = Chip(self._theme, tr("Lazy"), "accent")
        self._lazy.setToolTip(tr("Clients see one small tool; using it loads the rest."))
        line.addWidget(self._lazy)
        self._label = Chip(self._theme)
        line.addWidget(self._label)
        self._origin = Chip(self._theme)
        line.addWidget(self._origin)
        self._confinement = Chip(self._theme)
        line.addWidget(self._confinement)
        self._flaws = Chip(self._theme)
        line.addWidget(self._flaws)
        self._facts = ElidedLabel(self._theme, "", "caption", "muted")
        self._facts.setFont(self._theme.font("caption", tabular=True))
        self._facts.setAlignment(Qt.AlignmentFlag.AlignRight | Qt.AlignmentFlag.AlignVCenter)
        self._facts.setMinimumHeight(20)
        line.addWidget(self._facts, 1)
        return line

    def _foot_row(self) -> QWidget:
        theme = self._theme
        widget = QWidget()
        widget.setFixedHeight(FOOT_HEIGHT)
        self._foot_line = line = row(widget, spacing=8)
        self._traffic = QWidget()
        beside = row(self._traffic, margins=(0, 0, 4, 0))
        self._sparkline = Sparkline(theme, tr("Calls in the last hours"))
        beside.addWidget(self._sparkline)
        line.addWidget(self._traffic)
        words = column()
        words.addStretch(1)
        self._headline = ElidedLabel(theme, "", "caption_strong")
        self._detail = ElidedLabel(theme, "", "caption", "secondary")
        words.addWidget(self._headline)
        words.addWidget(self._detail)
        words.addStretch(1)
        line.addLayout(words, 1)
        self._why = Button(theme, tr("Why?"), "ghost", small=True)
        self._why.setAccessibleName(tr("Why does {name} not run?", name=self._server.name))
        self._why.clicked.connect(self._actions.show_why)
        line.addWidget(self._why)
        again = IconButton(theme, "external", tr("Open the sign-in page of {name} again", name=self._server.name), small=True)
        again.clicked.connect(self._actions.sign_in)
        copy = IconButton(theme, "copy", tr("Copy the sign-in address of {name}", name=self._server.name), small=True)
        copy.clicked.connect(self._actions.copy_sign_in_address)
        self._page_buttons = (again, copy)
        for button in self._page_buttons:
            line.addWidget(button)
        self._button = Button(theme, "", small=True)
        self._button.clicked.connect(self._on_button)
        line.addWidget(self._button)
        self._expand = Button(theme, tr("Show tools"), "ghost", "tools", small=True)
        self._expand.clicked.connect(self._actions.show_tools)
        line.addWidget(self._expand)
        return widget

    def _draw(self) -> None:
        server = self._server
        shown = paused_look(server) if self._is_paused else server_look(server)
        self.setAccessibleName(f"{server.name}, {shown.word}")
        self._tile.set_sign(*sign(server))
        self._name.set_name(server.name, shown.word, server.description)
        self._reached.set_text(reached_shortly(server), reached(server))
        self._switch.set_on(server.state in IN_USE if self._wanted is None else self._wanted)
        self._badge.set_look(shown)
        self._lazy.setVisible(server.is_lazy)
        self._label.set_word(shown_label(server), label_tone(server))
        self._label.setToolTip(label_words(server))
        self._label.setVisible(bool(shown_label(server)))
        chip = origin_chip(server)
        self._origin.set_word(chip, "neutral")
        self._origin.setToolTip(origin(server))
        self._origin.setAccessibleName(origin(server))
        self._origin.setVisible(bool(chip))
        self._draw_confinement()
        self._draw_flaws()
        self._facts.set_text(self._fact_words())
        self._draw_foot(foot(server, self._refusal, datetime.now()))

    def _draw_confinement(self) -> None:
        confinement = self._server.confinement
        words = " · ".join(filter(None, (in_short(confinement), refused_in_short(confinement))))
        is_news = confinement is not None and bool(confinement.missing or confinement.refused)
        self._confinement.set_word(words, "warning" if is_news else "neutral")
        self._confinement.setToolTip(in_full(confinement))
        self._confinement.setAccessibleName(in_full(confinement))
        self._confinement.setVisible(bool(words))

    def _draw_flaws(self) -> None:
        server = self._server
        self._flaws.set_word(flaw_words(server), "warning" if LEFT_OUT in server.flaw_counts else "neutral")
        self._flaws.setToolTip(flaws_in_full(server))
        self._flaws.setAccessibleName(flaws_in_full(server))
        self._flaws.setVisible(bool(server.flaw_counts))

    def _fact_words(self) -> str:
        count = tool_count(self._server, self._cost)
        if self._matches >= 0:
            return f"{count} · {tr('{count} found', count=self._matches)}"
        cost = self._cost
        return f"{count} · {tokens(cost.shown_tokens, cost.tokens)}" if cost is not None and cost.tokens else count

    def _draw_foot(self, shown: Foot) -> None:
        server = self._server
        if self._shown is not None and shown.action is not self._shown.action:
            self._changed_at = time.monotonic()
        self._shown = shown
        of_foot = (self._button, self._expand, self._why, *self._page_buttons)
        had_focus = self.window().focusWidget() in of_foot  # also while another window is in front
        self._traffic.setVisible(shown.shows_traffic)
        self._sparkline.set_values(server.calls)
        self._headline.setVisible(bool(shown.headline))
        self._headline.set_text(shown.headline, shown.explanation)
        self._headline.set_tone(shown.tone)
        self._detail.setVisible(bool(shown.detail))
        self._detail.set_text(shown.detail, shown.explanation)
        self._why.setVisible(shown.has_why)
        for button in self._page_buttons:
            button.setVisible(shown.action is Action.CANCEL_SIGN_IN)
        has_tools = shown.action is Action.TRUST and server.tool_count > 0
        is_expand = shown.action is Action.EXPAND or has_tools
        self._foot_line.setContentsMargins(0, 0, 0 if is_expand else GHOST, 0)
        self._expand.setVisible(is_expand)
        text, icon = button_face(shown.action)
        self._button.setVisible(bool(text))
        if text:
            self._button.set_face(text, icon)
            self._button.setAccessibleName(f"{text}, {server.name}")
        self._expand.setAccessibleName(f"{self._expand.text()}, {server.name}")
        if had_focus:
            target = self._expand if is_expand else self._button if text else self._menu_button
            if (focused := self.window().focusWidget()) is not target and (focused is None or focused.isHidden()):
                target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _on_switch(self, on: bool) -> None:
        self._wanted, self._refusal = on, None
        wish = self._wishes.start_requested if on else self._wishes.stop_requested
        wish.emit(self._server.name)
        self._draw()

    def _on_button(self) -> None:
        if self._shown is None or time.monotonic() - self._changed_at < QApplication.doubleClickInterval() / 1000:
            return  # the second half of a double click on what was here before
        self._refusal = None
        self._actions.perform(self._shown.action)

    def _on_menu(self) -> None:
        self._actions.open_menu(self._menu_button)


def _inset(widget: QWidget) -> QHBoxLayout:
    line = row(margins=(0, 0, GHOST, 0))
    line.addWidget(widget)
    return line
