"""Commands speak the person's language: by the settings, else by the terminal; with --json always English."""

import json
from collections.abc import Iterator, Mapping

import pytest

from tooltray.cli.run import run
from tooltray.cli.speech import in_one_line, say, speak, spoken, tr
from tooltray.foundation.home.home import Home
from tooltray.foundation.phrases import Phrase

CHINESE = {"LANG": "zh_TW.UTF-8"}


@pytest.fixture(autouse=True)
def english_again() -> Iterator[None]:
    yield
    speak("en")


def said(capsys: pytest.CaptureFixture[str], home: Home, *words: str, environ: Mapping[str, str] = CHINESE) -> str:
    capsys.readouterr()
    run(words, open_desktop=lambda home, **_: 0, environ={"TOOLTRAY_HOME": str(home.root), **environ})
    shown = capsys.readouterr()
    return shown.out + shown.err


def test_results_errors_and_wrong_usage_are_said_in_the_language_of_the_terminal(
    hub_home: Home, capsys: pytest.CaptureFixture[str]
) -> None:
    assert said(capsys, hub_home, "servers", "list").startswith("還沒有伺服器。")
    assert "沒有伺服器「x」" in said(capsys, hub_home, "servers", "remove", "x")
    assert said(capsys, hub_home, "secrets", "remove").endswith("請給機密的 NAME，或 --unused\n")
    assert "選擇無效：'x'" in said(capsys, hub_home, "x")
    assert said(capsys, hub_home, "servers", "list", environ={"LANG": "de_DE"}).startswith(
        "No servers yet. Add one: tooltray servers add NAME -- COMMAND ARGS..."
    )


def test_help_is_said_in_it_too(hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    with pytest.raises(SystemExit):
        said(capsys, hub_home, "servers", "--help")
    text = capsys.readouterr().out
    assert text.startswith("用法：tooltray servers")
    assert "列出伺服器與狀態" in text
    assert "show this help" not in text


def test_the_settings_go_before_the_terminal(hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    hub_home.root.mkdir(exist_ok=True)
    hub_home.settings.write_text('{"version": 1, "language": "en"}')
    assert said(capsys, hub_home, "servers", "list").startswith("No servers yet. Add one: tooltray servers add NAME -- COMMAND ARGS...")
    hub_home.settings.write_text('{"version": 1, "language": "zh_TW"}')
    assert said(capsys, hub_home, "servers", "list", environ={}).startswith("還沒有伺服器。")
    assert said(capsys, hub_home, "servers", "list", "--home", str(hub_home.root / "other"), environ={}).startswith(
        "No servers yet. Add one: tooltray servers add NAME -- COMMAND ARGS..."
    )


def test_programs_get_english(hub_home: Home, capsys: pytest.CaptureFixture[str]) -> None:
    assert json.loads(said(capsys, hub_home, "status", "--json"))["running"] is False
    error = json.loads(said(capsys, hub_home, "servers", "remove", "x", "--json"))["error"]
    assert error["title"].isascii()
    assert spoken() == "en"


def test_phrases_and_what_stands_in_them_are_said_and_other_texts_stay() -> None:
    speak("zh_TW")
    assert say(Phrase("'{command}' is not executable", command="npx")) == say("'npx' is not executable") == "「npx」不可執行"
    assert say("a server's own words") == "a server's own words"
    assert tr("{count} tools", count=2) == "2 個工具"
    assert in_one_line(Phrase("No changes."), "x is y") == f"{tr('No changes.').rstrip('。')}。x is y"
    speak("en")
    assert in_one_line("It failed.", "", "because", "Try again.") == "It failed: because. Try again"
