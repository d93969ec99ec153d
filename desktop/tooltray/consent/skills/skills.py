"""Answers AI clients' requests about skills: their list, one entry, a folder of files, and each file, which has to match its digest.

A skill that is disabled, not in a session's profile, or blocked because it has changed is not offered in any way, whether the session has
all servers or only one.

A digest comes from the same server as the content, so it proves that the two match, not that the content is harmless.
"""

import hashlib
from base64 import b64decode
from collections.abc import Awaitable, Callable, Mapping
from functools import partial

from msgspec import Raw

from tooltray.catalogue.offer import listing_of
from tooltray.catalogue.resource_manager import read_uri
from tooltray.catalogue.resource_uris import Target
from tooltray.catalogue.skill import SKILLS, Skill, SkillFile, Unusable, read_skill
from tooltray.catalogue.views.profiles import Profiles
from tooltray.catalogue.views.views import Views
from tooltray.consent.approvals.suspicion import visible
from tooltray.consent.skills.skill_catalogue import SkillBook, SkillCatalogue
from tooltray.foundation.errors import Problem
from tooltray.foundation.events import EventBus, ProblemReported
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.tasks import finish_in_thread
from tooltray.protocol import eras
from tooltray.protocol.envelope import CONNECTION_CLOSED, INTERNAL_ERROR, INVALID_PARAMS, METHOD_NOT_FOUND, Envelope, dump, failure, load
from tooltray.protocol.eras import Era, Head
from tooltray.protocol.member_scanner import closed, elements_of, opened
from tooltray.protocol.sessions.caller import OwnCaller
from tooltray.protocol.sessions.exchange import Exchange, Work
from tooltray.protocol.sessions.session_state import SessionState
from tooltray.servers.relay.held_calls import HeldCalls
from tooltray.servers.relay.relay import ServerRelay
from tooltray.servers.upstream.managed_server import ManagedServer
from tooltray.servers.upstream.server_manager import ServerManager

CHECKED_AT_ONCE_BYTES = 2**18  # bytes of a result; longer ones are checked in a thread


def fault_of(result: Raw, uri: str, file: SkillFile) -> str:
    """Returns why the result of a read is not the requested file; empty if it is.

    Args:
        uri: the URI in the request.
    """
    try:
        content = _bytes(result, uri)
    except ValueError as error:
        return str(error) or "its content cannot be read"
    if len(content) != file.size_bytes:
        return f"it has {len(content):,} bytes, not {file.size_bytes:,}"
    digest = f"sha256:{hashlib.sha256(content).hexdigest()}"
    return "" if digest == file.digest else f"its digest is {digest}, not {file.digest}"


def text_of(result: Raw, uri: str) -> str:
    """Returns the text of a file.

    Raises:
        ValueError: it is not text.
    """
    return _bytes(result, uri).decode("utf-8", "replace")


def _bytes(result: Raw, uri: str) -> bytes:
    """
    Raises:
        ValueError: the result has no content with this URI, or this content has no data.
    """
    try:
        contents = load(opened(result)["contents"])
    except KeyError:
        raise ValueError("the answer has no contents") from None
    listed = [each for each in contents if isinstance(each, dict)] if isinstance(contents, list) else []
    found = next((each for each in listed if each.get("uri") == uri), listed[0] if len(listed) == 1 else None)
    text, blob = (found.get("text"), found.get("blob")) if found else (None, None)
    if isinstance(text, str):
        return text.encode()
    if isinstance(blob, str):
        return b64decode(blob, validate=True)
    raise ValueError("the answer has no content under its URI")


class SkillReading:
    """Reads files of skills for the user; AI clients read them through Skills. Has no state of its own."""

    def __init__(self, *, servers: ServerManager, relay: ServerRelay, caller: OwnCaller, held: HeldCalls) -> None:
        self._servers, self._relay, self._caller, self._held = servers, relay, caller, held

    async def result(self, server: str, uri: str) -> Raw:
        """Returns the result of `resources/read`.

        Args:
            uri: as the server has it.

        Raises:
            ReadingFailed: the server refused; the error has the server's own words.
        """
        request = Envelope(method="resources/read", params=dump({"uri": uri}))
        exchange = Exchange(request, Head(), self._caller, self._held, None, self._caller.name)
        reply = await self._relay.send_with_retry(self._servers.get(server), exchange)
        if reply.error:
            error = load(reply.error)
            raise ReadingFailed(str(error.get("message", "")) if isinstance(error, dict) else "")
        return reply.result


class ReadingFailed(Exception):
    """An error with the words of a server that refuses to return a skill."""


LIST, GET, READ_FOLDER = "skills/list", "skills/get", "resources/directory/read"
MOST_REPORTED = 256  # files whose content did not match; each is reported once


class Skills:
    """The requests of AI clients about skills. Belongs to the engine's loop."""

    def __init__(
        self,
        *,
        catalogue: SkillCatalogue,
        book: SkillBook,
        servers: ServerManager,
        profiles: Profiles,
        views: Views,
        relay: ServerRelay,
        bus: EventBus,
    ) -> None:
        self._catalogue, self._book, self._servers, self._profiles = catalogue, book, servers, profiles
        self._views, self._relay, self._bus = views, relay, bus
        self._told: dict[tuple[str, str, str], None] = {}

    def handlers(self) -> Mapping[str, Work]:
        """Returns the handlers of sessions that have all servers together."""
        return {LIST: self.listing, GET: self.get, READ_FOLDER: self.read_folder}

    # sessions that have all servers

    async def listing(self, exchange: Exchange) -> Envelope:
        """Answers `skills/list`: the skills of all servers that are shown to a session, in one page."""
        known = await self._catalogue.listed()
        if not self._catalogue.is_declared():
            return _no_method(exchange)
        state = exchange.session.state
        is_shown = self._views.shown_servers(state)
        entries = [
            each.skill.published(partial(self._catalogue.published, each.server))
            for each in known
            if (is_shown is None or is_shown(each.server)) and self._is_offered(state, each.server, each.skill)
        ]
        return _in_era(exchange, listing_of(SKILLS, entries))

    async def get(self, exchange: Exchange) -> Envelope:
        """Answers `skills/get`: asks the server that has the skill; if that is unknown, one server after the other."""
        if (uri := read_uri(exchange.request.params)) is None:
            return failure(INVALID_PARAMS, "Invalid request parameters: a skill has a uri")
        last: Envelope | None = None
        for managed, own in await self._places(exchange, uri):
            asked = exchange.child(request=_about(exchange.request, own))
            last = await self._got(managed, asked, own)
            if not last.error:
                self._views.used(exchange.session.state, managed.name)
                return self._published(managed.name, last) if own != uri else last
        return last or _no_skill(uri)

    async def read_folder(self, exchange: Exchange) -> Envelope:
        """Answers `resources/directory/read`: the direct contents of a folder, with the URIs that AI clients know."""
        if (uri := read_uri(exchange.request.params)) is None:
            return failure(INVALID_PARAMS, "Invalid request parameters: a folder has a uri")
        last: Envelope | None = None
        for managed, own in await self._places(exchange, uri):
            if refused := self._refusal(exchange, managed.name, own):
                return refused
            last = await self._relay.send_with_retry(managed, exchange.child(request=_about(exchange.request, own)))
            if not last.error:
                return self._with_published_files(managed.name, last)
        return last or failure(INVALID_PARAMS, f"{visible(uri)} is not a directory resource")

    async def read(self, exchange: Exchange, send: Callable[[Exchange, Target | None], Awaitable[Envelope]]) -> Envelope:
        """Answers `resources/read` for any resource: files of skills are read from their own server, and checked.

        Args:
            send: carries out the read, from the server and by its own URI if these are known.
        """
        uri = read_uri(exchange.request.params)
        target = await self._catalogue.target(uri) if uri is not None else None
        if uri is None or target is None:
            return await send(exchange, None)
        return await self._checked(exchange, target, uri, partial(send, exchange, target))

    # sessions with only one server

    async def listing_of_one(self, managed: ManagedServer, exchange: Exchange, whole: Envelope) -> Envelope:
        """Returns the part of a server's list that a session with only this server gets. `whole`: the list."""
        if whole.error:
            return whole
        try:
            entries = elements_of(opened(whole.result)[SKILLS.member])
        except (KeyError, ValueError):
            return whole
        skills = {bytes(raw): skill for raw in entries if (skill := _usable(raw))}
        self._book.take(managed.name, skills.values(), is_all=False)
        left = [raw for raw in entries if not (it := skills.get(bytes(raw))) or self._is_offered(exchange.session.state, managed.name, it)]
        if len(left) == len(entries):
            return whole
        return Envelope(result=closed({**opened(whole.result), SKILLS.member: Raw(b"[%b]" % b",".join(map(bytes, left)))}))

    async def get_of_one(self, managed: ManagedServer, exchange: Exchange) -> Envelope:
        """Answers `skills/get` of a session with only one server."""
        uri = read_uri(exchange.request.params)
        return await (self._relay.send_with_retry(managed, exchange) if uri is None else self._got(managed, exchange, uri))

    async def read_of_one(self, managed: ManagedServer, exchange: Exchange, send: Callable[[], Awaitable[Envelope]]) -> Envelope:
        """Answers `resources/read` of a session with only one server. `send`: carries out the read."""
        uri = read_uri(exchange.request.params)
        return await (send() if uri is None else self._checked(exchange, (managed.name, uri), uri, send))

    # whether a skill is offered

    def _is_offered(self, state: SessionState, server: str, skill: Skill) -> bool:
        return self._is_chosen(state, server, skill) and not self._book.is_held(server, skill)

    def _is_chosen(self, state: SessionState, server: str, skill: Skill) -> bool:
        return self.is_enabled(server, skill) and self._profiles.includes_skill(state, server, skill)

    def is_enabled(self, server: str, skill: Skill) -> bool:
        """Returns whether a skill is enabled in the settings of its server."""
        managed = self._servers.find(server)
        disabled = managed.config.disabled_skills if managed else ()
        return skill.uri not in disabled and skill.name not in disabled

    def texts(self, state: SessionState, server: str) -> list[str]:
        """Returns the name, description and URI of each of a server's skills as JSON, as clients that know skills show them to their
        models.
        """
        offered = [each for each in self._catalogue.offered(server) if self._is_offered(state, server, each)]
        members = ({"name": each.name, "description": each.description, "uri": each.uri} for each in offered)
        return [bytes(dump(each)).decode() for each in members]

    def _refusal(self, exchange: Exchange, server: str, uri: str) -> Envelope | None:
        """Returns why a session may not read a server's own URI; None if it may, or if the URI belongs to no skill."""
        skills, state = self._catalogue.skills_with(server, uri), exchange.session.state
        if not skills or any(self._is_offered(state, server, skill) for skill in skills):
            return None
        chosen = [skill for skill in skills if self._is_chosen(state, server, skill)]
        return _held(server, chosen[0]) if chosen else _no_skill(uri)

    # asking servers

    async def _places(self, exchange: Exchange, uri: str) -> list[tuple[ManagedServer, str]]:
        """Returns the servers that a URI may mean, each with its own URI, as far as the session reaches them."""
        target = await self._catalogue.target(uri)
        found = [target] if target else [(server.name, uri) for server in self._catalogue.declaring()]
        reached = [(server, own) for server, own in found if self._views.reaches(exchange.session.state, server)]
        return [(managed, own) for server, own in reached if (managed := self._servers.find(server))]

    async def _got(self, managed: ManagedServer, exchange: Exchange, own: str) -> Envelope:
        """Returns the reply of a server to `skills/get` under its own URI, if that skill is offered."""
        reply = await self._relay.send_with_retry(managed, exchange)
        if reply.error:
            return reply
        try:
            skill = read_skill(opened(reply.result).get("skill", Raw(b"null")))
            if skill.uri != own:
                raise Unusable(f"it is about {skill.uri!r}")
        except (Unusable, ValueError) as fault:
            return failure(INTERNAL_ERROR, f"server '{managed.name}' answered {GET} with no skill that can be used: {visible(str(fault))}")
        await self._catalogue.got(managed.name, skill)
        if not self._is_chosen(exchange.session.state, managed.name, skill):
            return _no_skill(own)
        return _held(managed.name, skill) if self._book.is_held(managed.name, skill) else reply

    async def _checked(self, exchange: Exchange, target: Target, uri: str, send: Callable[[], Awaitable[Envelope]]) -> Envelope:
        """Carries out a read that may be of a skill's file, and checks the result.

        Args:
            target: the server and its own URI.
            uri: the URI in the reply.
        """
        server, own = target
        if refused := self._refusal(exchange, server, own):
            return refused
        reply = await send()
        file = self._file(target)
        if reply.error or file is None or not await _fault(reply, uri, file):
            return reply
        return await self._checked_again(exchange, target, uri, reply)

    async def _checked_again(self, exchange: Exchange, target: Target, uri: str, reply: Envelope) -> Envelope:
        """Compares content that does not match the known entry with the server's present entry, which may be another skill's."""
        server, own = target
        still_there = filter(None, [self._servers.find(server)])
        for managed, skill in [(each, skill) for each in still_there for skill in self._catalogue.skills_with(server, own)]:
            await self._got(managed, exchange.child(request=_about(exchange.request, skill.uri, method=GET)), skill.uri)
        if refused := self._refusal(exchange, server, own):
            return refused
        file = self._file(target)
        fault = await _fault(reply, uri, file) if file else ""
        return self._lying(server, own, fault) if fault else reply

    def _file(self, target: Target) -> SkillFile | None:
        files = [skill.files[target[1]] for skill in self._catalogue.skills_with(*target) if skill.files and target[1] in skill.files]
        return files[0] if files else None

    def _lying(self, server: str, uri: str, fault: str) -> Envelope:
        title = Phrase("a file of a skill of '{server}' does not match the server's checksum", server=server)
        if (key := (server, uri, fault)) not in self._told:
            self._told[key] = None
            if len(self._told) > MOST_REPORTED:
                del self._told[next(iter(self._told))]
            hint = Phrase("It was not given to the AI client. Ask the server's maker, or switch the skill off.")
            self._bus.publish(ProblemReported(Problem(title, f"{visible(uri)}: {fault}", hint), server))
        return failure(
            INTERNAL_ERROR, f"{visible(uri)} of server '{server}' does not match the entry of its skill, and is refused: {fault}"
        )

    # URIs that AI clients know

    def _published(self, server: str, reply: Envelope) -> Envelope:
        members = opened(reply.result)
        skill = read_skill(members["skill"])
        return Envelope(result=closed({**members, "skill": skill.published(partial(self._catalogue.published, server))}))

    def _with_published_files(self, server: str, reply: Envelope) -> Envelope:
        try:
            members = opened(reply.result)
            files = [_with_uri(each, partial(self._catalogue.published, server)) for each in elements_of(members["resources"])]
        except (KeyError, ValueError):
            return reply
        return Envelope(result=closed({**members, "resources": Raw(b"[%b]" % b",".join(map(bytes, files)))}))


def _usable(raw: Raw) -> Skill | None:
    try:
        return read_skill(raw)
    except Unusable:
        return None


def _with_uri(entry: Raw, publish: Callable[[str], str]) -> Raw:
    uri = read_uri(entry)
    return entry if uri is None or publish(uri) == uri else eras.with_members(entry, uri=dump(publish(uri)))


def _about(request: Envelope, uri: str, *, method: str = "") -> Envelope:
    """Copies a request for each server that is asked, since the request is changed on its way."""
    params = eras.with_members(request.params, uri=dump(uri))
    return Envelope(id=request.id, method=method or request.method, params=params)


async def _fault(reply: Envelope, uri: str, file: SkillFile) -> str:
    if len(memoryview(reply.result)) > CHECKED_AT_ONCE_BYTES:
        return await finish_in_thread(fault_of, reply.result, uri, file)
    return fault_of(reply.result, uri, file)


def _held(server: str, skill: Skill) -> Envelope:
    return failure(
        CONNECTION_CLOSED,
        f"the skill '{skill.name}' of server '{server}' has changed, and is blocked until the user reviews the change. "
        "Ask the user to look at it in Tooltray, under Permissions",
    )


def _no_skill(uri: str) -> Envelope:
    return failure(INVALID_PARAMS, f"No skill is served at {visible(uri)}")


def _no_method(exchange: Exchange) -> Envelope:
    return failure(METHOD_NOT_FOUND, "Method not found", exchange.request.method)


def _in_era(exchange: Exchange, result: Raw) -> Envelope:
    return Envelope(result=eras.as_modern_result(exchange.request.method, result) if exchange.era is Era.MODERN else result)
