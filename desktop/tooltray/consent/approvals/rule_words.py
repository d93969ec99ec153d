"""What a rule on arguments lets through, in words: the one place that writes them, for rules made of a call and for those typed by hand."""

import json
from collections.abc import Iterable, Iterator
from pathlib import PurePath

from tooltray.catalogue.approval import NAME_PREFIX
from tooltray.config.settings.call_rule import ANY, NONE, PROJECT, CallRule, Condition, NumberBounds
from tooltray.consent.approvals.rule_coverage import PATTERN, Place, folder_of
from tooltray.consent.approvals.suspicion import visible
from tooltray.foundation.phrases import Phrase

LONGEST_VALUE = 200  # characters of one value; a longer one is marked as cut
_RUNS_OTHERS = """
    . at awk bash batch bun busybox cargo cmd cmd.exe crontab csh dash deno docker doas emacs env eval exec fish gawk gdb gem go gradle
    ionice java kubectl ksh less lua make man mvn nano nice node nohup npm npx parallel perl php pip pip3 pipx pnpm podman poetry powershell
    powershell.exe pwsh python python3 rake rsync ruby scp screen sed setsid sh source ssh stdbuf strace su sudo systemctl tar time timeout
    tmux uv uvx vi vim watch xargs yarn zsh
"""
RUNS_OTHERS = frozenset(_RUNS_OTHERS.split())
"""Programs that run what they are given: behind these any word may be another program."""


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
    return _joined(parts) if parts else Phrase("whatever it is called with") if rule.others != "asked" else Phrase("without arguments")


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
    """Returns which tool, or tools, a rule is about."""
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
        case "number":
            return _number(path, condition.number or NumberBounds(min=0))
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


def _joined(parts: Iterable[str]) -> str:
    first, *others = parts
    for other in others:
        first = Phrase("{one}, {other}", one=first, other=other)
    return first


def _all(parts: Iterable[str]) -> str:
    *others, last = parts
    return Phrase("{one}, and {other}", one=_joined(others), other=last) if others else last


def _alternatives(parts: Iterable[str]) -> str:
    first, *others = parts
    for other in others:
        first = Phrase("{one} or {other}", one=first, other=other)
    return first


def cautions(rule: CallRule, place: Place) -> Iterator[str]:
    """Yields what the user should know of a rule besides its words."""
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
    """Returns whether the home folder is a folder, or lies in it."""
    return bool(folder) and (PurePath(place.home).is_relative_to(folder))
