"""The script that says what a catalogue lacks."""

import importlib.util
import json
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "languages.py"
spec = importlib.util.spec_from_file_location("languages_script", SCRIPT)
assert spec
assert spec.loader
script = importlib.util.module_from_spec(spec)
sys.modules["languages_script"] = script
spec.loader.exec_module(script)


@pytest.fixture
def tree(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> Path:
    """A window that says two things, an engine that says one, and a log that says nothing to a person."""
    for path, text in {
        "ui/page.py": 'tr("Servers")\nmany(count, "1 tool", "{count} tools")\n',
        "cli/command.py": 'print(tr("Done."))\n',
        "calls/call.py": 'Phrase("it ended")\ntr("not a text of a window")\nlog("nothing")\n',
    }.items():
        (tmp_path / "source" / path).parent.mkdir(parents=True, exist_ok=True)
        (tmp_path / "source" / path).write_text(text)
    (tmp_path / "starters.json").write_text('{"servers": [{"id": "a", "goodFor": "Reads", "title": "A"}]}')
    (tmp_path / "i18n").mkdir()
    monkeypatch.setattr(script, "SOURCE", tmp_path / "source")
    monkeypatch.setattr(script, "CATALOGUES", tmp_path / "i18n")
    monkeypatch.setattr(script, "STARTERS", tmp_path / "starters.json")
    return tmp_path


def run(monkeypatch: pytest.MonkeyPatch, *words: str) -> int:
    monkeypatch.setattr(sys, "argv", ["languages.py", *words])
    code: int = script.main()
    return code


def test_it_says_what_is_missing_what_is_too_much_and_where_fields_differ(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    texts = {"": "language: X", "Servers": "S", "1 tool": "T", "{count} tools": "{count} T|{number} T", "Done.": " ", "Gone": "G"}
    (tree / "i18n" / "xx.json").write_text(json.dumps(texts))
    assert run(monkeypatch) == 1
    assert capsys.readouterr().out.splitlines() == [
        "xx: 6 texts, 3 missing, 1 superfluous, 1 with other fields",
        '  missing: "Done."',
        '  missing: "Reads"',
        '  missing: "it ended"',
        '  superfluous: "Gone"',
        '  fields differ: "{count} tools"',
    ]


def test_it_makes_the_one_file_that_a_new_language_is_and_keeps_what_is_there(
    tree: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    assert run(monkeypatch, "--add", "fr") == 1
    file = tree / "i18n" / "fr.json"
    made = json.loads(file.read_text())
    assert made == {"": "language: fr\nfor: fr", "1 tool": "", "Done.": "", "Reads": "", "Servers": "", "it ended": "", "{count} tools": ""}
    assert list(made) == sorted(made)
    file.write_text(json.dumps({key: "X" if key != "{count} tools" else "{count} X" for key in made}))
    assert run(monkeypatch, "--add", "fr") == 0
    assert json.loads(file.read_text())["Servers"] == "X"
    assert capsys.readouterr().out.endswith("fr: 6 texts, 0 missing, 0 superfluous, 0 with other fields\n")
