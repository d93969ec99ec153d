"""Checks the words of docstrings: how many functions' docstrings do not begin with a verb, and how often banned words stand in any.

`python scripts/words.py` prints the counts of each package and fails if one is above its bound in scripts/words.json; `--write` writes the
counts of now as bounds, and is meant for counts that have fallen.
"""

import ast
import json
import re
import sys
from collections import Counter
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "desktop" / "tooltray"
BOUNDS = Path(__file__).with_suffix(".json")
BANNED = re.compile(
    r"\b(said|told|tells|asked of|nobody|somebody|whoever|the like of|anew|goes on|by itself|comes again|what is there|what there is of"
    r"|those of|is no|is none|a yes|a person's word|Above it|Below it)\b"
)
NOT_VERBS = frozenset({"this", "its", "his", "is", "as", "was", "has", "us", "always", "perhaps", "others", "others'", "names", "lines"})


def counts() -> dict[str, dict[str, int]]:
    """Returns for each package how many docstrings of functions begin with no verb, and how many banned words all docstrings have."""
    found: dict[str, Counter[str]] = {}
    for path in sorted(SOURCE.rglob("*.py")):
        package = path.relative_to(SOURCE).parts[0].removesuffix(".py")
        counter = found.setdefault(package, Counter(without_verb=0, banned=0))
        for is_function, text in docstrings(ast.parse(path.read_text("utf-8"))):
            counter["banned"] += len(BANNED.findall(text))
            counter["without_verb"] += is_function and not begins_with_verb(text)
    return {package: dict(counter) for package, counter in found.items()}


def docstrings(tree: ast.Module) -> Iterator[tuple[bool, str]]:
    """Yields every docstring, with whether it is that of a function; properties may begin with a noun, and count as no function."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node)):
            yield isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_property(node), text


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("property" in ast.unparse(each) for each in node.decorator_list)


def begins_with_verb(text: str) -> bool:
    """Returns whether a text begins with a verb in the third person, or only with sections such as `Args:`."""
    first = re.split(r"[^\w']", text.lstrip(), maxsplit=1)[0].lower()
    return text.startswith(("Args:", "Raises:", "Returns:", "See ")) or (first.endswith("s") and first not in NOT_VERBS)


def main() -> int:
    now = counts()
    if "--write" in sys.argv:
        BOUNDS.write_text(json.dumps(now, indent=1) + "\n", encoding="utf-8")
        return 0
    bounds: dict[str, dict[str, int]] = json.loads(BOUNDS.read_text("utf-8"))
    above = 0
    for package, counter in now.items():
        for kind, count in counter.items():
            bound = bounds.get(package, {}).get(kind, 0)
            above += count > bound
            mark = f" is above its bound {bound}" if count > bound else ""
            sys.stdout.write(f"{package}: {count} {kind.replace('_', ' ')}{mark}\n")
    return 1 if above else 0


if __name__ == "__main__":
    raise SystemExit(main())
