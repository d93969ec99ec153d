"""Every page, tab, sheet and window, by the table of scenes: each control has a name and a role, Tab reaches all of them, and no text is
cut off in a language whose words are 40 % longer than English ones."""

import asyncio
from collections.abc import Iterator

import pytest
from PySide6.QtCore import QTranslator
from PySide6.QtGui import QAccessible
from PySide6.QtWidgets import (
    QAbstractButton,
    QAbstractItemView,
    QApplication,
    QLabel,
    QPlainTextEdit,
    QPushButton,
    QTextEdit,
    QWidget,
)
from tests.ui.scenes.all_scenes import SCENES
from tests.ui.scenes.shot import Scene
from tests.ui.test_accessibility import name_of, takes_tab

from tooltray.ui.i18n import CONTEXT
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.card_grid import GridCard
from tooltray.ui.widgets.choice import Choice
from tooltray.ui.widgets.label import ElidedLabel
from tooltray.ui.zoom import set_zoom

LAYOUT_TURNS = 10  # of the loop; layouts in layouts need a few
NO_ROLES = (QAccessible.Role.NoRole, QAccessible.Role.Client, QAccessible.Role.Pane, QAccessible.Role.Grouping)
CLIENTS = ("clients_pane", "clients_rules", "clients_no_entry", "clients_defaults", "profile_new")
SERVERS = ("edit_advanced", "pane_details", "servers_100_details", "servers_100_selected", "servers_advice", "add_remote_keys")
MORE = ("notices", *SERVERS, *CLIENTS)
"""Of what is only another state of a scene those that have controls of their own. `python -m tests.ui.walk` goes through all scenes."""
STATES = {"refused", "notices", "hub_failed", "starting", "paused", "stopped", "bug", "searched", "remotes", "focus", "tray_icons"}
"""Of pages that others show, too."""


def walked() -> list[str]:
    """The scenes without those that show another state of one before: `add_small` of `add`."""
    alike = [name for name in SCENES if name in STATES or name.endswith("_small")]
    first = [name for name in SCENES if name not in alike and not any(name.startswith(f"{other}_") for other in SCENES)]
    return [*first, *(name for name in MORE if name in SCENES)]


def is_own(widget: QWidget) -> bool:
    """Whether it is a control of ours, not a part of one of Qt's."""
    return not widget.objectName().startswith("qt_") and not widget.focusProxy()


def faults(window: QWidget) -> Iterator[str]:
    """What somebody without a mouse, or without eyes, would miss."""
    for widget in window.findChildren(QWidget):
        if not widget.isVisible() or not widget.isEnabled() or not is_own(widget):
            continue
        if isinstance(widget, QAbstractButton) and not takes_tab(widget) and not has_neighbour(widget) and not is_on_a_card(widget):
            yield f"{name_of(widget)}: Tab does not come there"
        if takes_tab(widget):
            yield from of_control(widget)


def has_neighbour(button: QAbstractButton) -> bool:
    """Whether Tab comes to another one of its row, from where arrows go on."""
    if button.group() is not None:
        return any(takes_tab(each) for each in button.group().buttons())
    parent = button.parentWidget()
    others = parent.findChildren(QAbstractButton) if button.autoExclusive() and parent else ()
    return any(each.autoExclusive() and takes_tab(each) for each in others)


def is_on_a_card(button: QAbstractButton) -> bool:
    """Whether it is a control of a card, to which arrows go from the card where Tab stops."""
    cards = button.window().findChildren(GridCard)
    return any(button in card.controls() for card in cards) and any(takes_tab(each) for card in cards for each in card.controls())


def of_control(widget: QWidget) -> Iterator[str]:
    text = getattr(widget, "text", None)
    if not widget.accessibleName() and not (callable(text) and text()):
        yield f"{type(widget).__name__}: no name"
    interface = QAccessible.queryAccessibleInterface(widget)
    is_told = bool(widget.accessibleName() and widget.accessibleDescription())  # a chart: Qt has no role for it, its words say all
    if interface is None or (interface.role() in NO_ROLES and not is_told):
        yield f"{name_of(widget)}: no role"
    if isinstance(widget, QTextEdit | QPlainTextEdit) and not (widget.isReadOnly() or widget.tabChangesFocus()):
        yield f"{name_of(widget)}: Tab does not leave it"
    if isinstance(widget, QAbstractItemView) and widget.tabKeyNavigation():
        yield f"{name_of(widget)}: Tab goes from cell to cell"
    if not any(chain is widget for chain in chain_of(widget.window())):
        yield f"{name_of(widget)}: not in the order of Tab"


def chain_of(window: QWidget) -> list[QWidget]:
    """The widgets as Tab goes through them, from the window on."""
    found, each = [window], window.nextInFocusChain()
    while each is not None and each is not window:
        found.append(each)
        each = each.nextInFocusChain()
    return found


class LongWords(QTranslator):
    """A language that nobody speaks: English, 40 % longer."""

    def isEmpty(self) -> bool:
        return False

    def translate(self, context: str, text: str, _disambiguation: str | None = None, _n: int = -1) -> str | None:
        return f"[{text}{'~' * (len(text) * 2 // 5)}]" if context == CONTEXT and text else None


@pytest.fixture
def long_words(app: QApplication) -> Iterator[None]:
    language = LongWords(app)
    app.installTranslator(language)
    yield
    app.removeTranslator(language)
    language.deleteLater()


def cut_off(window: QWidget) -> Iterator[str]:
    """Texts of labels and buttons that do not fit; labels that end with "…" and have the whole text in a tooltip are made for that."""
    for widget in window.findChildren(QLabel):
        if not widget.isVisible() or isinstance(widget, ElidedLabel) or not widget.text():
            continue
        if widget.wordWrap() and widget.heightForWidth(widget.width()) > widget.height() + 1:
            yield f"{widget.text()}: cut off below"
        elif not widget.wordWrap() and widget.sizeHint().width() > widget.width() + 1:
            yield f"{widget.text()}: cut off"
    for button in window.findChildren(QPushButton):
        if button.isVisible() and not isinstance(button, Choice) and button.sizeHint().width() > button.width() + 1:
            yield f"{button.text()}: cut off"


@pytest.mark.usefixtures("long_words")
@pytest.mark.parametrize("name", walked())
async def test_every_control_has_a_name_a_role_and_a_place_in_the_order_of_tab_and_shows_its_text(theme: Theme, name: str) -> None:
    scene: Scene = SCENES[name]
    shot = await scene(theme)
    try:
        for _ in range(LAYOUT_TURNS):
            await asyncio.sleep(0)
        assert sorted({*faults(shot.window), *cut_off(shot.window)}) == []
    finally:
        await shot.close()


@pytest.fixture
def zoomed(app: QApplication) -> Iterator[Theme]:
    """The theme at 150 %, applied once: each time all widgets are polished."""
    set_zoom(150)
    theme = Theme("light", reduced_motion=True)
    theme.apply(app)
    yield theme
    set_zoom(100)


@pytest.mark.parametrize("name", walked())
async def test_no_text_is_cut_off_in_a_zoomed_window(zoomed: Theme, name: str) -> None:
    shot = await SCENES[name](zoomed)
    try:
        for _ in range(LAYOUT_TURNS):
            await asyncio.sleep(0)
        assert sorted(set(cut_off(shot.window))) == []
    finally:
        await shot.close()
