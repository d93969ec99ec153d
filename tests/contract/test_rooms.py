"""The page about the rooms of Tooltray has all of them, and its picture is the one of its table."""

import importlib.util
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
