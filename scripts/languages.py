"""Says of each catalogue in resources/i18n what it lacks, what it has too much, and where its fields are others.

`python scripts/languages.py --add CODE` adds to a catalogue what it lacks, empty, to be filled in, and makes one where there is none; an
empty translation counts as missing. The texts are found in the source: `tr("...")` and `many(count, "...", "...")` of the window and of
commands, `Phrase("...")` anywhere, and what the list of well-known servers says of them.
"""

import argparse
import ast
import json
import re
import sys
from collections.abc import Iterator, Mapping
from pathlib import Path
from typing import NamedTuple

ROOT = Path(__file__).resolve().parents[1]
SOURCE = ROOT / "desktop" / "tooltray"
CATALOGUES = ROOT / "resources" / "i18n"
STARTERS = ROOT / "resources" / "starter-servers.json"
SAID_OF_STARTERS = ("goodFor", "category", "needs")
SAYING = ("ui", "cli")  # rooms whose `tr` is meant
MANY = "many"  # `many(count, "1 server", "{count} servers")`
FIELD = re.compile(r"\{(\w+)\}")


class Text(NamedTuple):
    """A call that says something. `text` is None where it is no literal."""

    place: str
    text: str | None
    fields: frozenset[str]


def texts_in_source(source: Path) -> Iterator[Text]:
    """Yields every text that is said, with the fields for which there are values."""
    for path in sorted(source.rglob("*.py")):
        room = path.relative_to(source).parts[0]
        for node in ast.walk(ast.parse(path.read_text("utf-8"))):
            if path.name != "i18n.py" and isinstance(node, ast.Call) and _is_saying(node, room):
                fields = frozenset(keyword.arg for keyword in node.keywords if keyword.arg is not None)
                is_many = getattr(node.func, "id", None) == MANY
                for given, more in zip(node.args[is_many:][: 1 + is_many] or [None], ((), ("count",)), strict=False):
                    literal = given.value if isinstance(given, ast.Constant) and isinstance(given.value, str) else None
                    yield Text(f"{path.relative_to(source)}:{node.lineno}", literal, fields.union(more))


def _is_saying(node: ast.Call, room: str) -> bool:
    name = getattr(node.func, "id", None)
    return name == "Phrase" or (name in ("tr", MANY) and room in SAYING)


def texts_of_starters(file: Path) -> Iterator[str]:
    servers = json.loads(file.read_text("utf-8"))["servers"]
    yield from (text for server in servers for key in SAID_OF_STARTERS if (text := server.get(key)))


def all_texts() -> set[str]:
    """Returns the keys that a catalogue has, but for the empty one."""
    return {each.text for each in texts_in_source(SOURCE) if each.text is not None} | set(texts_of_starters(STARTERS))


class Verdict(NamedTuple):
    """What is wrong with one catalogue; each is a list of texts."""

    missing: list[str]
    superfluous: list[str]
    fields_differ: list[str]

    @property
    def is_well(self) -> bool:
        return not any(self)


def verdict(catalogue: Mapping[str, str], texts: set[str]) -> Verdict:
    missing = sorted(text for text in texts if not catalogue.get(text, "").strip())
    superfluous = sorted(text for text in catalogue if text and text not in texts)
    known = (text for text in texts if catalogue.get(text, "").strip())
    differ = sorted(text for text in known if any(set(FIELD.findall(text)) != set(FIELD.findall(form)) for form in _forms(catalogue[text])))
    return Verdict(missing, superfluous, differ)


def _forms(translated: str) -> list[str]:
    """Returns the forms for different numbers; see foundation/languages."""
    return translated.split("|") if "{count}" in translated else [translated]


def read(path: Path) -> dict[str, str]:
    found: dict[str, str] = json.loads(path.read_text("utf-8"))
    return found


def write(path: Path, catalogue: Mapping[str, str]) -> None:
    """Writes a catalogue as it stays: a line for each text, in order, so that two people's additions seldom meet."""
    ordered = {key: catalogue[key] for key in sorted(catalogue)}
    path.write_text(json.dumps(ordered, ensure_ascii=False, indent=2) + "\n", "utf-8")


def lines(code: str, count: int, found: Verdict) -> Iterator[str]:
    """Says what is wrong with a catalogue, if anything is."""
    missing, superfluous, differ = map(len, found)
    yield f"{code}: {count} texts, {missing} missing, {superfluous} superfluous, {differ} with other fields\n"
    for name, those in found._asdict().items():
        yield from (f"  {name.replace('_', ' ')}: {json.dumps(text, ensure_ascii=False)}\n" for text in those)


def main() -> int:
    options = argparse.ArgumentParser(description=__doc__)
    options.add_argument("--add", metavar="CODE", help="add what this catalogue lacks, empty; makes the file if there is none")
    args = options.parse_args()
    texts = all_texts()
    if args.add:
        path = CATALOGUES / f"{args.add}.json"
        catalogue = read(path) if path.is_file() else {"": f"language: {args.add}\nfor: {args.add.replace('_', '-')}"}
        write(path, {**dict.fromkeys(texts, ""), **catalogue})
    is_well = True
    for path in sorted(CATALOGUES.glob("*.json")):
        found = verdict(read(path), texts)
        is_well = is_well and found.is_well
        sys.stdout.writelines(lines(path.stem, len(texts), found))
    return 0 if is_well else 1


if __name__ == "__main__":
    sys.exit(main())
