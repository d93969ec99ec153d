"""Reads and writes the fields of a server's entry; values without a field stay unchanged. Pure."""

import copy
import json
from collections.abc import Mapping, Sequence
from typing import cast

from tooltray.ui.i18n import say
from tooltray.ui.server_pane.entry_fields import EntryField, Kind

Entry = Mapping[str, object]
MOST_PAIRS = 60  # variables with a line each; more are for the JSON


def path_in(entry: Entry, field: EntryField) -> tuple[str, ...]:
    """Returns the keys that lead to a field, in the spelling of the entry, else in ours."""
    options = entry.get("options")
    if field.path == ("lazyLoad",) and "lazyLoad" not in entry and isinstance(options, Mapping) and "lazyLoad" in options:
        return ("options", "lazyLoad")
    first = next((spelling for spelling in field.spellings if spelling in entry), field.path[0])
    return (first, *field.path[1:])


def value_in(entry: Entry, field: EntryField) -> object:
    """Returns the value of a field; None for an omitted value, and for `null`."""
    value: object = entry
    for key in path_in(entry, field):
        value = value.get(key) if isinstance(value, Mapping) else None
    return value


def is_changed(entry: Entry, field: EntryField) -> bool:
    """Returns whether the value differs from the default; a usual transport does not."""
    usual = ("stdio", "http") if field.key == "type" else (field.default,)
    return value_in(entry, field) not in (None, *usual, "", [], {})


def is_odd(entry: Entry, field: EntryField) -> bool:
    """Returns whether the value has a form that the field cannot show; such a value is edited as JSON."""
    above = entry.get(path_in(entry, field)[0])
    if len(field.path) > 1 and above is not None and not isinstance(above, Mapping):
        return True
    value = value_in(entry, field)
    return value is not None and not _fits(value, field.kind)


def _fits(value: object, kind: Kind) -> bool:
    match kind:
        case "text":
            return isinstance(value, str) and "\n" not in value
        case "lines":
            return isinstance(value, list | tuple) and all(isinstance(each, str) and each.strip() and "\n" not in each for each in value)
        case "pairs":
            is_short = isinstance(value, Mapping) and len(value) <= MOST_PAIRS
            return is_short and all(isinstance(each, str) and "\n" not in each for each in cast(Entry, value).values())
        case "number":
            return isinstance(value, int | float) and not isinstance(value, bool)
        case "switch":
            return isinstance(value, bool)
        case "choice":
            return isinstance(value, str | bool)
        case "json":
            return True


def with_value(entry: Entry, field: EntryField, value: object) -> dict[str, object]:
    """Returns an entry with another value of a field; None removes it, and members that are empty then."""
    changed = copy.deepcopy(dict(entry))
    *above, last = path_in(entry, field)
    holders = [changed]
    for key in above:
        inner = holders[-1].get(key)
        holders[-1][key] = inner = dict(inner) if isinstance(inner, Mapping) else {}
        holders.append(inner)
    if value is None:
        holders[-1].pop(last, None)
    else:
        holders[-1][last] = value
    for holder, key in zip(reversed(holders[:-1]), reversed(above), strict=True):
        if not holder[key]:
            del holder[key]
    return changed


def choice_of(value: object) -> str:
    """Returns the JSON that identifies a choice; "" for an omitted value."""
    return "" if value is None else json.dumps(value)


def options_of(field: EntryField, value: object) -> Sequence[tuple[str, str]]:
    """Returns the possible choices; includes the current value if it is another program's word."""
    options, now = [(word, say(title)) for word, title in field.choices], choice_of(value)
    return options if now in dict(options) else [*options, (now, str(value))]


def is_wanted(entry: Entry, field: EntryField) -> bool:
    """Returns whether a field applies to an entry; a field with a value is always shown."""
    if not field.needs or value_in(entry, field) is not None:
        return True
    is_remote = looks_remote(entry)
    match field.needs:
        case "remote":
            return is_remote
        case "command":
            return not is_remote
    return entry.get("deferredStartup") is True


def looks_remote(entry: Entry) -> bool:
    """Returns whether an entry is of a server that is reached by an address."""
    kind = next((str(entry[key]) for key in ("type", "transport", "transportType") if entry.get(key)), "")
    if kind:
        return kind not in ("stdio", "local", "inmemory")
    return bool(entry.get("url") or entry.get("baseUrl")) and not entry.get("command")


def with_values(part: object, secrets: Mapping[str, str]) -> object:
    """Returns an entry with the values of some secrets in it, for a test; it must not be saved."""
    if isinstance(part, str):
        for name, value in secrets.items():
            part = part.replace(f"${{secret:{name}}}", value)
        return part
    if isinstance(part, Mapping):
        return {str(key): with_values(value, secrets) for key, value in cast(Entry, part).items()}
    return [with_values(each, secrets) for each in part] if isinstance(part, list | tuple) else part
