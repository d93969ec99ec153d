"""A server's card: what it is, how it is, and what to do next. All cards are equally high, so that they line up and nothing jumps in any
state. Draws a frozen snapshot, emits requests; a new snapshot changes only what differs, so that focus and hover stay."""

import time
from datetime import datetime
from functools import partial

from msgspec.structs import replace
from PySide6.QtCore import QRectF, QSize, Qt
from PySide6.QtGui import QContextMenuEvent, QFocusEvent, QFontMetrics, QKeyEvent, QMouseEvent, QPainter, QPaintEvent, QPen
from PySide6.QtWidgets import QApplication, QHBoxLayout, QSizePolicy, QWidget

from tooltray.foundation.errors import Problem
from tooltray.foundation.snapshots.servers import LEFT_OUT, ServerSnapshot, ServerState
from tooltray.ui.confinement_words import in_full, in_short, refused_in_short
from tooltray.ui.i18n import tr
from tooltray.ui.kit.background import timer
from tooltray.ui.kit.server_wishes import ServerWishes
from tooltray.ui.origins import origin, origin_chip
from tooltray.ui.problem_words import in_a_row
from tooltray.ui.server_pane.server_menu import ServerButtons
from tooltray.ui.server_text import plain_tip
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
    shown_label,
    sign,
    traffic,
)
from tooltray.ui.servers.server_filter import needs_action
from tooltray.ui.service_words import service
from tooltray.ui.state_language import IN_USE, Look, look, paused_look, server_look
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.button import Button, IconButton, PaintedButton, Switch
from tooltray.ui.widgets.card_grid import GridCard
from tooltray.ui.widgets.chip import CHIP_HEIGHT, Chip, StateBadge
from tooltray.ui.widgets.icon import IconTile
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.widgets.surface import add_gap, column, fill, row
from tooltray.ui.zoom import px

HEIGHT, FOOT_HEIGHT = 112, 36  # px; of a card whose words fit into one line each
LINES_OF_TROUBLE = 2  # for what is wrong; all of it is in the tooltip, and in Why?
ABOVE, BADGE = 11, 29  # px: the state's shape is below the middle of the tile, and its words below the name
LEAST = 24  # px of a name that has hardly any room
TICK_MS = 1000
RING = 2  # px of the line around a card that has the keyboard


class CardName(PaintedButton):
    """A server's name, which has the keyboard for its card and describes the state to screen readers."""

    def __init__(self, theme: Theme, card: QWidget) -> None:
        super().__init__()
        self._theme, self._card, self._tone = theme, card, "text.primary"
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self.setAttribute(Qt.WidgetAttribute.WA_Hover)
        self.setSizePolicy(QSizePolicy.Policy.Ignored, QSizePolicy.Policy.Fixed)
        self.setFixedHeight(theme.line("strong"))
        self.setFont(theme.font("strong"))

    def set_server(self, server: ServerSnapshot, state: str, meaning: str) -> None:
        """Shows the name of a server, and describes its state and the keys to screen readers."""
        self.setText(server.name)
        self.setAccessibleName(f"{server.name}, {state}")
        self.setToolTip(plain_tip(server.description or server.name))
        keys = tr("Enter opens it, Space switches it on or off. Arrow keys: other servers.")
        self.setAccessibleDescription(in_a_row(meaning, keys))
        self.update()

    def set_tone(self, tone: str) -> None:
        self._tone = f"text.{tone}"
        self.update()

    def sizeHint(self) -> QSize:
        return QSize(QFontMetrics(self.font()).horizontalAdvance(self.text()), self.height())

    def minimumSizeHint(self) -> QSize:
        return QSize(px(LEAST), self.height())

    def keyPressEvent(self, event: QKeyEvent) -> None:
        if event.key() == Qt.Key.Key_Space:
            event.ignore()  # the card's
        else:
            super().keyPressEvent(event)

    def focusInEvent(self, event: QFocusEvent) -> None:
        super().focusInEvent(event)
        self._card.update()

    def focusOutEvent(self, event: QFocusEvent) -> None:
        super().focusOutEvent(event)
        self._card.update()

    def paintEvent(self, _event: QPaintEvent) -> None:
        shown = QFontMetrics(self.font()).elidedText(self.text(), Qt.TextElideMode.ElideMiddle, self.width() + 1)  # advances are rounded
        with QPainter(self) as painter:
            painter.setFont(self.font())
            painter.setPen(self._theme.color("accent.text" if self.underMouse() else self._tone))
            painter.drawText(QRectF(self.rect()), Qt.AlignmentFlag.AlignVCenter, shown)


class ServerCard(GridCard):
    def __init__(self, theme: Theme, server: ServerSnapshot, wishes: ServerWishes) -> None:
        super().__init__(theme, hover=True)
        self.server, self._wishes = server, wishes
        self._actions = ServerButtons(theme, self, server=server, wishes=wishes)
        self._refusal: Problem | None = None
        self._wanted: bool | None = None  # where a person put the switch, until the server follows or refuses
        self._matches = -1
        self._is_paused = False
        self._shown: Foot | None = None
        self._changed_at = 0.0
        self._clock = timer(self, TICK_MS, self._on_tick, repeats=True)  # while it is said when it is tried again
        body = fill(column(self, margins=(16, 14, 16, 10)), self._title_row())
        add_gap(body, 8)
        fill(body, self._foot_row(), 1)
        self.setMinimumHeight(px(HEIGHT))
        self.setCursor(Qt.CursorShape.PointingHandCursor)
        self._draw()

    @property
    def is_urgent(self) -> bool:
        return needs_action(self.server)

    def mousePressEvent(self, event: QMouseEvent) -> None:
        event.accept()  # else a release is none of this card's

    def mouseReleaseEvent(self, event: QMouseEvent) -> None:
        """Opens the server: its card is one button around the others."""
        if event.button() is Qt.MouseButton.LeftButton and self.rect().contains(event.position().toPoint()):
            self._actions.open()

    def keyPressEvent(self, event: QKeyEvent) -> None:
        """Switches the server with Space, and opens its menu with Shift+F10, which only some desktops make the menu's key."""
        if event.key() == Qt.Key.Key_Space and not event.isAutoRepeat() and not self._switch.isHidden():
            self._switch.click()
        elif event.key() == Qt.Key.Key_F10 and event.modifiers() == Qt.KeyboardModifier.ShiftModifier:
            self._on_menu()
        else:
            super().keyPressEvent(event)

    def contextMenuEvent(self, _event: QContextMenuEvent) -> None:
        self._on_menu()

    def paintEvent(self, event: QPaintEvent) -> None:
        super().paintEvent(event)
        if self._name.shows_focus:
            with QPainter(self) as painter:
                painter.setRenderHint(QPainter.RenderHint.Antialiasing)
                painter.setPen(QPen(self._theme.color("accent"), RING))
                radius = self._theme.radius(self._radius)
                painter.drawRoundedRect(QRectF(self.rect()).adjusted(RING / 2, RING / 2, -RING / 2, -RING / 2), radius, radius)

    def set_server(self, server: ServerSnapshot) -> None:
        """Shows a newer snapshot."""
        if server == self.server:
            return
        if server.state is not self.server.state:
            self._wanted = self._refusal = None
        if server.state is ServerState.STOPPING:  # the switch waits for where that ends: a server that is idle stops and sleeps
            self._wanted = self._switch.isChecked()
        self.server = self._actions.server = server
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

    def controls(self) -> list[QWidget]:
        return [self._name, self._menu_button, self._switch, self._why, *self._page_buttons, self._button]

    def _title_row(self) -> QHBoxLayout:
        theme = self._theme
        self._tile, self._name = IconTile(theme), CardName(theme, self)
        self._name.clicked.connect(self._actions.open)
        self._service = ElidedLabel(theme, "", "caption", "muted", hugs=True)
        self._service.setFixedHeight(px(CHIP_HEIGHT))
        self._label, self._origin, self._confinement, self._flaws = chips = [Chip(theme) for _ in range(4)]
        words = fill(column(), self._name, fill(row(spacing=6), self._service, *chips, 1))
        line = fill(row(spacing=12), self._tile, (words, 1))
        self._menu_button = IconButton(theme, "more", tr("More for {name}", name=self.server.name), small=True, on_click=self._on_menu)
        line.addWidget(self._menu_button, 0, Qt.AlignmentFlag.AlignTop)
        self._switch = Switch(theme, tr("Use {name}", name=self.server.name), on=self.server.state in IN_USE)
        if self.server.is_builtin:
            self._switch.hide()
        self._switch.clicked.connect(self._on_switch)
        line.addWidget(self._switch, 0, Qt.AlignmentFlag.AlignTop)
        return line

    def _foot_row(self) -> QWidget:
        theme, name = self._theme, self.server.name
        widget = self._foot = QWidget()
        widget.setFixedHeight(px(FOOT_HEIGHT))
        self._badge = StateBadge(theme, server_look(self.server), has_word=False)
        self._badge.setFixedWidth(px(BADGE))
        self._headline = ElidedLabel(theme, "", "caption_strong")
        self._detail = ElidedLabel(theme, "", "caption", "secondary")
        self._detail.lines_changed.connect(self._on_lines_changed)
        self._facts = ElidedLabel(theme, "", "caption", "muted", hugs=True)
        self._facts.setFont(theme.font("caption", tabular=True))
        ask, again = self._actions.request, tr("Open the sign-in page of {name} again", name=name)
        copy = tr("Copy the sign-in address of {name}", name=name)
        self._why = Button(theme, tr("Why?"), "ghost", small=True, on_click=partial(ask, "diagnosis"))
        self._why.setAccessibleName(tr("Why does {name} not run?", name=name))
        self._page_buttons = (
            IconButton(theme, "external", again, small=True, on_click=partial(ask, "sign_in")),
            IconButton(theme, "copy", copy, small=True, on_click=partial(ask, "sign_in_address")),
        )
        self._button = Button(theme, "", small=True, on_click=self._on_button)
        words = fill(column(), 1, self._headline, self._detail, 1)
        line = fill(row(widget, margins=(ABOVE, 0, 0, 0), spacing=8), self._badge, (words, 1), self._facts)
        fill(line, self._why, *self._page_buttons, self._button)
        return widget

    def _draw(self) -> None:
        server = self.server
        shown = paused_look(server) if self._is_paused else server_look(server)
        self.setAccessibleName(f"{server.name}, {shown.word}")
        self._tile.set_sign(*sign(server))
        self._service.set_text(service(server), reached(server))
        self._switch.set_on(server.state in IN_USE if self._wanted is None else self._wanted)
        confinement = server.confinement
        is_news = confinement is not None and bool(confinement.missing or confinement.refused)
        kept_to = " · ".join(filter(None, (in_short(confinement), refused_in_short(confinement)))) if is_news else ""
        left_out = flaw_words(server) if LEFT_OUT in server.flaw_counts else ""
        _show_chip(self._label, shown_label(server), label_tone(server), label_words(server))
        _show_chip(self._origin, origin_chip(server), "neutral", origin(server))
        _show_chip(self._confinement, kept_to, "warning", in_full(confinement))
        _show_chip(self._flaws, left_out, "warning", flaws_in_full(server))
        if bool(server.retry_at) is not self._clock.isActive():
            self._clock.start() if server.retry_at else self._clock.stop()
        self._draw_foot(foot(server, self._refusal, datetime.now()), shown)

    def _on_tick(self) -> None:
        if self.isVisible():
            self._draw()

    def _draw_foot(self, shown: Foot, state: Look) -> None:
        if self._shown is not None and shown.action is not self._shown.action:
            self._changed_at = time.monotonic()
        self._shown = shown
        headline, detail = shown.headline, shown.detail
        if shown.is_calm:
            is_asleep = self.server.state is ServerState.ON_DEMAND and not self._is_paused
            headline, detail = state.word, tr("Starts when used") if is_asleep else ""
        if shown.tone != "primary" and state.tone not in ("error", "warning", "neutral"):  # it runs, and something else is wrong
            wrong = look(ServerState.ERROR if shown.tone == "error" else ServerState.NEEDS_SIGN_IN)
            state = replace(wrong, word=state.word)
        self._badge.set_look(state, shown.explanation)
        self._name.set_server(self.server, state.word, shown.explanation)
        self._headline.set_text(headline, shown.explanation)
        self._headline.set_tone("secondary" if state.tone == "neutral" else state.tone)
        self._detail.setVisible(bool(detail))
        self._detail.set_most_lines(LINES_OF_TROUBLE if shown.tone in ("error", "warning") else 1)
        self._detail.set_text(detail, shown.explanation)
        calls = traffic(self.server) if shown.is_calm and self.server.calls_today else ""
        facts = calls if self._matches < 0 else tr("{count} found", count=self._matches)
        self._facts.set_text(facts)
        self._facts.setVisible(bool(facts))
        text, icon = button_face(shown.action)
        if text:
            self._button.set_face(text, icon)
            self._button.setAccessibleName(f"{text}, {self.server.name}")
        is_signing_in = shown.action is Action.CANCEL_SIGN_IN
        has_button = bool(text) and shown.action is not Action.START  # the switch starts it
        for control, is_shown in (
            (self._why, shown.has_why),
            *((each, is_signing_in) for each in self._page_buttons),
            (self._button, has_button),
        ):
            if not is_shown and control is self.window().focusWidget():  # also while another window is in front
                self._name.setFocus(Qt.FocusReason.OtherFocusReason)
            control.setVisible(is_shown)

    def _on_lines_changed(self, count: int) -> None:
        """Makes room for what is wrong, where it needs more than one line."""
        more = (count - 1) * self._theme.line("caption")
        self._foot.setFixedHeight(px(FOOT_HEIGHT) + more)
        self.setMinimumHeight(px(HEIGHT) + more)

    def _on_switch(self, on: bool) -> None:
        self._wanted, self._refusal = on, None
        wish = self._wishes.start_requested if on else self._wishes.stop_requested
        wish.emit(self.server.name)
        self._draw()

    def _on_button(self) -> None:
        if self._shown is None or time.monotonic() - self._changed_at < QApplication.doubleClickInterval() / 1000:
            return  # the second half of a double click on what was here before
        self._refusal = None
        self._actions.perform(self._shown.action)

    def _on_menu(self) -> None:
        self._actions.open_menu(self._menu_button, is_short=True)


def _show_chip(chip: Chip, word: str, tone: str, explanation: str) -> None:
    chip.set_word(word, tone)
    chip.setToolTip(plain_tip(explanation))
    chip.setAccessibleName(explanation)
    chip.setVisible(bool(word))
