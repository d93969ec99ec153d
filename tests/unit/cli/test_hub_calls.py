"""Commands call verbs by the names of their arguments: a hub that runs takes them so alone, and a hub's API without one would take both."""

import ast
import inspect
from collections.abc import Iterator
from dataclasses import fields
from pathlib import Path

import pytest

from tooltray.api.parts import Api, verbs_of
from tooltray.app.hub import Hub

CLI = Path(__file__).parents[3] / "desktop" / "tooltray" / "cli"
MODULES = sorted(CLI.rglob("*.py"))


def parts() -> set[type]:
    """The classes of the API."""
    return {inspect.get_annotations(Hub, eval_str=True)[f"{field.name}_api" if field.name != "hub" else "hub_api"] for field in fields(Api)}


VERBS = {verb for part in parts() for verb in verbs_of(part)}


def positional(module: Path) -> Iterator[str]:
    for node in ast.walk(ast.parse(module.read_text("utf-8"))):
        if isinstance(node, ast.Call) and isinstance(node.func, ast.Attribute) and node.func.attr in VERBS and node.args:
            yield f"{module.relative_to(CLI)}:{node.lineno} {node.func.attr}"


@pytest.mark.parametrize("module", MODULES, ids=lambda module: module.stem)
def test_no_verb_is_called_with_arguments_by_their_place(module: Path) -> None:
    assert list(positional(module)) == []


def test_the_search_knows_the_verbs() -> None:
    assert {"restart_server", "apply_client_edits", "set_secret", "install_bundle"} <= VERBS
