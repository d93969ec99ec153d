"""Variables of a server: a secret that is there is never shown, one that is typed can be, and a click moves it to the keyring."""

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit
from pytestqt.qtbot import QtBot
from tests.ui.seen import control, field

from tooltray.ui.server_pane.secret_pairs import SecretPairs
from tooltray.ui.theme import Theme

HIDDEN = QLineEdit.EchoMode.Password


@pytest.fixture
def pairs(qtbot: QtBot, theme: Theme) -> SecretPairs:
    widget = SecretPairs(theme, "Environment", "github", lambda key, value: "TOKEN" in key and bool(value), lambda: "the keyring")
    qtbot.addWidget(widget)
    widget.show()
    return widget


def shown(qtbot: QtBot, pairs: SecretPairs, values: dict[str, str]) -> None:
    pairs.set_pairs(values)
    qtbot.waitUntil(lambda: all(row.isVisible() for row in pairs.rows))


def value_of(pairs: SecretPairs, name: str) -> QLineEdit:
    return next(each for each in pairs.findChildren(QLineEdit) if each.accessibleName() == f"Value of {name}" and each.isVisible())


def words(pairs: SecretPairs) -> list[str]:
    return [row._note.text() for row in pairs.rows]


def test_a_secret_in_the_entry_is_hidden_and_has_no_button_that_shows_it(qtbot: QtBot, pairs: SecretPairs) -> None:
    shown(qtbot, pairs, {"A_TOKEN": "hunter2", "HOST": "x"})
    assert value_of(pairs, "A_TOKEN").echoMode() is HIDDEN
    assert value_of(pairs, "HOST").echoMode() is not HIDDEN
    assert not [row for row in pairs.rows if row._show.isVisible()]


def test_one_that_is_typed_here_can_be_shown(qtbot: QtBot, pairs: SecretPairs) -> None:
    shown(qtbot, pairs, {"A_TOKEN": ""})
    QTest.keyClicks(value_of(pairs, "A_TOKEN"), "hunter2")
    assert value_of(pairs, "A_TOKEN").echoMode() is HIDDEN
    control(pairs, "Show A_TOKEN").click()
    assert value_of(pairs, "A_TOKEN").echoMode() is not HIDDEN
    assert pairs.pairs == {"A_TOKEN": "hunter2"}


def test_a_click_moves_it_to_the_keyring_under_a_name_of_its_own(qtbot: QtBot, pairs: SecretPairs) -> None:
    shown(qtbot, pairs, {"A_TOKEN": "Bearer hunter2"})
    assert words(pairs) == ["Saved in plain text in its file."]
    pairs.set_stored({"github/A_TOKEN"})
    control(pairs, "Move A_TOKEN to the keyring").click()
    assert pairs.pairs == {"A_TOKEN": "Bearer ${secret:github/A_TOKEN_2}"}
    assert pairs.secrets == {"github/A_TOKEN_2": "hunter2"}
    assert words(pairs) == ["Goes to the keyring when you save."]


def test_one_that_goes_to_the_keyring_can_be_saved_in_plain_text_instead(qtbot: QtBot, pairs: SecretPairs) -> None:
    shown(qtbot, pairs, {"A_TOKEN": "Bearer hunter2", "HOST": "x"})
    pairs.show_moved({"hunter2"})
    assert words(pairs) == ["Goes to the keyring when you save.", ""]
    control(pairs, "Save A_TOKEN in plain text").click()
    assert pairs.plain == {"hunter2"}
    pairs.show_moved(set())
    assert words(pairs) == ["Saved in plain text in its file.", ""]
    control(pairs, "Move A_TOKEN to the keyring").click()
    assert pairs.plain == set()
    pairs.set_pairs({"A_TOKEN": "other", "HOST": "x"})
    assert pairs.plain == set()


def test_what_does_not_look_like_a_secret_can_be_moved_to_the_keyring(qtbot: QtBot, pairs: SecretPairs) -> None:
    shown(qtbot, pairs, {"HOST": "x"})
    control(pairs, "Move HOST to the keyring").click()
    assert pairs.secrets == {"github/HOST": "x"}


def test_what_the_keyring_has_is_replaced_and_the_entry_stays(qtbot: QtBot, pairs: SecretPairs) -> None:
    shown(qtbot, pairs, {"A_TOKEN": "${secret:github/A_TOKEN}"})
    pairs.set_stored({"github/A_TOKEN"})
    assert words(pairs) == ["In the keyring."]
    assert value_of(pairs, "A_TOKEN").isReadOnly()
    control(pairs, "Replace A_TOKEN").click()
    QTest.keyClicks(value_of(pairs, "A_TOKEN"), "new")
    assert pairs.pairs == {"A_TOKEN": "${secret:github/A_TOKEN}"}
    assert pairs.secrets == {"github/A_TOKEN": "new"}


@pytest.mark.parametrize("pastes", [False, True])
def test_typing_or_pasting_over_a_stored_secret_replaces_it_and_nothing_typed_leaves_it(
    qtbot: QtBot, pairs: SecretPairs, pastes: bool
) -> None:
    shown(qtbot, pairs, {"A_TOKEN": "${secret:github/A_TOKEN}"})
    pairs.set_stored({"github/A_TOKEN"})
    value = value_of(pairs, "A_TOKEN")
    value.setFocus()
    QTest.keyClick(value, Qt.Key.Key_Right)
    assert value.isReadOnly(), "the keyboard only goes past it"
    QApplication.clipboard().setText("new")
    if pastes:
        QTest.keyClick(value, Qt.Key.Key_V, Qt.KeyboardModifier.ControlModifier)
    else:
        QTest.keyClicks(value, "new")
    assert pairs.secrets == {"github/A_TOKEN": "new"}
    value.selectAll()
    QTest.keyClick(value, Qt.Key.Key_Delete)
    assert (pairs.secrets, words(pairs)) == ({}, ["In the keyring."])


def test_one_that_is_missing_is_asked_for_at_once_and_nothing_is_said_of_what_is_not_known(qtbot: QtBot, pairs: SecretPairs) -> None:
    shown(qtbot, pairs, {"A_TOKEN": "${secret:github/A_TOKEN}"})
    pairs.set_stored(None)
    assert words(pairs) == ["Kept among your secrets."]
    pairs.set_stored(set())
    assert words(pairs) == ["It has no value yet."]
    QTest.keyClicks(value_of(pairs, "A_TOKEN"), "new")
    assert pairs.secrets == {"github/A_TOKEN": "new"}


def test_lines_are_added_and_removed_and_a_name_is_there_once(qtbot: QtBot, pairs: SecretPairs) -> None:
    shown(qtbot, pairs, {"HOST": "x"})
    control(pairs, "Add to Environment").click()
    qtbot.waitUntil(lambda: pairs.rows[-1].isVisible())
    name = next(each for each in pairs.findChildren(QLineEdit) if each.accessibleName() == "Name of this variable")
    QTest.keyClicks(name, "HOST")
    assert pairs.is_ambiguous
    assert "This name is there twice." in words(pairs)
    QTest.keyClick(name, Qt.Key.Key_A, Qt.KeyboardModifier.ControlModifier)
    QTest.keyClicks(name, "PORT")
    assert (pairs.pairs, pairs.is_ambiguous) == ({"HOST": "x", "PORT": ""}, False)
    control(pairs, "Remove HOST").click()
    assert pairs.pairs == {"PORT": ""}


def test_a_long_name_is_whole_and_all_names_are_as_wide(qtbot: QtBot, pairs: SecretPairs) -> None:
    pairs.resize(600, 300)
    shown(qtbot, pairs, {"GITHUB_PERSONAL_ACCESS_TOKEN": "x", "HOST": "y"})
    long, short = (field(pairs, f"Name of {name}") for name in ("GITHUB_PERSONAL_ACCESS_TOKEN", "HOST"))
    qtbot.waitUntil(lambda: long.width() == short.width() > long.fontMetrics().horizontalAdvance(long.text()))
    assert long.toolTip() == ""
    pairs.resize(240, 300)
    qtbot.waitUntil(lambda: long.toolTip() == "GITHUB_PERSONAL_ACCESS_TOKEN")
    assert short.toolTip() == ""
