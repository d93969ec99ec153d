"""Finds `resources/`: themes, icons, translations and other data, in a checkout, in an installed wheel and in a frozen app.

Standard library only.
"""

import sys
from pathlib import Path

PACKAGE = Path(__file__).resolve().parents[1]
IN_WHEEL = "_resources"  # pyproject.toml and pyinstaller.spec put the folder there, inside the package


def resource(*parts: str) -> Path:
    """Returns the path of a file in `resources/`, e.g. `resource("themes", "tokens.json")`.

    Raises:
        FileNotFoundError: the folder is in none of the three places: the installation is broken.
    """
    return find_resources().joinpath(*parts)


def find_resources(package: Path = PACKAGE, frozen: str | None = getattr(sys, "_MEIPASS", None)) -> Path:
    """Returns the folder that holds the resources.

    Args:
        package: the folder of the package `tooltray`.
        frozen: where a frozen app has unpacked itself; None outside one.

    Raises:
        FileNotFoundError: it is in none of the three places.
    """
    places = [package / IN_WHEEL, package.parent.parent / "resources"]  # a wheel, a checkout
    if frozen is not None:
        places.insert(0, Path(frozen) / "tooltray" / IN_WHEEL)
    for place in places:
        if place.is_dir():
            return place
    raise FileNotFoundError(f"no resources in {', '.join(map(str, places))}")
