"""Prompts, resources, templates and skills of servers as rows, and how a template becomes an address. Pure functions; definitions are
servers' JSON, which may have any form."""

import re
from collections.abc import Iterable, Mapping, Sequence
from urllib.parse import quote

import msgspec

from tooltray.foundation.snapshots.tools import SkillSnapshot
from tooltray.ui.server_text import one_line, seen

PROMPT, RESOURCE, TEMPLATE, SKILL = "prompt", "resource", "template", "skill"
LONGEST_NAME, LONGEST_TEXT = 200, 2_000  # characters of a server's words that are shown
MOST_ARGUMENTS = 40  # fields; a prompt with more asks nobody
_EXPRESSION = re.compile(r"\{([+#./;?&]?)([^{}]*)\}")
RESERVED = ":/?#[]@!$&'()*+,;="


class Argument(msgspec.Struct, frozen=True):
    name: str
    description: str = ""
    is_required: bool = False


class Offered(msgspec.Struct, frozen=True):
    """A prompt, a resource, a template or a skill.

    Attributes:
        kind: PROMPT, RESOURCE, TEMPLATE or SKILL.
        key: its name, address or template, as AI clients see it.
        title: its name for users.
        mime: the MIME type that the server gave.
        arguments: of a prompt, and the variables of a template.
        own_key: of a skill: its address as its server has it.
        is_enabled, is_held: of a skill: whether the settings offer it, and whether it waits because it has changed.
    """

    kind: str
    server: str
    key: str
    title: str
    description: str = ""
    mime: str = ""
    size: int | None = None
    arguments: tuple[Argument, ...] = ()
    own_key: str = ""
    is_enabled: bool = True
    is_held: bool = False

    @property
    def text(self) -> str:
        """The text for searches."""
        return f"{self.key}\n{self.title}\n{self.server}\n{self.description}\n{self.mime}".casefold()


def prompt_of(server: str, definition: Mapping[str, object]) -> Offered:
    """Reads the definition of a prompt."""
    given = definition.get("arguments")
    arguments = [
        Argument(str(each["name"]), _words(each.get("description")), each.get("required") is True)
        for each in (given if isinstance(given, list) else [])[:MOST_ARGUMENTS]
        if isinstance(each, Mapping) and isinstance(each.get("name"), str)
    ]
    name = str(definition.get("name", ""))
    return Offered(PROMPT, server, name, _title(definition, name), _words(definition.get("description")), arguments=tuple(arguments))


def resource_of(server: str, definition: Mapping[str, object]) -> Offered:
    """Reads the definition of a resource."""
    uri, size = str(definition.get("uri", "")), definition.get("size")
    return Offered(
        RESOURCE,
        server,
        uri,
        _title(definition, uri),
        _words(definition.get("description")),
        one_line(str(definition.get("mimeType") or ""), LONGEST_NAME),
        size if isinstance(size, int) and not isinstance(size, bool) else None,
    )


def template_of(server: str, definition: Mapping[str, object]) -> Offered:
    """Reads the definition of a template."""
    text = str(definition.get("uriTemplate", ""))
    mime = one_line(str(definition.get("mimeType") or ""), LONGEST_NAME)
    arguments = tuple(Argument(name, is_required=is_required) for name, is_required in variables(text))
    return Offered(TEMPLATE, server, text, _title(definition, text), _words(definition.get("description")), mime, arguments=arguments)


def skill_of(skill: SkillSnapshot) -> Offered:
    """Reads a skill."""
    return Offered(
        SKILL,
        skill.server,
        skill.uri,
        one_line(skill.name, LONGEST_NAME),
        _words(skill.description),
        size=None if skill.is_dynamic else skill.size_bytes,
        own_key=skill.own_uri,
        is_enabled=skill.is_enabled,
        is_held=skill.is_held,
    )


def _title(definition: Mapping[str, object], otherwise: str) -> str:
    words = [word for key in ("title", "name") if isinstance(word := definition.get(key), str) and word]
    return one_line([*words, otherwise][0], LONGEST_NAME)


def _words(text: object) -> str:
    return seen(text[:LONGEST_TEXT]) if isinstance(text, str) else ""


def variables(template: str) -> list[tuple[str, bool]]:
    """Returns the names in a template, and whether each is required; names in a query are optional."""
    found: dict[str, bool] = {}
    for operator, names in _EXPRESSION.findall(template):
        for name in names.split(","):
            plain = name.split(":")[0].rstrip("*").strip()
            if plain and len(found) < MOST_ARGUMENTS:
                found.setdefault(plain, operator not in ("?", "&", "#", ";"))
    return list(found.items())


def expanded(template: str, values: Mapping[str, str]) -> str:
    """Returns the address of a template with these values (RFC 6570, for texts)."""

    def one(match: re.Match[str]) -> str:
        operator, names = match[1], [name.split(":")[0].rstrip("*").strip() for name in match[2].split(",")]
        given = [(name, quote(values[name], safe=RESERVED if operator in ("+", "#") else "")) for name in names if values.get(name)]
        if not given:
            return ""
        if operator in ("?", "&", ";"):
            return operator + (";" if operator == ";" else "&").join(f"{name}={value}" for name, value in given)
        parts = [value for _, value in given]
        return {"#": "#", ".": ".", "/": "/"}.get(operator, "") + {".": ".", "/": "/"}.get(operator, ",").join(parts)

    return _EXPRESSION.sub(one, template)


def matching(offers: Iterable[Offered], text: str) -> list[Offered]:
    """Returns the offers that contain all words of a text."""
    wanted = text.casefold().split()
    return [each for each in offers if all(word in each.text for word in wanted)]


def by_server(offers: Sequence[Offered]) -> dict[str, list[Offered]]:
    """Returns the offers by their servers, in the order of these names."""
    found: dict[str, list[Offered]] = {}
    for each in sorted(offers, key=lambda offer: (offer.server.casefold(), offer.kind == TEMPLATE)):
        found.setdefault(each.server, []).append(each)
    return found
