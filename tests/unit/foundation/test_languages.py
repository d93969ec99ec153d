"""Which language is spoken, and what is said in it; whatever a catalogue, the settings or the system hold."""

import json
from pathlib import Path

import pytest

from tooltray.foundation import languages as found
from tooltray.foundation.languages import (
    Catalogue,
    Language,
    chosen_language,
    fitting_form,
    language_for,
    languages,
    names_in,
    spoken_language,
)


@pytest.fixture
def folder(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """Catalogues of a test, in place of those that are shipped."""
    monkeypatch.setattr(found, "resource", lambda _, *parts: tmp_path.joinpath(*parts))
    return tmp_path


def write(folder: Path, code: str, texts: object) -> None:
    (folder / f"{code}.json").write_text(texts if isinstance(texts, str) else json.dumps(texts), "utf-8")


def test_languages_are_found_from_their_files_with_their_own_names() -> None:
    english, *others = languages()
    assert english == Language("en", "English", ("en",))
    assert Language("zh_TW", "繁體中文", ("zh-TW", "zh-HK", "zh-MO", "zh-Hant")) in others


def test_a_new_language_is_one_file(folder: Path) -> None:
    write(folder, "fr", {"": "language: Français\nfor: fr", "Servers": "Serveurs"})
    write(folder, "de_AT", {"Servers": "Server"})  # says nothing of itself
    assert [each.name for each in languages()] == ["English", "Français", "de_AT"]
    assert (language_for(["fr-CA"]), language_for(["de-AT"]), language_for(["de-DE"])) == ("fr", "de_AT", "en")
    assert Catalogue("fr").filled("Servers", {}) == "Serveurs"


@pytest.mark.parametrize(
    ("names", "language"),
    [
        (["zh-TW"], "zh_TW"),
        (["zh-Hant-HK", "zh-HK"], "zh_TW"),
        (["de-DE", "zh-TW", "en-US"], "zh_TW"),
        (["en-GB", "zh-TW"], "en"),
        (["zh-CN"], "en"),
        (["ar-EG"], "en"),
        (["", "../../etc", "💥"], "en"),
        ([], "en"),
    ],
)
def test_the_language_is_the_first_one_that_a_person_reads_and_we_have(names: list[str], language: str) -> None:
    assert language_for(names) == language


@pytest.mark.expected_warnings("language 'xx' not found", "language '../themes")
def test_what_a_person_has_chosen_goes_before_the_system_unless_there_is_no_such_language(caplog: pytest.LogCaptureFixture) -> None:
    assert spoken_language("en", ["zh-TW"]) == "en"
    assert spoken_language("zh_TW", ["en-US"]) == "zh_TW"
    assert spoken_language("", ["zh-TW"]) == "zh_TW"
    assert spoken_language("../themes/tokens", ["zh-TW"]) == "zh_TW"
    assert spoken_language("xx", ["zh-TW"]) == "zh_TW"
    assert "language 'xx' not found" in caplog.text


@pytest.mark.parametrize(
    ("environ", "names"),
    [
        ({"LANG": "zh_TW.UTF-8"}, ["zh_TW"]),
        ({"LANG": "de_DE@euro", "LANGUAGE": "zh_TW:en"}, ["zh_TW", "en", "de_DE"]),
        ({"LC_ALL": "C", "LANG": "zh_TW.UTF-8", "LANGUAGE": "zh_TW"}, []),
        ({"LC_MESSAGES": "en_US.UTF-8", "LANG": "zh_TW.UTF-8"}, ["en_US"]),
        ({"LANG": "POSIX"}, []),
        ({}, []),
    ],
)
def test_a_terminal_names_its_languages_as_gettext_reads_them(environ: dict[str, str], names: list[str]) -> None:
    assert names_in(environ) == names


@pytest.mark.parametrize(
    ("text", "language"),
    [
        ('{"language": "zh_TW"}', "zh_TW"),
        ('\ufeff{"language": "en"}', "en"),
        ('{"mcpServers": {"language": {}}}', ""),
        ('{"language": 7}', ""),
        ('["language"]', ""),
        ('{"language": "zh_TW",', ""),
        ("[" * 100_000 + '"language"', ""),
        ("{}", ""),
    ],
)
def test_the_settings_name_a_language_or_are_passed_over(tmp_path: Path, text: str, language: str) -> None:
    (tmp_path / "settings.json").write_text(text, "utf-8")
    assert chosen_language(tmp_path / "settings.json") == language


def test_settings_that_cannot_be_read_name_no_language(tmp_path: Path) -> None:
    assert chosen_language(tmp_path / "missing.json") == ""
    assert chosen_language(tmp_path) == ""
    (tmp_path / "settings.json").write_bytes(b'{"language": "\xff"}')
    assert chosen_language(tmp_path / "settings.json") == ""


@pytest.mark.expected_warnings("texts are in English")
@pytest.mark.parametrize("text", ["{", "[]", "\0", '"x"'])
def test_a_broken_catalogue_leaves_everything_in_english_and_the_log_says_so(
    folder: Path, text: str, caplog: pytest.LogCaptureFixture
) -> None:
    write(folder, "xx", text)
    assert Catalogue("xx").filled("{count} tools", {"count": 2}) == "2 tools"
    assert "texts are in English" in caplog.text


@pytest.mark.expected_warnings("cannot be read")
def test_a_catalogue_that_is_no_text_is_no_language_and_the_log_says_so(folder: Path, caplog: pytest.LogCaptureFixture) -> None:
    (folder / "xx.json").write_bytes(b"\xff\xfe\xff")
    assert [each.code for each in languages()] == ["en"]
    assert "cannot be read" in caplog.text


def test_a_slip_in_a_translation_costs_that_text_alone(folder: Path) -> None:
    write(folder, "xx", {"": "language: X", "{count} tools": "{cuont} x", "Servers": 7, "Files": "", "{a} of {b}": "{"})
    catalogue = Catalogue("xx")
    assert catalogue.filled("{count} tools", {"count": 2}) == "2 tools"
    assert catalogue.filled("{a} of {b}", {"a": 1, "b": 2}) == "1 of 2"
    assert (catalogue.get("Servers"), catalogue.get("Files"), catalogue.get("")) == (None, None, None)


def test_what_was_said_in_english_is_recognised_by_its_words() -> None:
    chinese = Catalogue("zh_TW")
    assert chinese.recognised("No changes.") == chinese.get("No changes.")
    assert chinese.recognised("'npx' is not executable") == "「npx」不可執行"
    assert chinese.recognised("a server's own words") == "a server's own words"
    assert chinese.recognised("") == ""
    assert Catalogue("en").recognised("No changes.") == "No changes."


def test_of_two_texts_that_fit_the_one_with_more_words_of_its_own_is_meant(folder: Path) -> None:
    texts = {"{what} was stopped": "A {what}", "the server {name} was stopped": "B {name}", "{one}: {other}": "C {one} {other}"}
    write(folder, "xx", texts | {"{name} and {name} again": "D {name}"})
    catalogue = Catalogue("xx")
    assert catalogue.recognised("the server a was stopped") == "B a"
    assert catalogue.recognised("all was stopped") == "A all"
    assert catalogue.recognised("all: nothing") == "all: nothing"  # that would fit everything
    assert catalogue.recognised("a and a again") == "D a"
    assert catalogue.recognised("a and b again") == "a and b again"


@pytest.mark.parametrize(
    ("code", "forms", "numbers"),
    [
        ("de", "one|other", {0: "other", 1: "one", 21: "other"}),
        ("zh_TW", "other", {0: "other", 1: "other"}),
        ("fr", "one|other", {0: "one", 1: "one", 2: "other"}),
        ("ru", "one|few|many", {1: "one", 3: "few", 5: "many", 11: "many", 12: "many", 21: "one", 22: "few", 112: "many"}),
        ("pl", "one|few|many", {1: "one", 4: "few", 5: "many", 13: "many", 21: "many", 22: "few"}),
        ("cs", "one|few|other", {1: "one", 4: "few", 5: "other", 22: "other"}),
        ("ar", "zero|one|two|few|many|other", {0: "zero", 1: "one", 2: "two", 5: "few", 11: "many", 99: "many", 100: "other", 103: "few"}),
        ("ru", "one|other", {1: "one", 5: "other"}),
    ],
)
def test_a_number_has_the_form_that_its_language_has_for_it(code: str, forms: str, numbers: dict[int, str]) -> None:
    assert {number: fitting_form(code, forms, number) for number in numbers} == numbers


def test_a_text_of_a_catalogue_has_the_form_of_its_number_however_that_is_written(folder: Path) -> None:
    write(folder, "pl", {"{count} files": "{count} plik|{count} pliki|{count} plików"})
    catalogue = Catalogue("pl")
    assert [catalogue.filled("{count} files", {"count": count}) for count in (1, 2, "1,234", "?")] == [
        "1 plik",
        "2 pliki",
        "1,234 pliki",
        "? plików",
    ]
