"""Writes resources/verbs.json: what the verbs of the API take and return, for callers that do not import the engine.

`python scripts/verb_table.py` writes it; with `--check` it only says whether it is up to date, and fails otherwise.
"""

import inspect
import json
import re
import sys
from pathlib import Path
from typing import Any, get_args, get_origin, get_type_hints

from tooltray.api.parts import part_classes, verbs_of

PATH = Path(__file__).parents[1] / "resources" / "verbs.json"


def main() -> int:
    lines = (f"{json.dumps(name)}: {json.dumps(entry, ensure_ascii=False)}" for name, entry in sorted(table().items()))
    text = "{\n" + ",\n".join(lines) + "\n}\n"
    if "--check" not in sys.argv:
        PATH.write_text(text, encoding="utf-8")
    elif PATH.read_text(encoding="utf-8") != text:
        sys.stderr.write("resources/verbs.json is not up to date: run python scripts/verb_table.py\n")
        return 1
    return 0


def table() -> dict[str, dict[str, Any]]:
    """Returns each verb's part, parameters, result type and summary by its name."""
    return {
        name: {
            "part": part,
            "takes": {each.name: _shown(each) for each in list(inspect.signature(getattr(kind, name)).parameters.values())[1:]},
            "returns": _type_name(get_type_hints(getattr(kind, name))["return"]),
            "about": _summary(getattr(kind, name)),
        }
        for part, kind in part_classes().items()
        for name in verbs_of(kind)
    }


def _shown(parameter: inspect.Parameter) -> str:
    """Returns a parameter's type and default as Python writes them, without the names of modules: `int = 30`."""
    text = re.sub(r"\b[a-z_]+(\.[a-z_]+)*\.(?=[A-Z])", "", str(parameter))
    return text.partition(": ")[2]


def _type_name(kind: Any) -> str:
    """Returns the module and name of a type of ours, with `[]` for a list of them; empty for plain JSON."""
    if get_origin(kind) is list:
        inner = _type_name(get_args(kind)[0])
        return f"{inner}[]" if inner else ""
    return f"{kind.__module__}:{kind.__name__}" if getattr(kind, "__module__", "").startswith("tooltray.") else ""


def _summary(verb: object) -> str:
    first = (inspect.getdoc(verb) or "").partition("\n\n")[0]
    return " ".join(first.split())


if __name__ == "__main__":
    raise SystemExit(main())
