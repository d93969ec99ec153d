"""Every text a person sees goes through tr(), and every one of them has its Chinese."""

import ast
import json
import re
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QTranslator
from PySide6.QtWidgets import QApplication

from tooltray.resources import resource
from tooltray.ui.i18n import CONTEXT, LANGUAGES, JsonTranslator, install_language, tr, wanted_language

UI = Path(__file__).parents[2] / "desktop" / "tooltray" / "ui"
FIELD = re.compile(r"\{(\w+)\}")
SHOWING = {"setText", "setToolTip", "setAccessibleName", "setPlaceholderText", "setWindowTitle", "addAction", "setTitle"}
"""Calls whose texts a person sees or hears."""


def calls(name: str) -> list[tuple[Path, ast.Call]]:
    return [
        (path, node)
        for path in UI.rglob("*.py")
        for node in ast.walk(ast.parse(path.read_text("utf-8")))
        if isinstance(node, ast.Call) and name in (getattr(node.func, "id", None), getattr(node.func, "attr", None))
    ]


def texts() -> set[str]:
    return {node.args[0].value for _, node in calls("tr") if isinstance(node.args[0], ast.Constant)}


def test_tr_is_given_whole_literal_sentences() -> None:
    odd = [f"{path.name}:{node.lineno}" for path, node in calls("tr") if not isinstance(node.args[0], ast.Constant)]
    assert not odd


def test_tr_gets_a_value_for_each_field_of_its_text() -> None:
    wrong = []
    for path, node in calls("tr"):
        given = {keyword.arg for keyword in node.keywords}
        if isinstance(node.args[0], ast.Constant) and set(FIELD.findall(node.args[0].value)) != given:
            wrong.append(f"{path.name}:{node.lineno}")
    assert not wrong


def test_no_text_goes_past_tr() -> None:
    product = {"Tooltray", "Ctrl+Enter", "npx -y @modelcontextprotocol/server-everything", ""}  # the same in every language
    raw = []
    for name in SHOWING:
        for path, node in calls(name):
            raw += [
                f"{path.name}:{node.lineno} {argument.value!r}"
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str) and argument.value not in product
            ]
    assert not raw


@pytest.mark.parametrize("language", LANGUAGES)
def test_every_text_has_a_translation_with_the_same_fields_and_none_is_left_over(language: str) -> None:
    catalogue = json.loads(resource("i18n", f"{language}.json").read_text("utf-8"))
    assert set(catalogue) == texts()
    assert not [text for text, translated in catalogue.items() if set(FIELD.findall(text)) != set(FIELD.findall(translated))]
    assert not [text for text, translated in catalogue.items() if not translated.strip()]


@pytest.mark.parametrize(
    ("names", "language"),
    [
        (["zh-TW"], "zh_TW"),
        (["zh-Hant-HK", "zh-HK"], "zh_TW"),
        (["de-DE", "zh-TW", "en-US"], "zh_TW"),
        (["en-GB", "zh-TW"], ""),
        (["zh-CN"], ""),
        (["de-DE"], ""),
        ([], ""),
    ],
)
def test_the_language_is_the_first_one_that_a_person_reads_and_we_have(names: list[str], language: str) -> None:
    assert wanted_language(names) == language


def test_an_app_in_chinese_has_qt_s_menus_in_chinese_too(app: QApplication) -> None:
    install_language(app, "zh_TW")
    translators = app.findChildren(QTranslator)
    try:
        assert tr("Servers") == "伺服器"
        assert QCoreApplication.translate("QWidgetTextControl", "&Copy") != "&Copy"
    finally:
        for translator in translators:
            app.removeTranslator(translator)
            translator.deleteLater()
    install_language(app, "")
    assert tr("Servers") == "Servers"


def test_a_translated_app_translates_and_leaves_qt_s_own_texts_alone(app: QApplication) -> None:
    translator = JsonTranslator("zh_TW")
    QCoreApplication.installTranslator(translator)
    try:
        assert tr("{count} tools", count=3) == "3 個工具"
        assert tr("a text that nobody translated") == "a text that nobody translated"
        assert translator.translate("QLineEdit", "Servers") is None
        assert translator.translate(CONTEXT, "Servers") == "伺服器"
    finally:
        QCoreApplication.removeTranslator(translator)
