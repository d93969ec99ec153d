"""The page about the rooms of Tooltray has all of them, its picture is the one of its table, and what it names is there."""

import ast
import importlib
import importlib.util
import re
from pathlib import Path
from types import ModuleType

ROOT = Path(__file__).parents[2]


def house_image() -> ModuleType:
    spec = importlib.util.spec_from_file_location("house_image", ROOT / "scripts" / "house_image.py")
    assert spec
    assert spec.loader
    script = importlib.util.module_from_spec(spec)
    spec.loader.exec_module(script)
    return script


def test_the_page_and_its_picture_have_all_rooms() -> None:
    script = house_image()
    floors = script.floors_of(script.PAGE.read_text("utf-8"))
    told = {room for rooms in floors.values() for room in rooms}
    rooms = {folder.parent.name for folder in (ROOT / "desktop" / "tooltray").glob("*/__init__.py")}
    assert rooms - told == set()
    assert script.IMAGE.read_text("utf-8") == script.drawn(floors), "draw it anew: python scripts/house_image.py"


def test_where_the_methods_of_the_four_classes_are_is_true() -> None:
    table = house_image().PAGE.read_text("utf-8").partition("| looked for |")[2].partition("\n\n")[0]
    rows = [row.split("|")[2] for row in table.splitlines()[2:]]
    assert len(rows) > 5
    for row in rows:
        [file] = re.findall(r"`([a-z_/]+)\.py`", row)
        module = importlib.import_module("tooltray." + file.replace("/", "."))
        named = re.findall(r"\b([A-Z]\w+)(?:\.(\w+))?", row)
        assert named
        for kind, method in named:
            assert hasattr(getattr(module, kind), method or "__init__"), (file, kind, method)


def test_the_files_that_the_page_names_for_what_one_looks_for_are_there() -> None:
    table = house_image().PAGE.read_text("utf-8").partition("## Where is …?")[2].partition("\n## ")[0]
    named = re.findall(r"`([\w./-]+\.(?:py|json|spec))`", table)
    known = {str(path.relative_to(ROOT)) for folder in ("desktop", "packaging", "resources") for path in (ROOT / folder).rglob("*.*")}
    known |= {path.name for path in ROOT.glob("*.spec")}
    assert len(named) > 30
    assert [name for name in named if not any(f"/{path}".endswith(f"/{name}") for path in known)] == []


def test_each_package_names_a_module_to_begin_with() -> None:
    silent = []
    for start in (ROOT / "desktop" / "tooltray").rglob("__init__.py"):
        named = re.findall(r"`([\w.]+)`", ast.get_docstring(ast.parse(start.read_text("utf-8"))) or "")
        inside = {path.relative_to(start.parent).with_suffix("").as_posix().replace("/", ".") for path in start.parent.rglob("*.py")}
        if not any(name in inside or f"{name}.__init__" in inside for name in named) and len(inside) > 1:
            silent.append(start.parent.name)
    assert silent == []
