"""Checks words: docstrings of functions begin with a verb, and neither docstrings nor texts for users have a banned word."""

import ast
import re
import sys
from collections.abc import Iterator
from pathlib import Path

from languages import texts_in_source

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "desktop" / "tooltray"
BANNED = re.compile(
    r"\b(said|told|tells|asked of|nobody|somebody|whoever|the like of|anew|goes on|by itself|comes again|what is there|what there is of"
    r"|those of|is no|is none|a yes|a person's word|Above it|Below it)\b"
)
TEXT_TERMS = {  # what texts for users do not say, and what they say instead
    r"\b(a|an earlier|your|person's|every) yes\b|\b(say|says|said) (yes|no)\b": "approval, approve, decline",
    r"\bt(ake|akes|aken|ook) (it |that |this )?back\b": "revoke",
    r"\balone\b": "only",
    r"\banew\b": "again",
    r"\bby (itself|themselves)\b": "automatically",
    r"\bon demand\b": "when used, sleeping, or the name of a tool listing",
    r"\bheld\b": "blocked until reviewed",
    r"\bthere (is|are) (no|none)\b|\bwhat there is\b|\bthat there (is|are)\b": "not found, No ...",
    r"\b(no|some|any|every)body\b|\bwhoever\b": "no one, anyone, or a sentence about the thing",
    r"\bstands?\b(?! for)": "is",
    r"\b(say|says|said|told|tell|tells)\b": "report, show, declare, or the thing without its speaker",
    r"\b(go|goes|went) on\b": "continue, keep",
    r"\bunasked\b|\b(go|goes|let|lets) (\w+ )?through\b": "runs without asking",
    r"^own files|\b(un)?confin(e|ed|es|ement)\b": "sandbox, sandboxed",
    r"\bhubs?\b(?!\.json)": "Tooltray",
    r"\b(is|are) (no|none)\b(?! longer| one\b)": "is not a",
    r"\bas (set )?for (all|each|every)\b": "default",
    r"\bof (before|now)\b": "previous, current",
    r"\bbefore the first word\b": "in the context",
    r"\bhere already\b|^(not )?here\b": "already added, installed",
    r"\bmove (\w+ )?servers?\b|\bmoved here\b": "import",
    r"\bthe like of\b|\bcomes again\b|\basked of\b|\bis like that\b": "plain words",
}
ALLOWED_TEXTS = {
    "Read https://modelcontextprotocol.io and tell me what it is about.": "words of a user to a model",
    "What does Wikipedia say about Taipei?": "words of a user to a model",
    "tells the model to act without asking": "a tool's description does tell the model",
    "tells the model to drop its instructions": "a tool's description does tell the model",
    "tells the model to hide something from the user": "a tool's description does tell the model",
    "tells the model what to do with other tools": "a tool's description does tell the model",
    "Move 1 server": "the entry does leave its client's file",
    "available: hub, server:NAME and messages:NAME": "names of logs, as they are typed",
}
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


def text_faults(text: str) -> Iterator[str]:
    """Yields what is wrong with the words of a text for users."""
    if text not in ALLOWED_TEXTS:
        for pattern, better in TEXT_TERMS.items():
            if found := re.search(pattern, text, re.IGNORECASE):
                yield f"has {found[0]!r} ({better}): {text}"


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
    found += [
        f"{SOURCE.relative_to(ROOT)}/{each.place}: its text {why}\n"
        for each in texts_in_source(SOURCE)
        for why in text_faults(each.text or "")
    ]
    sys.stdout.writelines(found)
    return 1 if found else 0


if __name__ == "__main__":
    raise SystemExit(main())
