"""Rules made of a call, from narrow to wide: what "Make a rule…" offers to the user who is asked about it.

Pure; no file is opened. Every offered rule is about every argument of the call, and what it leaves open is harmless by its name: numbers,
and the contents that are written.
"""

import os
from collections.abc import Iterator, Mapping, Sequence
from typing import NamedTuple

from tooltray.catalogue.approval import NAME_PREFIX
from tooltray.config.settings.call_rule import CallRule, Condition, host_of, read_rule, written
from tooltray.consent.approvals.diffs import BEFORE_AND_AFTER, CONTENTS, LISTS_OF_EDITS
from tooltray.consent.approvals.rule_coverage import (
    PATTERN,
    READ_BELOW_BYTES,
    Place,
    command_words,
    covers_read,
    is_number,
    is_option,
    is_plain_path,
    lies_below,
    read_arguments,
)
from tooltray.consent.approvals.rule_words import RUNS_OTHERS, is_wide
from tooltray.foundation.errors import TooltrayError
from tooltray.records.journal.touched import ADDRESSES, COMMANDS, PATHS, TARGETS, plain_name

MOST_OFFERED = 4  # a person reads no more before an answer
LONGEST_EQUAL = 200  # characters of a text that a rule repeats
MOST_ARGUMENTS = 12
MOST_WORDS = 30  # of a command
_DESTROYS = "chmod chown cp curl dd format kill mkfs mv nc ncat rm rmdir rsync shutdown truncate unlink wget"
DESTROYS = frozenset(_DESTROYS.split())
"""Programs of which every word matters, in whatever place: nothing but the very same command is offered."""
_RUNS_OTHERS_FOR = {"git": frozenset(["bisect", "config", "difftool", "filter-branch", "hook", "mergetool", "rebase", "submodule"])}
"""What some programs run others for, or can be told to; of that, too, nothing but the very same is offered."""
_FOLDERS = "cwd dir directory directorypath folder repo repopath rootpath workdir workingdirectory"
FOLDERS = frozenset(_FOLDERS.split())
"""How arguments are called that name a folder, and not a file in one."""
_FREE = {plain_name(name) for name in (*CONTENTS, *LISTS_OF_EDITS, *(each for pair in BEFORE_AND_AFTER for each in pair))}
_ANY_COUNT: Mapping[str, object] = {"number": {"min": 0}, "optional": True}
_WORDS_OF_COMMANDS = ("args", "arguments", "argv")

Levels = Sequence[Mapping[str, object]]
"""Conditions on one argument, from narrow to wide."""


class _Parts(NamedTuple):
    """What a call is made of.

    Attributes:
        subjects: what it works on, by path: a command, files, hosts; with what could be demanded of each.
        details: what else it is given, of which nothing else than the same is safe.
        free: what may be anything.
    """

    subjects: dict[str, Levels]
    details: dict[str, Mapping[str, object]]
    free: list[str]


class _Unclear(Exception):
    """No rule can be made of a call."""


def offers(tool: str, arguments: bytes, place: Place) -> tuple[CallRule, ...]:
    """Rules that cover a call, from narrow to wide; none where there is no way to say what is safe in it.

    Args:
        tool: the server's own name for it.
        arguments: JSON, as it goes to the server.
    """
    given = read_arguments(arguments) if len(arguments) < READ_BELOW_BYTES else None
    if given is None or len(given) > MOST_ARGUMENTS:
        return ()
    try:
        parts = _parts(given, place)
        made = [_rule(tool, parts, *each) for each in _widths(parts)]
    except (_Unclear, TooltrayError):
        return ()
    told_apart = {rule.text: rule for rule in made if _is_right(rule, given, place)}
    return tuple(told_apart.values())[:MOST_OFFERED]


def _is_right(rule: CallRule, given: Mapping[str, object], place: Place) -> bool:
    """Returns whether a rule covers the call. A path is not looked at on the disk here: that is done when the rule is made."""
    return any(each.inside for each in rule.arguments.values()) or covers_read(rule, given, place)


def _widths(parts: _Parts) -> Iterator[tuple[int, bool]]:
    """Yields how wide the subjects are, and whether numbers are left open."""
    yield 0, False
    for width in range(max((len(levels) for levels in parts.subjects.values()), default=1)):
        yield width, True


def _rule(tool: str, parts: _Parts, width: int, is_open: bool) -> CallRule:
    conditions = {path: levels[min(width, len(levels) - 1)] for path, levels in parts.subjects.items()}
    conditions |= {path: _ANY_COUNT if is_open and _is_count(each["equals"]) else each for path, each in parts.details.items()}
    name = NAME_PREFIX + tool if tool.startswith((NAME_PREFIX, PATTERN)) else tool
    return read_rule({"tool": name, "arguments": conditions, **({"others": parts.free} if parts.free else {})})


def _is_count(value: object) -> bool:
    return is_number(value) and value >= 0


def _parts(given: Mapping[str, object], place: Place) -> _Parts:
    parts = _Parts({}, {}, [])
    for name, value in given.items():
        path, plain = written((name,)), plain_name(name)
        if name == _words_behind(given):
            continue  # of the command
        if plain in COMMANDS:
            parts.subjects[path] = _command(value, given)
        elif plain in _FREE:
            parts.free.append(path)
        elif levels := _subject(plain, value, place):
            parts.subjects[path if isinstance(value, str) else f"{path}[*]"] = levels
        else:
            parts.details[path] = _same(value)
    if any("command" in levels[0] for levels in parts.subjects.values()):
        _keep_folders(parts, place)
    return parts


def _keep_folders(parts: _Parts, place: Place) -> None:
    """Keeps a command in its folder, or below the project: not in the folder above it."""
    for path, levels in parts.subjects.items():
        if "equals" in levels[0]:
            in_project = [each for each in levels if each.get("inside") == [place.project]]
            parts.subjects[path] = in_project or levels[:1]


def _same(value: object) -> Mapping[str, object]:
    is_short = isinstance(value, str) and len(value) <= LONGEST_EQUAL
    if not is_short and not isinstance(value, bool | int | float):
        raise _Unclear
    return {"equals": value}


def _words_behind(given: Mapping[str, object]) -> str | None:
    """Returns the argument that has the further words of a command, which is one word itself."""
    if not any(plain_name(name) in COMMANDS and isinstance(value, str) for name, value in given.items()):
        return None
    return next((name for name in given if plain_name(name) in _WORDS_OF_COMMANDS), None)


def _command(value: object, given: Mapping[str, object]) -> Levels:
    """
    Raises:
        _Unclear: a shell may read it in another way.
    """
    behind = _words_behind(given) if isinstance(value, str) else None
    args = {"args": written((behind,))} if behind is not None else {}
    words = command_words(value, Condition.model_validate({"command": ["x"], **args}), given)
    if not words or len(words) > MOST_WORDS:
        raise _Unclear
    exact = {"command": words, "more": "none", **args}
    program = os.path.basename(words[0])
    is_risky = program in RUNS_OTHERS or program in DESTROYS or not _RUNS_OTHERS_FOR.get(program, frozenset()).isdisjoint(words)
    if is_risky or len(words) == 1:
        return [exact]
    return [exact, {"command": _first_words(words), **args}]


def _first_words(words: list[str]) -> list[str]:
    """Returns the program, its subcommand, and all options: what may follow are names and values."""
    last_option = max((place for place, word in enumerate(words) if is_option(word)), default=0)
    return words[: max(2, last_option + 1)]


def _subject(plain: str, value: object, place: Place) -> Levels:
    """Returns what can be demanded of a path or an address, or of a list of such; nothing of anything else."""
    listed = value if isinstance(value, list) and value else [value]
    values = [each for each in listed if isinstance(each, str) and len(each) <= LONGEST_EQUAL]
    if len(values) < len(listed):
        return ()
    is_address = plain in ADDRESSES or any("://" in each for each in values)
    if not is_address and plain not in (*PATHS, *TARGETS) and not any(each.startswith(("/", "~")) for each in values):
        return ()
    same = {"equals": value} if isinstance(value, str) else {"oneOf": list(dict.fromkeys(values))}
    wider = _hosts(values) if is_address else _folders(values, place, is_folder=plain in FOLDERS)
    return [same, *wider]


def _hosts(values: Sequence[str]) -> Levels:
    hosts = [host_of(each) for each in values]
    named = dict.fromkeys(f"{each.name}:{each.port}" if each.port else each.name for each in hosts if each)
    return [{"hosts": list(named)}] if all(hosts) else ()


def _folders(values: Sequence[str], place: Place, *, is_folder: bool) -> Levels:
    if not all(map(is_plain_path, values)):
        return ()
    paths = [os.path.normpath(each) for each in values]
    above = os.path.commonpath(paths) if len(paths) > 1 or is_folder else os.path.dirname(paths[0])
    in_project = bool(place.project) and all(lies_below(each, place.project) for each in paths)
    folders = [above, *([place.project] if in_project else [])]
    if in_project and not lies_below(above, place.project):  # it is the project's folder itself
        folders = [place.project]
    return [{"inside": [each]} for each in dict.fromkeys(folders) if not is_wide(each, place)]
