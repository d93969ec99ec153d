"""One skill as its server listed it, by the extension `io.modelcontextprotocol/skills` (SEP-2640): the usable part, and its identity. Pure.
An entry is carried as bytes except for its URIs: its frontmatter has to be that of its `SKILL.md`, which AI clients compare, so no name of
a skill is ever changed.
"""

import re
from collections.abc import Callable, Iterable, Mapping, Sequence

import msgspec
from msgspec import Raw

from tooltray.catalogue.definition import canonical, digest
from tooltray.catalogue.offer import OfferKind, bounded
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.protocol import eras
from tooltray.protocol.envelope import dump, load
from tooltray.protocol.member_scanner import closed, elements_of, opened
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.mcp_client import McpClient

EXTENSION = "io.modelcontextprotocol/skills"
SKILLS = OfferKind("skills", "skills/list", "skills", "uri", EXTENSION, "notifications/resources/list_changed", is_extension=True)
"""The extension has no notification of its own; the files of skills are resources."""
SKILL_FILE = "/SKILL.md"  # ends the URI of each skill
DYNAMIC = "dynamic"  # replaces files without known digests

MOST_FILES = 512  # files of one skill; within both limits every AI client accepts a skill
MOST_BYTES = 16 * 2**20  # of its files together
LONGEST_URI = 2048  # characters; records about a skill use it as their key

_NAME = lazy_pattern(r"(?=.{1,64}\Z)[a-z0-9]+(?:-[a-z0-9]+)*", re.ASCII)
_DIGEST = lazy_pattern(r"sha256:[0-9a-f]{64}", re.ASCII)


class SkillFile(msgspec.Struct, frozen=True):
    """One file of a skill. `digest`: "sha256:" and 64 hexadecimal digits, of its bytes."""

    digest: str
    size_bytes: int


class Skill(msgspec.Struct, frozen=True):
    """One skill.

    Attributes:
        uri: the server's own, of its `SKILL.md`.
        files: by the server's own URIs; None if its content is generated when it is read, so that digests are unknown.
        mark: identifies the present skill: changes with its frontmatter and with any of its files.
        raw: the entry, verbatim.
    """

    uri: str
    name: str
    description: str
    files: Mapping[str, SkillFile] | None
    mark: str
    raw: Raw

    @property
    def flaw(self) -> str:
        """Always empty: a skill is offered unchanged, or not at all."""
        return ""

    @property
    def folder(self) -> str:
        """The URI of its root, with a slash at the end."""
        return self.uri.removesuffix(SKILL_FILE[1:])

    def published(self, publish: Callable[[str], str]) -> Raw:
        """Returns the entry with other URIs, everything else verbatim."""
        if publish(self.uri) == self.uri:
            return self.raw
        members = opened(self.raw) | {"uri": dump(publish(self.uri))}
        if self.files is not None:
            files = [eras.with_members(each, uri=dump(publish(load(opened(each)["uri"])))) for each in elements_of(members["resources"])]
            members["resources"] = Raw(b"[%b]" % b",".join(map(bytes, files)))
        return closed(members)


class Unusable(ValueError):
    """An error: no AI client may load an entry; its text is the reason."""


def read_skills(
    kind: OfferKind, raws: Iterable[Raw], server: ManagedServer, client: McpClient | None
) -> tuple[tuple[Skill, ...], Sequence[str]]:
    """Returns the usable skills of a server's list, each URI once, and remarks on the rest, for ServerLists."""
    skills: dict[str, Skill] = {}
    remarks: list[str] = []
    for place, raw in enumerate(raws, 1):
        try:
            skill = read_skill(raw)
            if skill.uri in skills:
                raise Unusable(f"{skill.uri!r} is already in the list")
        except Unusable as fault:
            remarks.append(f"{kind.name}: number {place} of the list is left out: {fault}")
        else:
            skills[skill.uri] = skill
    return tuple(skills.values()), bounded(kind, remarks)


def read_skill(raw: Raw) -> Skill:
    """Reads one entry of `skills/list`, or the entry in `skills/get`.

    Raises:
        Unusable: no AI client may load it.
    """
    try:
        entry = load(raw)
    except ValueError:
        raise Unusable("it is not readable JSON") from None
    if not isinstance(entry, dict) or not isinstance(uri := entry.get("uri"), str) or len(uri) > LONGEST_URI:
        raise Unusable(f"it has no uri that is a string of at most {LONGEST_URI} characters")
    front = entry.get("frontmatter")
    name, description = (front.get("name"), front.get("description")) if isinstance(front, dict) else (None, None)
    if not isinstance(name, str) or not isinstance(description, str):
        raise Unusable(f"{uri!r} has no frontmatter with a name and a description")
    if not _NAME.fullmatch(name):
        raise Unusable(f"{name[:80]!r} is not a valid name of a skill")
    if not uri.endswith(f"/{name}{SKILL_FILE}"):
        raise Unusable(f"{uri!r} does not end in the name of its skill and SKILL.md")
    files = _files(uri, entry.get("resources"))
    return Skill(uri, name, description, files, digest(_text(front, files)), raw)


def skill_text(skill: Skill) -> str:
    """Returns the canonical text that a skill's mark covers."""
    return _text(load(opened(skill.raw)["frontmatter"]), skill.files)


def _files(uri: str, resources: object) -> Mapping[str, SkillFile] | None:
    if resources == DYNAMIC:
        return None
    if not isinstance(resources, list):
        raise Unusable(f"{uri!r} does not list its files")
    if len(resources) > MOST_FILES:
        raise Unusable(f"{uri!r} has more than {MOST_FILES} files")
    folder = uri.removesuffix(SKILL_FILE[1:])
    files = dict(_file(each, folder) for each in resources)
    if uri not in files or len(files) < len(resources):
        raise Unusable(f"{uri!r} lists a file twice")
    if sum(each.size_bytes for each in files.values()) > MOST_BYTES:
        raise Unusable(f"{uri!r} has more than {MOST_BYTES // 2**20} MiB")
    return files


def _file(entry: object, folder: str) -> tuple[str, SkillFile]:
    members = entry if isinstance(entry, dict) else {}
    uri, sha, size = (members.get(key) for key in ("uri", "digest", "size"))
    if not isinstance(uri, str) or not uri.startswith(folder):
        raise Unusable(f"a file of {folder!r} is not in its folder")
    if not isinstance(sha, str) or not _DIGEST.fullmatch(sha):
        raise Unusable(f"{uri!r} has no SHA-256 digest")
    if not isinstance(size, int) or isinstance(size, bool) or size < 0:
        raise Unusable(f"{uri!r} has no size")
    return uri, SkillFile(sha, size)


def _text(frontmatter: object, files: Mapping[str, SkillFile] | None) -> str:
    resources = DYNAMIC if files is None else {uri: [each.digest, each.size_bytes] for uri, each in files.items()}
    return canonical(bytes(dump({"frontmatter": frontmatter, "resources": resources})))
