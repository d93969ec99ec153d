"""What models read of a failure has no hint in it, and names no command and no setting."""

import ast
import re
from collections.abc import Iterator
from pathlib import Path

import pytest

SOURCE = Path(__file__).parents[2] / "desktop" / "tooltray"
ON_THE_WAY = (
    *("carriers/copilot", "carriers/mcp", "catalogue", "config/naming", "consent/approvals", "consent/skills", "gateway", "protocol"),
    *("servers/relay", "servers/transports", "servers/upstream", "sources/projects"),
)
"""Packages through which a request of a session goes, and its reply."""
RECIPE = re.compile(r'\btooltray (?!catalogue)[a-z]+|settings\.json|"(autoApprove|flowGuard|allowedFolders)"')
NO_REPLIES = {"servers/transports/http/http_connections.py"}  # the doctor's


def modules() -> list[Path]:
    assert all((SOURCE / package).is_dir() for package in ON_THE_WAY)
    return sorted(module for package in ON_THE_WAY for module in (SOURCE / package).rglob("*.py"))


def with_parents(tree: ast.AST) -> dict[ast.AST, ast.AST]:
    return {child: parent for parent in ast.walk(tree) for child in ast.iter_child_nodes(parent)}


def whole_errors(tree: ast.AST) -> Iterator[int]:
    """Lines of handlers of TooltrayError that make a text of the whole error, for anything but a log or another error."""
    parents = with_parents(tree)
    for handler in ast.walk(tree):
        if isinstance(handler, ast.ExceptHandler) and handler.name and "TooltrayError" in ast.unparse(handler.type or handler):
            for name in ast.walk(handler):
                if isinstance(name, ast.Name) and name.id == handler.name and is_made_text(name, parents):
                    yield name.lineno


def is_made_text(name: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    around = parents[name]
    is_text = isinstance(around, ast.FormattedValue) or (isinstance(around, ast.Call) and ast.unparse(around.func) == "str")
    while is_text and around in parents:
        around = parents[around]
        if isinstance(around, ast.Raise) or (isinstance(around, ast.Call) and ast.unparse(around.func).startswith("logger.")):
            return False
    return is_text


def recipes(tree: ast.AST) -> Iterator[int]:
    """Lines of texts that name a command or a setting and are no hint, docstring or log line."""
    parents = with_parents(tree)
    for node in ast.walk(tree):
        if isinstance(node, ast.Constant) and isinstance(node.value, str) and RECIPE.search(node.value) and not is_for_user(node, parents):
            yield node.lineno


def is_for_user(node: ast.AST, parents: dict[ast.AST, ast.AST]) -> bool:
    while (around := parents.get(node)) is not None:
        if isinstance(around, ast.Expr) and around.value is node:  # a docstring
            return True
        if isinstance(around, ast.keyword) and around.arg == "hint":
            return True
        if isinstance(around, ast.Call) and (node in around.args[2:3] or ast.unparse(around.func).startswith("logger.")):
            return True
        if isinstance(around, ast.Assign) and "hint" in ast.unparse(around.targets[0]).lower():
            return True
        node = around
    return False


@pytest.mark.parametrize("found", [whole_errors, recipes])
def test_no_text_for_a_model_has_a_hint_in_it(found) -> None:
    odd = [
        f"{module.relative_to(SOURCE)}:{line}"
        for module in modules()
        if str(module.relative_to(SOURCE)) not in NO_REPLIES
        for line in found(ast.parse(module.read_text("utf-8")))
    ]
    assert odd == []
