"""What never appears in the desktop's code, because each has bitten somebody."""

import re
from pathlib import Path

import pytest

DESKTOP = Path(__file__).parents[2] / "desktop" / "tooltray"
FILES = [DESKTOP / "app/desktop.py", *sorted((DESKTOP / "ui").rglob("*.py"))]
NEVER = {
    r"\.exec\(|\.exec_\(": "a second event loop inside a coroutine breaks every task; use open() or show() and a signal",
    r"processEvents": "lets anything happen in the middle of anything",
    r"blockSignals": "what a widget does for itself stops, too, such as painting its new state; let the slot ignore the change",
    r"asyncClose|asyncSlot": "spin the loop or lose failures; use TaskKeeper",
    r"app\.quit\(|QApplication\.quit|qApp": "the engine ends first",
    r"addSpacing|QSpacerItem": "stays as long as it was while the user zooms; use add_gap()",
    r"#[0-9A-Fa-f]{6}\b": "colours are tokens",
    r"\.(focusProxy|group|checkedButton|checkedAction|actionGroup|nextInFocusChain|previousInFocusChain)\(\)(?!\))": (
        "PySide takes the result for a child, and what is shown for garbage; use with_parent()"
    ),
}
EXCEPT = {"tray.py": {r"#[0-9A-Fa-f]{6}\b"}, "theme.py": {r"#[0-9A-Fa-f]{6}\b"}}  # the panel's colours are not ours; a docstring


@pytest.mark.parametrize("pattern", NEVER)
def test_it_does_not_appear(pattern: str) -> None:
    found = [path.name for path in FILES if pattern not in EXCEPT.get(path.name, ()) and re.search(pattern, path.read_text("utf-8"))]
    assert not found, NEVER[pattern]


def test_every_icon_that_is_shipped_is_used_and_every_one_used_is_shipped() -> None:
    icons = DESKTOP.parents[1] / "resources" / "icons"
    shipped = {path.stem for path in icons.glob("*.svg")}
    code = "\n".join(path.read_text("utf-8") for path in FILES)
    unused = {name for name in shipped if f'"{name}"' not in code and f'"{name}.svg"' not in code}
    assert not unused
    assert {path.stem for path in (icons / "tray").glob("*.svg")} == {
        f"{state}-{size}" for state in ("well", "working", "attention", "paused") for size in (16, 22, 32)
    }
