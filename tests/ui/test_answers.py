"""What a person types into a server's form is checked before it is sent, and goes as the kind of value that was asked for."""

import pytest
from PySide6.QtWidgets import QApplication

from tooltray.foundation.snapshots.questions import AnswerKind, ElicitationField
from tooltray.ui.approval import answers

K = AnswerKind


def field(kind: AnswerKind, **more: object) -> ElicitationField:
    return ElicitationField("x", "X", kind, **more)  # type: ignore[arg-type]


@pytest.mark.parametrize(
    ("asked", "text", "fault"),
    [
        (field(K.TEXT), "", ""),
        (field(K.TEXT, is_required=True), "", "Required"),
        (field(K.TEXT, least=3), "ab", "At least 3 characters"),
        (field(K.TEXT, most=3), "abcd", "At most 3 characters"),
        (field(K.TEXT, least=1, most=3), "abc", ""),
        (field(K.TEXT, format="email"), "nobody", "Write it as in name@example.org"),
        (field(K.TEXT, format="email"), "a@b", ""),
        (field(K.TEXT, format="uri"), "example", "Write it as in https://example.org/"),
        (field(K.TEXT, format="uri"), "http://[", "Write it as in https://example.org/"),
        (field(K.TEXT, format="uri"), "mailto:a@b", ""),
        (field(K.TEXT, format="date"), "2026-02-30", "Write it as in 2026-11-22"),
        (field(K.TEXT, format="date"), "20260203", "Write it as in 2026-11-22"),
        (field(K.TEXT, format="date"), "2026-02-03", ""),
        (field(K.TEXT, format="date-time"), "2026-02-03", "Write it as in 2026-11-22T14:30:00Z"),
        (field(K.TEXT, format="date-time"), "2026-02-03T25:00:00Z", "Write it as in 2026-11-22T14:30:00Z"),
        (field(K.TEXT, format="date-time"), "2026-02-03T04:05:06.7+08:00", ""),
        (field(K.TEXT, format="hex"), "anything", ""),
        (field(K.INTEGER), "1.5", "A whole number is needed"),
        (field(K.INTEGER), "9" * 301, "A whole number is needed"),
        (field(K.NUMBER), "1,5", "A number is needed"),
        (field(K.NUMBER), "inf", "A number is needed"),
        (field(K.NUMBER, least=0), "-0.5", "At least 0"),
        (field(K.INTEGER, most=9), "10", "At most 9"),
        (field(K.INTEGER, least=0, most=9), "9", ""),
    ],
)
def test_what_is_wrong_with_a_text_is_said(app: QApplication, asked: ElicitationField, text: str, fault: str) -> None:
    assert answers.text_fault(asked, text) == fault


@pytest.mark.parametrize(
    ("kind", "text", "value"),
    [
        (K.TEXT, "1", "1"),
        (K.TEXT, "", None),
        (K.INTEGER, " +12 ", 12),
        (K.NUMBER, "12", 12),
        (K.NUMBER, "1.5e3", 1500.0),
        (K.INTEGER, "", None),
    ],
)
def test_a_text_becomes_the_value_that_was_asked_for(kind: AnswerKind, text: str, value: object) -> None:
    found = answers.text_value(field(kind), text)
    assert (found, type(found)) == (value, type(value))


@pytest.mark.parametrize(
    ("asked", "chosen", "fault"),
    [
        (field(K.CHOICE), [], ""),
        (field(K.CHOICE, is_required=True), [], "Choose one"),
        (field(K.CHOICE, is_required=True), ["a"], ""),
        (field(K.CHOICES, is_required=True), [], ""),
        (field(K.CHOICES, is_required=True, least=1), [], "Choose at least one"),
        (field(K.CHOICES, least=2), ["a"], "Choose at least 2"),
        (field(K.CHOICES, most=1), ["a", "b"], "Choose at most 1"),
        (field(K.CHOICES, least=2), [], ""),
    ],
)
def test_what_is_wrong_with_a_choice_is_said(app: QApplication, asked: ElicitationField, chosen: list[str], fault: str) -> None:
    assert answers.choice_fault(asked, chosen) == fault


def test_no_choice_is_no_value_unless_an_empty_list_was_asked_for() -> None:
    assert answers.choice_value(field(K.CHOICE), []) is None
    assert answers.choice_value(field(K.CHOICE), ["a"]) == "a"
    assert answers.choice_value(field(K.CHOICES), []) is None
    assert answers.choice_value(field(K.CHOICES, is_required=True), []) == []
    assert answers.choice_value(field(K.CHOICES), ["a", "b"]) == ["a", "b"]
