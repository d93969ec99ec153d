"""Checks the words of docstrings: that of a function begins with a verb, and none has a banned word; names each place that breaks this."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "desktop" / "tooltray"
BANNED = re.compile(
    r"\b(said|told|tells|asked of|nobody|somebody|whoever|the like of|anew|goes on|by itself|comes again|what is there|what there is of"
    r"|those of|is no|is none|a yes|a person's word|Above it|Below it)\b"
)
NOT_VERBS = frozenset({"this", "its", "his", "is", "as", "was", "has", "us", "always", "perhaps", "others", "others'", "names", "lines"})


def faults(tree: ast.Module) -> Iterator[tuple[int, str]]:
    """Yields the line of each definition whose docstring is at fault, and why; properties may begin with a noun."""
    for node in ast.walk(tree):
        if isinstance(node, ast.Module | ast.ClassDef | ast.FunctionDef | ast.AsyncFunctionDef) and (text := ast.get_docstring(node)):
            line = getattr(node, "lineno", 1)
            if isinstance(node, ast.FunctionDef | ast.AsyncFunctionDef) and not is_property(node) and not begins_with_verb(text):
                yield line, f"begins with no verb: {text.partition(chr(10))[0]}"
            for word in BANNED.findall(text):
                yield line, f"has the banned word: {word}"


def is_property(node: ast.FunctionDef | ast.AsyncFunctionDef) -> bool:
    return any("property" in ast.unparse(each) for each in node.decorator_list)


def begins_with_verb(text: str) -> bool:
    """Returns whether a text begins with a verb in the third person, or only with sections such as `Args:`."""
    first = re.split(r"[^\w']", text.lstrip(), maxsplit=1)[0].lower()
    return text.startswith(("Args:", "Raises:", "Returns:", "See ")) or (first.endswith("s") and first not in NOT_VERBS)


def main() -> int:
    found = [
        f"{path.relative_to(ROOT)}:{line}: its docstring {why}\n"
        for path in sorted(SOURCE.rglob("*.py"))
        for line, why in faults(ast.parse(path.read_text("utf-8")))
    ]
    sys.stdout.writelines(found)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
