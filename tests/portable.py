"""Which test files run under the Python for Windows: all but those that import, themselves or by a helper, what that Python lacks.

What it lacks: modules of POSIX and of Linux' desktop, and the AI clients' own libraries, against which the formats are tested; the formats
are the same everywhere.
"""

import os
import re
from functools import cache
from pathlib import Path

ROOT = Path(__file__).parents[1]
LACKING = (
    *("fcntl", "grp", "posix", "pty", "pwd", "resource", "termios", "jeepney"),
    *("anthropic", "copilot", "google", "httpx2", "json5", "jsonschema", "mcp_types", "openai", "yaml"),
)
IMPORTS = re.compile(r"^(?:import|from) ([\w.]+)(?: import (\([^)]*|.*))?", re.MULTILINE)


def absolute(*parts: str) -> str:
    """A path from the root: `/code/shop`, `Z:\\code\\shop`."""
    return os.path.join(os.path.abspath(os.sep), *parts)


PLACES = {"tests": ROOT, "tooltray": ROOT / "desktop", "tooltray_bridge": ROOT / "desktop"}


@cache
def is_for_windows(path: Path) -> bool:
    """Whether a Python file of ours can be imported there. Imports within functions and conditions do not count."""
    for module, names in IMPORTS.findall(path.read_text(encoding="utf-8")):
        top = module.partition(".")[0]
        if top in LACKING:
            return False
        if place := PLACES.get(top):
            found = place / module.replace(".", "/")
            files = found.with_suffix(".py"), *(found / f"{name}.py" for name in re.findall(r"\w+", names))
            if not all(is_for_windows(file) for file in files if file.is_file()):
                return False
    return True
