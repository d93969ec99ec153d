"""Every text a person sees goes through tr(), and every one of them has its Chinese."""

import ast
import functools
import importlib.util
import json
import re
from datetime import datetime
from pathlib import Path

import pytest
from PySide6.QtCore import QCoreApplication, QLocale, QTranslator
from PySide6.QtWidgets import QApplication
from tests.fakes.server_snapshots import server

from tooltray.config.settings.settings_reading import SettingsPlaces, read_settings
from tooltray.foundation.errors import Problem
from tooltray.foundation.languages import languages
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.programs import resource
from tooltray.foundation.snapshots.servers import ServerState
from tooltray.ui.i18n import CONTEXT, JsonTranslator, install_language, say, system_locale, tr
from tooltray.ui.problem_words import in_a_row, title, whole
from tooltray.ui.server_words import foot

DESKTOP = Path(__file__).parents[2] / "desktop" / "tooltray"
UI = DESKTOP / "ui"
FIELD = re.compile(r"\{(\w+)\}")
SHOWING = {"setText", "setToolTip", "setAccessibleName", "setPlaceholderText", "setWindowTitle", "addAction", "setTitle"}
"""Calls whose texts a person sees or hears."""


WAITS = Phrase("{count} AI clients are connected, none names a folder", count=2)


@functools.cache
def called() -> dict[str, list[tuple[Path, ast.Call]]]:
    """All calls in the source, by the name of what is called; read once, since that takes seconds."""
    found: dict[str, list[tuple[Path, ast.Call]]] = {}
    for path in DESKTOP.rglob("*.py"):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call):
                for name in (getattr(node.func, "id", None), getattr(node.func, "attr", None)):
                    if name in SHOWING:
                        found.setdefault(name, []).append((path, node))
    return found


def calls(name: str, root: Path = UI) -> list[tuple[Path, ast.Call]]:
    return [(path, node) for path, node in called().get(name, []) if path.is_relative_to(root)]


spec = importlib.util.spec_from_file_location("languages_script", DESKTOP.parents[1] / "scripts" / "languages.py")
assert spec
assert spec.loader
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)


def test_what_is_said_is_given_as_whole_literal_sentences() -> None:
    assert not [said.place for said in script.texts_in_source(DESKTOP) if said.text is None]


def test_what_is_said_gets_a_value_for_each_field_of_its_text() -> None:
    assert not [said.place for said in script.texts_in_source(DESKTOP) if not set(FIELD.findall(said.text)) <= said.fields]


def test_no_text_goes_past_tr() -> None:
    product = {
        "Tooltray",
        "Ctrl+Enter",
        "npx -y @modelcontextprotocol/server-everything",
        "https://",
        "api.example.org",
        "",
    }  # everywhere the same
    raw = []
    for name in SHOWING:
        for path, node in calls(name):
            raw += [
                f"{path.name}:{node.lineno} {argument.value!r}"
                for argument in node.args
                if isinstance(argument, ast.Constant) and isinstance(argument.value, str) and argument.value not in product
            ]
    assert not raw


SAYING = {"Problem", "TooltrayError", "NotFound", "Conflict", "Denied", "CannotUse", "CannotRead", "CannotOpen", "NotJson", "ValueError"}
"""What carries a sentence for a person."""
OF_STARTS = (
    *(
        "servers/transports/stdio_transport.py",
        "servers/transports/transport_table.py",
        "servers/transports/transport_table.py",
        "servers/launch/command_lookup.py",
    ),
    *(
        "servers/launch/login_shell.py",
        "servers/transports/http/http_*.py",
        "servers/transports/http/sse_transport.py",
        "servers/launch/proxies.py",
    ),
    *(
        "servers/upstream/instance.py",
        "servers/upstream/managed_server.py",
        "servers/upstream/handshake.py",
        "api/presenter/snapshots.py",
        "config/secrets/vaults.py",
    ),
)
"""Where that is worded which a card says of a server that does not run."""
OF_FILES = (
    *(
        "config/settings/settings.py",
        "config/settings/settings_file.py",
        "config/settings/server_config.py",
        "config/settings/json_model.py",
        "config/settings/settings_reading.py",
    ),
    *(
        "foundation/files/json_text.py",
        "config/foreign_configs/[!c]*.py",
        "config/foreign_configs/config_source.py",
        "sources/project_files/*.py",
        "config/settings/file_server.py",
    ),
)
"""Where that is worded which a window says of files with servers in them."""


def is_plain(node: ast.expr) -> bool:
    """Whether it is a sentence of one language alone."""
    if isinstance(node, ast.IfExp):
        return is_plain(node.body) or is_plain(node.orelse)
    is_text = isinstance(node, ast.Constant) and isinstance(node.value, str) and bool(node.value.strip())
    return is_text or isinstance(node, ast.JoinedStr)


def said_plainly(places: tuple[str, ...], saying: set[str]) -> list[str]:
    """The sentences of one language alone in these files."""
    plain = []
    for path in sorted(path for pattern in places for path in DESKTOP.glob(pattern)):
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if isinstance(node, ast.Call) and getattr(node.func, "id", "") in saying:
                parts = [*node.args, *(keyword.value for keyword in node.keywords)]
                plain += [f"{path.name}: {ast.unparse(part)}" for part in parts if is_plain(part)]
            if isinstance(node, ast.Assign) and getattr(node.targets[0], "id", "") in ("title", "message", "reason", "hint"):
                plain += [f"{path.name}: {ast.unparse(node.value)}"] * is_plain(node.value)
    return plain


def test_what_is_wrong_with_files_is_said_in_phrases_alone() -> None:
    assert said_plainly(OF_FILES, SAYING) == []


def test_why_a_server_does_not_run_is_said_in_phrases_alone() -> None:
    assert said_plainly(OF_STARTS, (SAYING - {"ValueError"}) | {"CannotStart", "ExchangeFailed", "EraRefused", "SecretMissing"}) == []


def test_a_slip_in_the_settings_is_said_whole_in_the_person_s_language(app: QApplication) -> None:
    text = b'{"mcpServers": {\n"a": {},\n"b": {"command": 1, "args": 2},\n"c/d": {}}, "publish": {"clients": {"acme": {"mode": "x"}}}}'
    slips = read_settings(json.loads(text)).slips
    translator = JsonTranslator("zh_TW")
    QCoreApplication.installTranslator(translator)
    try:
        said = [whole(each.problem) for each in SettingsPlaces(text).located(slips)]
    finally:
        QCoreApplication.removeTranslator(translator)
    assert said[1] == "無法使用伺服器「a」的項目。第 2 行：它既沒有命令也沒有網址。請在 settings.json 中修正。"
    assert said[2] == "無法使用伺服器「b」的項目。第 3 行：command：必須是文字；args：必須是清單。請在 settings.json 中修正。"
    names = re.compile(r"AI|settings\.json|mcpServers|publish|clients\.acme\.mode|acme|'[a-z]+'|command|args|c/d|[ab]")
    assert not [text for text in said if re.search("[A-Za-z]", names.sub("", text))]


@pytest.mark.parametrize("language", [each.code for each in languages()[1:]])
def test_every_text_has_a_translation_with_the_same_fields_and_none_is_left_over(language: str) -> None:
    catalogue = json.loads(resource("i18n", f"{language}.json").read_text("utf-8"))
    assert script.verdict(catalogue, script.all_texts()).is_well


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


def test_what_the_engine_says_is_said_in_the_person_s_language(app: QApplication) -> None:
    why = Phrase("{count} tools cost about {cost} tokens, more than {most}", count=63, cost=9000, most=5000)
    reason = Phrase("{why}, so they are searched", why=why)
    translator = JsonTranslator("zh_TW")
    QCoreApplication.installTranslator(translator)
    try:
        assert say(reason) == "63 個工具約需 9000 個 token，超過 5000 個，因此改用搜尋"
        assert whole(Problem(reason)) == say(reason) + "。"
        assert whole(Problem(Phrase("its {member}", member="name"), "exit code 1")) == "它的 name。Exit code 1."
        assert foot(server("a", ServerState.WAITING, detail=WAITS), None, datetime(2026, 11, 22)).detail == say(WAITS) != WAITS
        assert say("a server's own {words}") == "a server's own {words}"
        assert say(Phrase("its {member}", member="{x}")) == "它的 {x} "
    finally:
        QCoreApplication.removeTranslator(translator)
    assert say(reason) == reason


def test_sentences_stand_behind_each_other_as_their_scripts_want_it() -> None:
    assert in_a_row("It ended.", "", "See its log.") == "It ended. See its log."
    assert in_a_row("它已結束。", "請查看它的記錄。") == "它已結束。請查看它的記錄。"


def test_a_sentence_begins_with_a_capital_unless_a_name_comes_first() -> None:
    host = Phrase("{host} cannot be found", host="mcp.example.org")
    assert title(Problem(host)) == host
    assert whole(Problem(Phrase("{program} ended", program="npx"))) == "npx ended."
    assert title(Problem(Phrase("{what} is away", what=Phrase("the hub")))) == "The hub is away"
    assert title(Problem("nothing is left")) == "Nothing is left"
    assert title(Problem("npm has no package 'x'")) == "npm has no package 'x'"
    assert whole(Problem("npm has no such package")) == "npm has no such package."


def test_a_system_without_a_language_writes_numbers_with_separators(app: QApplication, monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(QLocale, "system", QLocale.c)
    assert system_locale().toString(1739) == "1,739"
    monkeypatch.setattr(QLocale, "system", lambda: QLocale("de_DE"))
    assert system_locale().toString(1739) == "1.739"
