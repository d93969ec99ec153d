"""A form asks for what a server needs, says at each field what is wrong, and hands out what a person gave."""

from collections.abc import Callable

import pytest
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from PySide6.QtWidgets import QApplication, QLineEdit, QPlainTextEdit, QWidget
from tests.ui.seen import control, field, words

from tooltray.foundation.snapshots.entries import FormField
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.form import Form, field_fault

NAME = FormField("name", "Name", description="How it is called", is_required=True)
TOKEN = FormField("token", "Token", is_required=True, is_secret=True)
LIMIT = FormField("limit", "Limit", "number", default=20, minimum=1, maximum=100)
LEVEL = FormField("level", "Level", "choice", default="info", choices=("debug", "info"))
READ_ONLY = FormField("read_only", "Read only", "boolean", default=True)
FOLDERS = FormField("folders", "Folders", "folder", is_list=True, default=("/a",))
FILE = FormField("file", "File", "file")
ALL = (LIMIT, NAME, TOKEN, LEVEL, READ_ONLY, FOLDERS, FILE)


def lines(form: QWidget, name: str) -> QPlainTextEdit:
    return next(each for each in form.findChildren(QPlainTextEdit) if each.accessibleName() == name)


def test_what_a_person_gives_comes_out_by_its_keys_and_what_is_empty_does_not(theme: Theme) -> None:
    form = Form(theme, ALL)
    field(form, "Name").setText(" Ada ")
    field(form, "Token").setText(" not-a-real-token ")
    lines(form, "Folders").setPlainText("/a\n\n /b \n")
    assert form.is_complete
    assert form.values == {
        "name": "Ada",
        "token": " not-a-real-token ",
        "limit": 20.0,
        "level": "info",
        "read_only": True,
        "folders": ("/a", "/b"),
    }


def test_required_fields_come_first_and_say_so_in_words(theme: Theme) -> None:
    form = Form(theme, ALL)
    assert [row.field.key for row in form.rows][:2] == ["name", "token"]
    assert words(form).count("required") == 2
    assert field(form, "Name").accessibleDescription() == "required. How it is called"
    assert field(form, "File").accessibleDescription() == "optional"


def test_a_secret_is_covered_until_a_person_wants_to_see_it(theme: Theme) -> None:
    form = Form(theme, [TOKEN])
    token = field(form, "Token")
    assert token.echoMode() is QLineEdit.EchoMode.Password
    control(form, "Show Token").click()
    assert token.echoMode() is QLineEdit.EchoMode.Normal
    control(form, "Show Token").click()
    assert token.echoMode() is QLineEdit.EchoMode.Password


def test_what_is_wrong_stands_at_its_field_once_it_was_checked_and_goes_as_it_is_corrected(theme: Theme) -> None:
    form = Form(theme, [NAME, LIMIT])
    form.show()
    field(form, "Limit").setText("many")
    assert "must be a number" not in words(form)
    assert not form.check()
    assert "Required." in words(form)
    assert "This must be a number." in words(form)
    assert form.rows[0].control.hasFocus() or not form.isActiveWindow()
    field(form, "Name").setText("x")
    field(form, "Limit").setText("500")
    assert "At most 100." in words(form)
    field(form, "Limit").setText("5")
    assert form.check()
    assert "At most" not in words(form)
    form.hide()


@pytest.mark.parametrize(
    ("asked", "text", "fault"),
    [
        (NAME, "  ", "Required."),
        (FILE, "", ""),
        (LIMIT, "0", "At least 1."),
        (LIMIT, "1e400", "This must be a number."),
        (LIMIT, "nan", "This must be a number."),
        (LIMIT, "1.5", ""),
        (FormField("n", "n", "number", is_list=True), "1\n\nx", "This must be a number."),
        (FormField("n", "n", "number", is_list=True), "1\n2", ""),
    ],
)
def test_faults_are_said_in_words(theme: Theme, asked: FormField, text: str, fault: str) -> None:
    assert field_fault(asked, text) == fault


def test_a_file_or_a_folder_can_be_chosen(theme: Theme) -> None:
    asked: list[tuple[str, bool]] = []

    def choose(title: str, is_folder: bool, use: Callable[[str], None]) -> None:
        asked.append((title, is_folder))
        use("/chosen")

    form = Form(theme, [FILE, FOLDERS], choose_path=choose)
    control(form, "Choose File").click()
    control(form, "Choose Folders").click()
    assert asked == [("File", False), ("Folders", True)]
    assert form.values == {"file": "/chosen", "folders": ("/a", "/chosen")}


def test_a_choice_that_is_optional_can_be_left_open(theme: Theme) -> None:
    form = Form(theme, [FormField("level", "Level", "choice", choices=("a", "b")), READ_ONLY])
    assert form.values == {"read_only": True}
    assert control(form, "Level: Nothing chosen")


def test_a_switch_says_yes_or_no(theme: Theme) -> None:
    form = Form(theme, [READ_ONLY])
    changes: list[bool] = []
    form.changed.connect(lambda: changes.append(True))
    control(form, "Read only").click()
    assert form.values == {"read_only": False}
    assert "No" in words(form)
    assert changes == [True]


def test_tab_reaches_every_field(theme: Theme, app: QApplication) -> None:
    form = Form(theme, [NAME, TOKEN, FOLDERS])
    form.show()
    form.activateWindow()
    QTest.qWaitForWindowActive(form)
    assert form.focus()
    there = []
    for _ in range(6):
        focused = app.focusWidget()
        there.append(focused.accessibleName())
        QTest.keyClick(focused, Qt.Key.Key_Tab)
    assert there[:5] == ["Name", "Token", "Show Token", "Folders", "Choose Folders"]
    form.hide()


def test_until_it_has_a_place_a_form_is_no_window_of_its_own(theme: Theme) -> None:
    assert not Form(theme, [NAME]).isVisible()


def test_a_form_without_fields_is_not_there(theme: Theme) -> None:
    form = Form(theme, [])
    assert form.is_complete
    assert form.isHidden()
    assert not form.focus()
