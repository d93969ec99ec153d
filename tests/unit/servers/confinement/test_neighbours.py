"""neighbours.py: code that a program imports from beside its package."""

import json
from pathlib import Path

import pytest

from tooltray.servers.confinement.neighbours import editable_sources, hoisted_modules


def test_modules_are_found_in_each_folder_above_and_not_within_each_other(tmp_path: Path) -> None:
    for folder in ("a/node_modules/b/node_modules", "node_modules"):
        (tmp_path / folder).mkdir(parents=True)
    found = list(hoisted_modules(str(tmp_path / "a/node_modules/b/index.js")))
    assert found[:3] == [str(tmp_path / each) for each in ("a/node_modules/b/node_modules", "a/node_modules", "node_modules")]


class Environment:
    """A virtual environment with one package, which says that its sources are in a folder."""

    def __init__(self, folder: Path) -> None:
        self.root, self.source = folder / "env", folder / "my notes"
        self.site = self.root / "lib/python3.12/site-packages"
        self.note = self.site / "my_notes-1.0.dist-info/direct_url.json"
        self.note.parent.mkdir(parents=True)
        self.source.mkdir()
        self.calls_itself('[project]\nname = "My.Notes"')
        self.says({"url": self.source.as_uri(), "dir_info": {"editable": True}})

    def calls_itself(self, text: str) -> None:
        (self.source / "pyproject.toml").write_text(text)

    def says(self, note: object) -> None:
        self.note.write_text(json.dumps(note))

    @property
    def sources(self) -> list[str]:
        return list(editable_sources(str(self.root)))


@pytest.mark.parametrize("text", ['[project]\nname = "My.Notes"', '[tool.poetry]\nname = "my-notes"'])
def test_the_project_of_an_editable_install_is_found_by_its_name(tmp_path: Path, text: str) -> None:
    environment = Environment(tmp_path)
    environment.calls_itself(text)
    assert environment.sources == [str(environment.source)]


@pytest.mark.parametrize("text", ['[project]\nname = "other"', "[project]\nname = 1", "tool = 1", "no toml", ""])
def test_a_folder_that_is_no_project_of_that_name_does_not_count(tmp_path: Path, text: str) -> None:
    environment = Environment(tmp_path)
    environment.calls_itself(text)
    assert environment.sources == []


def test_only_a_note_of_an_editable_install_counts(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    url = environment.source.as_uri()
    for note in ({"url": url, "dir_info": {}}, {"url": url}, [], {"url": "https://example.org", "dir_info": {"editable": True}}):
        environment.says(note)
        assert environment.sources == []
    environment.note.unlink()
    environment.note.mkdir()
    assert environment.sources == []


def test_a_note_that_the_server_may_write_does_not_count(tmp_path: Path) -> None:
    environment = Environment(tmp_path)
    assert list(editable_sources(str(environment.root), [str(environment.site)])) == []
