"""The definition of `run_steps`: what a model reads about chains of calls. `gateway/steps` carries them out."""

from typing import Any

TITLE = "Run several calls"
MOST_STEPS, MOST_CALLS = 20, 50  # of one chain; a call of `for_each` counts as any other
ID_PATTERN = "^[A-Za-z_][A-Za-z0-9_-]{0,39}$"
WHAT = (
    f"Calls tools one after the other, at most {MOST_CALLS} calls, and returns only what you ask for. Each is approved as if called "
    "alone.\n"
    'In arguments, for_each and return, {"$": "ID/POINTER"} is a value of an earlier step: a JSON pointer into its structuredContent, else '
    "into its text as JSON; else it is the text. "
    'Further members, applied in this order: "split": "\\n" (text to list), "filter": {"/state": "open", "/title": {"contains": "x"}}, '
    '"map": "/name" or {"n": "/number"}, "first": true (one) or 5 (a list), "count": true, "join": ", ". '
    '"$" can be a list: {"$": ["/dir/", {"$": "item"}], "join": ""}.\n'
    'for_each: a list; the step calls once for each {"$": "item"}, and its value is the list of results. A step that fails ends the chain, '
    "unless its on_error is skip. dry_run only shows the calls.\n"
    'Example: {"steps": [{"id": "list", "tool": "list_issues", "arguments": {"state": "open"}}, {"id": "label", "tool": "add_label", '
    '"for_each": {"$": "list/issues", "filter": {"/title": {"contains": "crash"}}, "map": "/number"}, '
    '"arguments": {"number": {"$": "item"}, "label": "bug"}}], "return": {"labelled": {"$": "label", "count": true}}}'
)
SCHEMA: dict[str, Any] = {
    "type": "object",
    "properties": {
        "steps": {
            "type": "array",
            "minItems": 1,
            "maxItems": MOST_STEPS,
            "items": {
                "type": "object",
                "properties": {
                    "id": {"type": "string", "pattern": ID_PATTERN},
                    "tool": {"type": "string"},
                    "arguments": {"type": "object"},
                    "for_each": {"type": ["array", "object"]},
                    "on_error": {"enum": ["stop", "skip"], "default": "stop"},
                },
                "required": ["id", "tool"],
                "additionalProperties": False,
            },
        },
        "return": {},
        "dry_run": {"type": "boolean", "default": False},
    },
    "required": ["steps", "return"],
    "additionalProperties": False,
}
