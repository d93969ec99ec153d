"""Whether a tool may be called without asking: the one place that decides it.

Above it: ToolManager. Below it: nothing. Pure; knows a tool's name and hints and its server's `autoApprove`, and runs nothing.

A tool reads or it writes; what is not known to read, writes. The server's hints come first, but a name is believed over a hint that makes a
tool look harmless, and a name counts by whole words: `forget_all` does not contain "get", and in `get_and_delete` the "delete" wins.
"""

import json
import re
import unicodedata
from collections.abc import Collection
from dataclasses import dataclass
from functools import lru_cache
from typing import Any, Literal

Category = Literal["read", "write"]

EVERYTHING = "all"
NAME_PREFIX = "tool:"
"""`tool:NAME` in `autoApprove` is the tool NAME, whatever it is called; needed for tools that are called `all`, `read` or `write`."""

_READ_VERBS = "count describe fetch find get grep inspect list lookup query read search show tree view"
_WRITE_VERBS = """
    abort add append approve archive assign ban call cancel chmod chown clean clear click close copy create deactivate del delete deploy
    destroy disable discard dismiss drop edit emit enable erase eval exec execute fill grant import insert install invite invoke kill
    launch mark merge migrate mkdir modify move mv overwrite patch pay persist post publish purge push put reject remove rename replace
    reply reset restart restore resume revert revoke rewrite rm rmdir rollback run save send set shutdown spawn start stop submit
    subscribe terminate toggle transfer trash trigger truncate unassign uninstall unlink unset unsubscribe update upgrade upload upsert
    wipe write
"""
READ_VERBS, WRITE_VERBS = frozenset(_READ_VERBS.split()), frozenset(_WRITE_VERBS.split())
"""Words that are mostly nouns in names (`get_commit`, `search_store`) are no write verbs: without a read verb such a name writes anyway."""

_CAMEL_WORD = re.compile(r"[A-Z]+(?![a-z])|[A-Z]?[a-z]+")
_SAME_CASE_RUN = re.compile(r"[A-Z]+|[a-z]+")
NAMES_REMEMBERED = 16384  # three times the 5,000 tools of the largest server that is planned for


@dataclass(frozen=True)
class Decision:
    """What was decided about one call.

    Attributes:
        category: "read" or "write".
        message: why it is refused; empty if it is approved.
        hint: how a person can allow it; empty if it is approved.
    """

    is_approved: bool
    category: Category
    message: str = ""
    hint: str = ""


_APPROVED: dict[Category, Decision] = {"read": Decision(True, "read"), "write": Decision(True, "write")}


def category(name: str, annotations: Any) -> Category:
    """What a tool does, as far as its server tells.

    Args:
        name: the server's own name for the tool.
        annotations: `annotations` of its definition as Python values, of whatever type the server sent; None if there are none.
    """
    hints = annotations if isinstance(annotations, dict) else {}
    has_read_verb, has_write_verb = _verbs_in(name)
    # `destructiveHint: "yes"` is no boolean; what is meant as a warning is taken as one
    if has_write_verb or hints.get("destructiveHint") or hints.get("readOnlyHint") is False:
        return "write"
    return "read" if has_read_verb or hints.get("readOnlyHint") is True else "write"


def decide(server: str, original_name: str, annotations: Any, auto_approve: Collection[str]) -> Decision:
    """Whether a call goes through, and if not, why and how to allow it.

    Args:
        server: the server's name, for the message.
        original_name: the server's own name for the tool.
        annotations: as in `category`.
        auto_approve: the server's `autoApprove`: `read`, `write`, `all`, names of tools, `tool:NAME`.
    """
    found = category(original_name, annotations)
    approving = (EVERYTHING, found, entry_for(original_name), NAME_PREFIX + original_name)
    if any(entry in auto_approve for entry in approving):
        return _APPROVED[found]
    return _refusal(server, original_name, found)


def entry_for(original_name: str) -> str:
    """How `autoApprove` names one tool: by its name, or by `tool:NAME` where the name alone would mean something else."""
    if original_name in (EVERYTHING, "read", "write") or original_name.startswith(NAME_PREFIX):
        return NAME_PREFIX + original_name
    return original_name


def _refusal(server: str, original_name: str, found: Category) -> Decision:
    tool, owner = _quoted(original_name), _quoted(server)
    does = "only reads" if found == "read" else "writes, or may write"
    entry = _quoted(entry_for(original_name))
    return Decision(
        False,
        found,
        f"the tool {tool} of the server {owner} {does} (category {found!r}), and that is not approved for this server",
        f'To allow it, add "{found}" (every tool of this category) or {entry} (this tool alone) to "autoApprove" of {owner} '
        "in settings.json, or change what is approved on the server's card",
    )


def _quoted(text: str) -> str:
    """As it stands in settings.json: control characters escaped, other scripts readable, halves of surrogate pairs escaped."""
    return json.dumps(text, ensure_ascii=False).encode("utf-8", "backslashreplace").decode()


@lru_cache(NAMES_REMEMBERED)
def _verbs_in(name: str) -> tuple[bool, bool]:
    """Whether a name has a read verb, and whether it has a write verb."""
    name = unicodedata.normalize("NFKC", name)
    words = {word.lower() for word in _CAMEL_WORD.findall(name)}
    runs = {run.lower() for run in _SAME_CASE_RUN.findall(name)}  # the DELETE of `DELETEfile`, where camelCase sees `DELET` and `Efile`
    return not words.isdisjoint(READ_VERBS), not WRITE_VERBS.isdisjoint(words | runs)
