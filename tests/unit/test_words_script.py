"""The script that checks the words of docstrings and texts."""

import importlib.util
import sys
from pathlib import Path

import pytest

SCRIPT = Path(__file__).parents[2] / "scripts" / "words.py"
sys.path.append(str(SCRIPT.parent))
spec = importlib.util.spec_from_file_location("words_script", SCRIPT)
assert spec
assert spec.loader
script = importlib.util.module_from_spec(spec)
spec.loader.exec_module(script)


@pytest.mark.parametrize(
    "text",
    [
        "waits for your yes",
        "To take it back: tooltray grants remove {id}",
        "Hub is running",
        "There is no server '{name}'",
        "it is no JSON object",
        "Nobody answered",
        "Own files",
        "'{name}' cannot be confined",
        "Move servers here…",
    ],
)
def test_a_text_with_words_outside_the_glossary_is_a_fault(text: str) -> None:
    assert list(script.text_faults(text))


@pytest.mark.parametrize(
    "text",
    [
        "projects' own files",
        "its pid is in hub.json",
        "{path} and {name} stand for the project's folder and name.",
        "it is no longer allowed",
        "start it on first use (--on-demand)",
        "tells the model to act without asking",
    ],
)
def test_the_same_words_in_another_sense_are_allowed(text: str) -> None:
    assert not list(script.text_faults(text))


def test_the_script_fails_for_a_bad_text_and_a_bad_docstring(
    tmp_path: Path, monkeypatch: pytest.MonkeyPatch, capsys: pytest.CaptureFixture[str]
) -> None:
    page = tmp_path / "ui" / "page.py"
    page.parent.mkdir()
    page.write_text('def page():\n    """Shows a page."""\n    return tr("Servers")\n')
    monkeypatch.setattr(script, "ROOT", tmp_path)
    monkeypatch.setattr(script, "SOURCE", tmp_path)
    assert script.main() == 0

    page.write_text('def page():\n    """A page."""\n    return tr("Taken back")\n')
    assert script.main() == 1
    faults = capsys.readouterr().out
    assert "ui/page.py:1: its docstring begins with no verb" in faults
    assert "ui/page.py:3: its text has 'Taken back' (revoke)" in faults
