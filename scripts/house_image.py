"""Draws docs/images/house.svg, the rooms of Tooltray floor by floor, from the table in docs/architecture.md.

Usage: house_image.py     after a change of that table; tests/contract/test_rooms.py says when it has to be drawn anew.
"""

import re
from collections.abc import Iterator, Mapping
from pathlib import Path

ROOT = Path(__file__).parents[1]
PAGE = ROOT / "docs" / "architecture.md"
IMAGE = ROOT / "docs" / "images" / "house.svg"
ROW = re.compile(r"^\| ([^|]*)\| (`[^|]*) \|", re.MULTILINE)
ROOM = re.compile(r"`(\w+)`")

WIDTH, EDGE, GAP = 960, 8, 8  # px
LEFT, RIGHT = 160, 940  # of the rooms; the floor's name is left of them
ROOM_HEIGHT, ROW_HEIGHT = 34, 40
MOST_IN_A_ROW = 5
HEAD = """\
<svg xmlns="http://www.w3.org/2000/svg" viewBox="0 0 {width} {height}" role="img" aria-labelledby="title">
<title id="title">The packages of Tooltray, floor by floor</title>
<style>
text {{ font: 14px system-ui, sans-serif; fill: #1f2328 }} .name {{ fill: #59636e }}
.label {{ text-anchor: middle; font-family: ui-monospace, monospace; font-size: 13px }}
.floor {{ fill: #f6f8fa; stroke: #d1d9e0 }} .room {{ fill: #ffffff; stroke: #8c959f }}
@media (prefers-color-scheme: dark) {{
text {{ fill: #e6edf3 }} .name {{ fill: #9198a1 }} .floor {{ fill: #161b22; stroke: #30363d }} .room {{ fill: #0d1117; stroke: #6e7681 }}
}}
</style>
"""


def floors_of(page: str) -> Mapping[str, list[str]]:
    """The rooms of each floor, in the order of the table.

    Args:
        page: docs/architecture.md.
    """
    floors: dict[str, list[str]] = {}
    name = ""
    for floor, rooms in ROW.findall(page.partition("## Packages")[2].partition("\n## ")[0]):
        name = floor.strip() or name
        floors.setdefault(name, []).extend(room for room in ROOM.findall(rooms) if not room.startswith("__"))
    return floors


def drawn(floors: Mapping[str, list[str]]) -> str:
    """The picture, as SVG."""
    y, parts = 2 * EDGE, list[str]()
    for name, rooms in floors.items():
        rows = -(-len(rooms) // MOST_IN_A_ROW)
        height = rows * ROW_HEIGHT + EDGE
        parts.append(f'<rect class="floor" x="{EDGE}" y="{y}" width="{WIDTH - 2 * EDGE}" height="{height}" rx="8"/>')
        parts.append(f'<text class="name" x="20" y="{y + height / 2 + 4:g}">{name}</text>')
        parts += _rooms(rooms, y + 7)
        y += height + GAP
    return HEAD.format(width=WIDTH, height=y + EDGE) + "\n".join(parts) + "\n</svg>\n"


def _rooms(rooms: list[str], top: int) -> Iterator[str]:
    columns = min(len(rooms), MOST_IN_A_ROW)
    width = (RIGHT - LEFT - (columns - 1) * GAP) / columns
    for index, room in enumerate(rooms):
        row, column = divmod(index, MOST_IN_A_ROW)
        x, y = LEFT + column * (width + GAP), top + row * ROW_HEIGHT
        yield f'<rect class="room" x="{x:.0f}" y="{y}" width="{width:.0f}" height="{ROOM_HEIGHT}" rx="6"/>'
        yield f'<text class="label" x="{x + width / 2:.0f}" y="{y + 21}">{room}</text>'


if __name__ == "__main__":
    IMAGE.write_text(drawn(floors_of(PAGE.read_text("utf-8"))), "utf-8")
