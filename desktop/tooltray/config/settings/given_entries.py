"""Checks an entry of a server that is given under its name, or typed as JSON, and reports each error with its place.

No reason quotes a value, since the user may have typed a key into it.
"""

from collections.abc import Collection, Iterator, Mapping

from tooltray.config.settings.json_kinds import MUST_BE_OBJECT, Path, ValidationError
from tooltray.config.settings.json_model import CORRECT_IT, in_words, printable
from tooltray.config.settings.server_config import SPELLINGS, MCPServerConfig
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.files.json_places import CannotRead, Lines, Value, read
from tooltray.foundation.files.json_text import NotJson, read_json
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.snapshots.entries import EntryError, EntryPath, EntryText

BUILTIN_NAMES = ("hub",)
"""Names of the servers that are part of Tooltray; no entry may have one."""
MAX_NAME_LENGTH = 64  # a name becomes a part of file names, keyring entries and tool names
LONGEST_TEXT = 256 * 1024  # characters: a hundred times the size of real entries; checked at each keystroke
MOST_SLIPS = 50  # the next ones are shown once these are corrected
TWICE = "\0twice"  # no user types such a key: the path of a slip about a key that occurs twice
FORBIDDEN_IN_NAMES = "/{}"  # `${secret:NAME/KEY}` has to find its parts again


def printable_name(name: str) -> str:
    return printable(name[:MAX_NAME_LENGTH])


class UnusableEntry(TooltrayError):
    """An entry of a server that cannot be used.

    Attributes:
        path: of the wrong part; empty: the whole entry.
    """

    def __init__(self, title: str, message: str, hint: str, *, path: Path) -> None:
        super().__init__(title, message, hint)
        self.path = path


def check_name(name: str, reserved: Collection[str]) -> None:
    """Checks whether a server may have this name.

    Raises:
        TooltrayError: it may not; explains why.
    """
    if name in reserved:
        reason: str = Phrase("this is the name of a server that comes with Tooltray")
    elif not 0 < len(name) <= MAX_NAME_LENGTH:
        reason = Phrase("a name has 1 to {most} characters, this one has {count}", most=MAX_NAME_LENGTH, count=len(name))
    elif not name.isprintable() or name != name.strip() or any(character in name for character in FORBIDDEN_IN_NAMES):
        reason = Phrase("a name has letters, digits, signs and inner spaces, but no '/', '{brace}' or '{closing}'", brace="{", closing="}")
    else:
        return
    raise TooltrayError(Phrase("'{name}' cannot be the name of a server", name=printable_name(name)), reason, Phrase("Choose another name"))


def read_entry(name: str, entry: object) -> MCPServerConfig:
    """Reads and checks one entry.

    Raises:
        UnusableEntry: explains which field and why, and quotes no value.
    """
    try:
        return MCPServerConfig.model_validate(entry)
    except ValidationError as error:
        title = Phrase("The entry of server '{server}' cannot be used", server=name)
        raise UnusableEntry(title, in_words(error), CORRECT_IT, path=error.places[0][0]) from None


def read_given_entry(name: str, entry: object) -> MCPServerConfig:
    """Reads one entry from anywhere but the settings' own file: a project's file, REST, an import, a link, a bundle, a proposal.

    Raises:
        UnusableEntry: explains why; also for a server in memory, which only the user adds.
    """
    config = read_entry(name, entry)
    check_runs_outside(name, config)
    return config


def check_runs_outside(name: str, config: MCPServerConfig) -> None:
    """Raises UnusableEntry if the server would run inside Tooltray."""
    if config.transport == "inmemory":
        title = Phrase("'{name}' cannot be added from here: it would run inside Tooltray and could read every secret", name=name)
        raise UnusableEntry(title, "", Phrase("Add it yourself, at a terminal: tooltray servers add NAME --inmemory ENTRY"), path=("type",))


def read_entry_text(text: str) -> EntryText:
    """Reads and checks an entry.

    Args:
        text: JSON, as it would follow the server's name.
    """
    if len(text) > LONGEST_TEXT:
        return EntryText(None, (EntryError(Phrase("it has more than {most} KiB", most=LONGEST_TEXT // 1024)),))
    try:
        entry, twice = read_json(text.encode("utf-8", "replace"))
    except NotJson as error:
        return EntryText(None, (EntryError(_without_place(error.reason), line=error.line),))
    if not isinstance(entry, dict):
        return EntryText(None, (EntryError(MUST_BE_OBJECT, line=1),))
    slips = [*_repeated(twice), *check_entry(entry)][:MOST_SLIPS]
    return EntryText(entry, _with_lines(text, slips) if slips else ())


def check_entry(entry: Mapping[str, object]) -> list[EntryError]:
    """Returns the errors of an entry, without lines."""
    try:
        MCPServerConfig.model_validate(entry)
    except ValidationError as error:
        return [EntryError(reason, _as_spelled(path, entry)) for path, reason in error.places]
    return []


def _without_place(reason: str) -> str:
    """Returns a reason without its line, which is shown beside it."""
    inner = reason.fields["reason"] if isinstance(reason, Phrase) and reason.template == "{place}: {reason}" else reason
    return inner if isinstance(inner, str) else reason


def _repeated(twice: list[str]) -> Iterator[EntryError]:
    """Yields a slip for each key that occurs twice, since a reader cannot know which of the two counts."""
    for key in twice:
        yield EntryError(Phrase("'{name}' occurs twice; keep one of them", name=printable(key)), (TWICE, key))


def _as_spelled(path: EntryPath, entry: Mapping[str, object]) -> EntryPath:
    """Returns the same place in the entry's own spelling: `url` where the model has `baseUrl`."""
    if not path or path[0] in entry:
        return path
    others = next((spellings for spellings in SPELLINGS.values() if path[0] in spellings), ())
    return (next((spelling for spelling in others if spelling in entry), path[0]), *path[1:])


def _with_lines(text: str, slips: list[EntryError]) -> tuple[EntryError, ...]:
    try:
        root = read(text)
    except CannotRead:  # JSON that only Python accepts, such as one with a superfluous escape
        return tuple(EntryError(slip.message, () if slip.path[:1] == (TWICE,) else slip.path) for slip in slips)
    lines = Lines(text)
    found = [_located(slip, root, lines) for slip in slips]
    return tuple(sorted(found, key=lambda slip: slip.line))


def _located(slip: EntryError, root: Value, lines: Lines) -> EntryError:
    if slip.path[:1] == (TWICE,):
        at = next((at for key, at in root.repeated() if key == slip.path[1]), root.start)
        return EntryError(slip.message, (), lines.place(at)[0])
    return EntryError(slip.message, slip.path, lines.place(place_of(slip.path, root))[0])


def place_of(path: EntryPath, value: Value) -> int:
    """Returns where a value begins, or the object that lacks it."""
    at = value.start
    for step in path:
        if isinstance(step, str) and step in value.members:
            at, value = value.members[step]
        elif isinstance(step, int) and step < len(value.items):
            value = value.items[step]
            at = value.start
        else:
            break
    return at
