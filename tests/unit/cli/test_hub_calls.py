"""Commands call verbs by the names of their arguments: a hub that runs takes them so alone, and a hub's API without one would take both."""

import ast
from collections.abc import Iterator
from pathlib import Path

import pytest
from tests.fakes.verb_table import VERBS

CLI = Path(__file__).parents[3] / "desktop" / "tooltray" / "cli"
MODULES = sorted(CLI.rglob("*.py"))


def positional(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VERBS and node.args:
            yield f"{module.relative_to(CLI)}:{node.lineno} {node.func.attr}"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_no_verb_is_called_with_arguments_by_their_place(module: Path) -> None:
    assert list(positional(module)) == []


def test_the_search_knows_the_verbs() -> None:
    assert {"restart_server", "apply_client_edits", "set_secret", "install_bundle"} <= VERBS.keys()
