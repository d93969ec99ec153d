"""How large a part of Tooltray may be: constructors in parameters, files and rooms in lines."""

import ast
import re
from collections import Counter
from functools import cache
from pathlib import Path

DESKTOP = Path(__file__).parents[2] / "desktop"
LISTS = ("hub.py",)  # of parts
MOST_PARAMETERS, LONGEST_FILE, LARGEST_ROOM = 7, 500, 5_000

CONSTRUCTOR = re.compile(r"^class (\w+)|^    def __init__\((.*?)\) -> None:", re.MULTILINE | re.DOTALL)


@cache
def sources() -> dict[Path, str]:
    return {path.relative_to(DESKTOP): path.read_text("utf-8") for path in DESKTOP.rglob("*.py")}


def parameters_of(signature: str) -> int:
    """How many there are besides self."""
    function = ast.parse(f"def made({signature}): ...").body[0]
    assert isinstance(function, ast.FunctionDef)
    taken = function.args
    return len(taken.posonlyargs) + len(taken.args) + len(taken.kwonlyargs) - 1


def large_constructors(text: str) -> dict[str, int]:
    found, name = dict[str, int](), ""
    for match in CONSTRUCTOR.finditer(text):
        name, signature = match[1] or name, match[2] or ""
        if signature.count(",") > MOST_PARAMETERS and (count := parameters_of(signature)) > MOST_PARAMETERS:
            found[name] = count
    return found


def test_no_constructor_has_many_parameters() -> None:
    """One with more belongs to a class that has two jobs."""
    found = {name: count for text in sources().values() for name, count in large_constructors(text).items()}
    assert found == {}


def test_no_file_is_longer_than_one_reads_at_once() -> None:
    lengths = {str(path): text.count("\n") for path, text in sources().items() if path.name not in LISTS}
    assert {path: length for path, length in lengths.items() if length > LONGEST_FILE} == {}


def test_no_room_is_too_large_to_be_known_whole() -> None:
    rooms: Counter[str] = Counter()
    for path, text in sources().items():
        folders = path.parts[:-1]
        rooms["/".join(folders[:3])] += text.count("\n")
    assert {room: lines for room, lines in rooms.items() if lines > LARGEST_ROOM} == {}
