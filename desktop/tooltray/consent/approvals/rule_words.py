"""Rules on arguments in words, and rules made of a call: what "Make a rule…" offers to the user, from narrow to wide.

Pure; no file is opened. Every offered rule is about every argument of the call. Arguments may have any value only if their names show that
they are harmless: numbers, and the contents that are written.
"""

import json
import os
from collections.abc import Iterable, Iterator, Mapping, Sequence
from pathlib import PurePath
from typing import NamedTuple

from tooltray.catalogue.auto_approve import NAME_PREFIX
from tooltray.config.settings.call_rule import ANY, NONE, PROJECT, CallRule, Condition, NumberBounds, host_of, read_rule, written
from tooltray.consent.approvals.diffs import BEFORE_AND_AFTER, CONTENTS, LISTS_OF_EDITS
from tooltray.consent.approvals.rule_coverage import (
    PATTERN,
    Place,
    command_words,
    covers_read,
    folder_of,
    is_number,
    is_option,
    is_plain_path,
    lies_below,
    read_arguments,
)
from tooltray.consent.approvals.suspicion import visible
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.phrases import Phrase
from tooltray.records.journal.call_params import ADDRESSES, COMMANDS, PATHS, TARGETS, plain_name

LONGEST_VALUE = 200  # characters of one value; a longer one is marked as cut
_RUNS_OTHERS = """
    . at awk bash batch bun busybox cargo cmd cmd.exe crontab csh dash deno docker doas emacs env eval exec fish gawk gdb gem go gradle
    ionice java kubectl ksh less lua make man mvn nano nice node nohup npm npx parallel perl php pip pip3 pipx pnpm podman poetry powershell
    powershell.exe pwsh python python3 rake rsync ruby scp screen sed setsid sh source ssh stdbuf strace su sudo systemctl tar time timeout
    tmux uv uvx vi vim watch xargs yarn zsh
"""
RUNS_OTHERS = frozenset(_RUNS_OTHERS.split())
"""Programs that run their arguments: any word behind them may be another program."""


def words(rule: CallRule) -> str:
    """Returns the calls that a rule covers: "run_command, where command is exactly `git status`; no other arguments"."""
    conditions: list[str] = [_condition(path, each) for path, each in rule.arguments.items()]
    text = tool_of(rule)
    if rule.server:
        text = Phrase("{tool} of {server}", tool=text, server=visible(rule.server))
    if not conditions:
        return Phrase("{tool}: {others}", tool=text, others=_others(rule))
    return Phrase("{tool}, where {conditions}; {others}", tool=text, conditions=_all(conditions), others=_others(rule))


def brief(rule: CallRule) -> str:
    """Returns how a rule differs from others that were made of the same call: "`git status` with more words, in /code/p"."""
    parts: list[str] = [text for each in rule.arguments.values() if (text := _brief(each))]
    return joined(parts) if parts else Phrase("whatever it is called with") if rule.others != "asked" else Phrase("without arguments")


def _brief(condition: Condition) -> str:
    match condition.kind:
        case "inside":
            return Phrase("in {folders}", folders=_alternatives(map(folder_words, condition.inside or ())))
        case "hosts":
            return Phrase("at {hosts}", hosts=_alternatives(condition.hosts or ()))
        case "command":
            line = f"`{' '.join(condition.command or ())}`"
            return Phrase("exactly {value}", value=line) if condition.more == NONE else Phrase("{command} with more words", command=line)
        case "equals":
            return Phrase("exactly {value}", value=_value(condition.equals))
        case "one_of":
            return _alternatives(map(_value, condition.one_of or ()))
    return ""


def tool_of(rule: CallRule) -> str:
    """Returns the tool or tools that a rule is about, in words."""
    if rule.tool.startswith(PATTERN):
        return Phrase("tools named like {pattern}", pattern=visible(rule.tool.removeprefix(PATTERN)))
    return visible(rule.tool.removeprefix(NAME_PREFIX))


def _condition(path: str, condition: Condition) -> str:
    text = _wanted(visible(path), condition)
    return Phrase("{condition}, or is not given", condition=text) if condition.optional else text


def _wanted(path: str, condition: Condition) -> str:
    match condition.kind:
        case "inside":
            return Phrase("{argument} is in {folders}", argument=path, folders=_alternatives(map(folder_words, condition.inside or ())))
        case "hosts":
            return Phrase("{argument} is at {hosts}", argument=path, hosts=_alternatives(condition.hosts or ()))
        case "command":
            return _command(path, condition)
        case "number" if condition.number:
            return _number(path, condition.number)
        case "equals":
            return Phrase("{argument} is {value}", argument=path, value=_value(condition.equals))
    return Phrase("{argument} is {values}", argument=path, values=_alternatives(map(_value, condition.one_of or ())))


def folder_words(folder: str) -> str:
    """Returns a folder of a rule in words."""
    if folder == PROJECT:
        return Phrase("the project's folder")
    if folder.startswith(PROJECT):
        return Phrase("{folder} of the project", folder=visible(folder[len(PROJECT) + 1 :]))
    return visible(folder)


def _command(path: str, condition: Condition) -> str:
    line = f"`{' '.join(condition.command or ())}`"
    argument = Phrase("{one} with {other}", one=path, other=visible(condition.args)) if condition.args else path
    if condition.more == NONE:
        return Phrase("{argument} is exactly {command}", argument=argument, command=line)
    if condition.more == ANY:
        return Phrase("{argument} begins with {command}, followed by anything", argument=argument, command=line)
    return Phrase("{argument} begins with {command}, followed by words that are not options", argument=argument, command=line)


def _number(path: str, bounds: NumberBounds) -> str:
    if bounds.min is None:
        return Phrase("{argument} is at most {max}", argument=path, max=bounds.max)
    if bounds.max is None:
        return Phrase("{argument} is at least {min}", argument=path, min=bounds.min)
    return Phrase("{argument} is from {min} to {max}", argument=path, min=bounds.min, max=bounds.max)


def _others(rule: CallRule) -> str:
    if rule.others == ANY:
        return Phrase("any other arguments") if rule.arguments else Phrase("any arguments")
    if isinstance(rule.others, tuple) and rule.others:
        return Phrase("anything as {arguments}, and no other arguments", arguments=", ".join(map(visible, rule.others)))
    return Phrase("no other arguments") if rule.arguments else Phrase("without arguments")


def _value(value: object) -> str:
    text = json.dumps(value, ensure_ascii=False)
    return visible(text if len(text) <= LONGEST_VALUE else text[:LONGEST_VALUE] + "…")


def joined(parts: Iterable[str]) -> str:
    """Joins parts, at least one, with commas into a text that can be translated."""
    first, *others = parts
    for other in others:
        first = Phrase("{one}, {other}", one=first, other=other)
    return first


def _all(parts: Iterable[str]) -> str:
    *others, last = parts
    return Phrase("{one}, and {other}", one=joined(others), other=last) if others else last


def _alternatives(parts: Iterable[str]) -> str:
    first, *others = parts
    for other in others:
        first = Phrase("{one} or {other}", one=first, other=other)
    return first


def cautions(rule: CallRule, place: Place) -> Iterator[str]:
    """Yields warnings to the user about a rule."""
    if rule.others == ANY:
        yield Phrase("what else a call is given is not looked at")
    for condition in rule.arguments.values():
        for folder in condition.inside or ():
            if is_wide(folder_of(folder, place), place):
                yield Phrase("almost everything of yours is in {folder}", folder=folder_words(folder))
        program = PurePath((condition.command or ("",))[0]).name
        if condition.more != NONE and program in RUNS_OTHERS:
            yield Phrase("{program} runs other programs, and any word behind it may be one", program=program)
        if condition.hosts:
            yield Phrase("where a host sends a request on to is not known here")


def is_wide(folder: str, place: Place) -> bool:
    """Returns whether a folder is the home folder, or contains it."""
    return bool(folder) and (PurePath(place.home).is_relative_to(folder))


MOST_OFFERED = 4  # a person reads no more before an answer
LONGEST_EQUAL = 200  # characters of a text that a rule repeats
MOST_ARGUMENTS = 12
MOST_WORDS = 30  # of a command
_DESTROYS = "chmod chown cp curl dd format kill mkfs mv nc ncat rm rmdir rsync shutdown truncate unlink wget"
DESTROYS = frozenset(_DESTROYS.split())
"""Programs for which every word matters, wherever it is: only rules for exactly the same command are offered."""
_RUNS_OTHERS_FOR = {"git": frozenset(["bisect", "config", "difftool", "filter-branch", "hook", "mergetool", "rebase", "submodule"])}
"""Subcommands and options with which some programs run other programs: here, too, only rules for exactly the same command are offered."""
_FOLDERS = "cwd dir directory directorypath folder repo repopath rootpath workdir workingdirectory"
FOLDERS = frozenset(_FOLDERS.split())
"""Names of arguments that are folders, not files in a folder."""
_FREE = {plain_name(name) for name in (*CONTENTS, *LISTS_OF_EDITS, *(each for pair in BEFORE_AND_AFTER for each in pair))}
_ANY_COUNT: Mapping[str, object] = {"number": {"min": 0}, "optional": True}
_WORDS_OF_COMMANDS = ("args", "arguments", "argv")

Levels = Sequence[Mapping[str, object]]
"""Conditions on one argument, from narrow to wide."""


class _Parts(NamedTuple):
    """The arguments of a call, sorted by what a rule may leave open.

    Attributes:
        subjects: the targets of the call, by path in the arguments: a command, files, hosts; with the conditions that a rule could set for
            each.
        details: other arguments, for which only the same value is safe.
        free: arguments that may have any value.
    """

    subjects: dict[str, Levels]
    details: dict[str, Mapping[str, object]]
    free: list[str]


class _Unclear(Exception):
    """An error: no rule can be made from a call."""


def offers(tool: str, arguments: bytes, place: Place) -> tuple[CallRule, ...]:
    """Returns rules that cover a call, from narrow to wide; empty if it is unclear what is safe in the call.

    Args:
        tool: the server's own name for it.
        arguments: JSON, as it goes to the server.
    """
    given = read_arguments(arguments)
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
    """Returns whether a rule covers the call. Links in paths are not resolved here, only when the rule is saved."""
    return any(each.inside for each in rule.arguments.values()) or covers_read(rule, given, place)


def _widths(parts: _Parts) -> Iterator[tuple[int, bool]]:
    """Yields the width of each rule to offer (a place in the subjects' levels), and whether the rule leaves numbers open."""
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
            parts.subjects[path] = _command_levels(value, given)
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
    """Limits a command to its own folder, or to the project; not to the parent folder."""
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
    """Returns the argument with the further words of a command, if the command itself is one word."""
    if not any(plain_name(name) in COMMANDS and isinstance(value, str) for name, value in given.items()):
        return None
    return next((name for name in given if plain_name(name) in _WORDS_OF_COMMANDS), None)


def _command_levels(value: object, given: Mapping[str, object]) -> Levels:
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
    return words[: max((count for count, word in enumerate(words[1:], 2) if is_option(word)), default=2)]


def _subject(plain: str, value: object, place: Place) -> Levels:
    """Returns the conditions that a rule can set for a path, an address, or a list of these; empty for other values."""
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
