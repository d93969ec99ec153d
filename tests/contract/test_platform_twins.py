"""Modules of which each platform has its own: the same names, so that whoever uses them need not know which one it is."""

import ast
from pathlib import Path

import pytest

DESKTOP = Path(__file__).parents[2] / "desktop"
TWINS = sorted(path for path in DESKTOP.rglob("*_posix.py") if path.with_name(path.name.replace("_posix", "_windows")).exists())


def public_names(module: Path) -> dict[str, list[str]]:
    """What a module offers: functions with the names of their parameters, classes with their public methods, and constants."""
    found: dict[str, list[str]] = {}
    for node in ast.parse(module.read_text()).body:
        if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef):
            found[node.name] = [each.arg for each in (*node.args.posonlyargs, *node.args.args, *node.args.kwonlyargs)]
        elif isinstance(node, ast.Assign):
            found.update({target.id: [] for target in node.targets if isinstance(target, ast.Name)})
        elif isinstance(node, ast.AnnAssign) and isinstance(node.target, ast.Name):
            found[node.target.id] = []
        elif isinstance(node, ast.ImportFrom):
            found.update({alias.asname: [] for alias in node.names if alias.asname == alias.name})
    return {name: parameters for name, parameters in found.items() if not name.startswith("_")}


def used_names(twin: Path) -> set[str]:
    """The names that the rest of the product takes from either of the two."""
    stems, used = {twin.stem, twin.stem.replace("_posix", "_windows")}, set()
    for module in DESKTOP.rglob("*.py"):
        text = module.read_text()
        if not any(stem in text for stem in stems):
            continue
        tree = ast.parse(text)
        aliases = set()
        for node in ast.walk(tree):
            if isinstance(node, ast.ImportFrom):
                aliases |= {alias.asname or alias.name for alias in node.names if alias.name in stems}
                if (node.module or "").rpartition(".")[2] in stems and not module.stem.endswith(("_posix", "_windows")):
                    used |= {alias.name for alias in node.names}
        if module.stem.endswith(("_posix", "_windows")):  # it knows its own platform's alone
            continue
        for node in ast.walk(tree):
            if isinstance(node, ast.Attribute) and isinstance(node.value, ast.Name) and node.value.id in aliases:
                used.add(node.attr)
    return used


@pytest.mark.parametrize("posix", TWINS, ids=lambda path: path.stem)
def test_what_is_used_of_one_platform_is_there_on_the_other_with_the_same_parameters(posix: Path) -> None:
    windows = posix.with_name(posix.name.replace("_posix", "_windows"))
    ours, theirs = public_names(posix), public_names(windows)
    classes = {node.name for path in (posix, windows) for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)}

    used = used_names(posix)

    assert used
    for name in used - classes:
        assert name in ours, f"{posix.name} lacks {name}"
        assert name in theirs, f"{windows.name} lacks {name}"
        if ours[name] and theirs[name]:
            assert ours[name] == theirs[name], name
    for name in used & classes:
        for path in (posix, windows):
            own_classes = {node.name for node in ast.parse(path.read_text()).body if isinstance(node, ast.ClassDef)}
            assert name in own_classes | public_names(path).keys(), f"{path.name} lacks {name}"


def test_there_are_twins() -> None:
    assert {"relay_posix", "start_posix", "user_posix", "local_posix"} <= {path.stem for path in TWINS}
