"""URIs of resources in what a server answers or asks: those that its clients know stand in the place of its own.

Above it: LinkingRelay and ResourceManager, which know how a server's resources are published. Below it: protocol/member_scanner. Knows
nothing of servers. Only members that the protocol defines as a resource's URI change: those of links, of embedded resources, of what was
read, and of the view that `_meta` names for an app. Texts, structured content and arguments never do, whatever stands in them.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from msgspec import Raw

from tooltray.foundation.tasks import finish_in_thread
from tooltray.protocol.envelope import NOTHING, Envelope, dump, load
from tooltray.protocol.member_scanner import STRING, closed, elements_of, opened
from tooltray.protocol.sessions.caller import Caller, CallerBehind

Publish = Callable[[str], str]
"""The URI by which clients know a resource of the server; the same one where it stays."""
Change = Callable[[Raw, Publish], Raw]

LOOKED_AT = 1000  # different URIs in one result; one with more is taken apart in any case
READ_AT_ONCE_BYTES = 2**18  # takes less than a millisecond; larger results are looked at in a thread, beside the event loop
ASKS = "sampling/createMessage"  # the only question of a server that carries content
_KEYS = (b'"uri"', b'esourceUri"')  # how the names of all members with a resource's URI end, `ui/resourceUri` among them
_VALUE = re.compile(rb"\s*+:\s*+(" + STRING + rb")", re.DOTALL)
_DEEPEST = 3  # blocks within blocks: the result of a tool in a message, and what is in it


def may_change(text: bytes, publish: Publish) -> bool:
    """Whether a URI stands in JSON that clients know by another one; says so too often (it is no member that counts), never too seldom."""
    seen = set[bytes]()
    for value in _values(text):
        if value not in seen:
            seen.add(value)
            if len(seen) > LOOKED_AT or _is_another(Raw(value), publish):
                return True
    return False


def published(result: Raw, publish: Publish) -> Raw:
    """A result, or the params of a question, with the URIs that clients know; all else verbatim, and what cannot be read stays as it is."""
    return _changed(result, _MEMBERS, publish)


async def linked(reply: Envelope, publish: Publish) -> Envelope:
    """A reply to which the same was done; beside the event loop where it is large."""
    size_bytes = len(memoryview(reply.result)) if reply.result else 0
    if size_bytes > READ_AT_ONCE_BYTES:
        await finish_in_thread(_link, reply, publish)
    elif size_bytes:
        _link(reply, publish)
    return reply


def in_passing(params: Raw, publish: Publish) -> Raw:
    """What a server says or asks by itself, with the URIs that clients know; looked at at once, however large it is."""
    return published(params, publish) if may_change(bytes(params), publish) else params


def _link(reply: Envelope, publish: Publish) -> None:
    reply.result = in_passing(reply.result, publish)


class LinkedCaller(CallerBehind):
    """An AI client as a server asks it: content in the questions has the URIs that the client knows. Satisfies Caller."""

    def __init__(self, caller: Caller, publish: Publish) -> None:
        super().__init__(caller)
        self._publish = publish

    async def ask(self, method: str, params: Raw, *, about: Raw = NOTHING) -> Envelope:
        if method == ASKS:
            params = in_passing(params, self._publish)
        return await self._caller.ask(method, params, about=about)


def _values(text: bytes) -> Iterator[bytes]:
    """The strings behind all names that could be those of a URI."""
    for key in _KEYS:
        at = text.find(key)
        while at >= 0:
            at += len(key)
            if value := _VALUE.match(text, at):
                yield value[1]
            at = text.find(key, at)


def _is_another(value: Raw, publish: Publish) -> bool:
    return _uri(value, publish) is not value


# what changes in what


def _uri(value: Raw, publish: Publish) -> Raw:
    uri = load(value)
    if not isinstance(uri, str):
        return value
    known = publish(uri)
    return value if known == uri else dump(known)


def _changed(raw: Raw, changes: Mapping[str, Change], publish: Publish) -> Raw:
    """An object of which some members have changed; itself where none has, or where it is no object."""
    try:
        members = opened(raw)
        made = {name: change(members[name], publish) for name, change in changes.items() if name in members}
    except (ValueError, RecursionError):
        return raw
    news = {name: value for name, value in made.items() if value is not members[name]}
    return closed(members | news) if news else raw


def _each(array: Raw, change: Change, publish: Publish) -> Raw:
    """The same of the elements of an array."""
    try:
        elements = elements_of(array)
    except (ValueError, RecursionError):
        return array
    made = [change(each, publish) for each in elements]
    is_news = any(new is not old for new, old in zip(made, elements, strict=True))
    return Raw(b"[%b]" % b",".join(map(bytes, made))) if is_news else array


def _block(block: Raw, publish: Publish, depth: int = 1) -> Raw:
    """One piece of content."""

    def nested(content: Raw, publish: Publish) -> Raw:
        return _each(content, lambda each, publish: _block(each, publish, depth + 1), publish)

    try:
        kind = load(opened(block).get("type", NOTHING))
    except ValueError:
        return block
    if kind == "resource_link":
        return _changed(block, {"uri": _uri}, publish)
    if kind == "resource":
        return _changed(block, {"resource": _resource}, publish)
    return _changed(block, {"content": nested}, publish) if kind == "tool_result" and depth < _DEEPEST else block


def _resource(resource: Raw, publish: Publish) -> Raw:
    return _changed(resource, {"uri": _uri}, publish)


def _content(content: Raw, publish: Publish) -> Raw:
    """Of a message: one block, or several."""
    return _each(content, _block, publish) if bytes(memoryview(content)[:1]) == b"[" else _block(content, publish)


def _message(message: Raw, publish: Publish) -> Raw:
    return _changed(message, {"content": _content}, publish)


def _meta(meta: Raw, publish: Publish) -> Raw:
    return _changed(meta, {"ui": _app, "ui/resourceUri": _uri}, publish)  # the second is how apps wrote it at first


def _app(app: Raw, publish: Publish) -> Raw:
    return _changed(app, {"resourceUri": _uri}, publish)


def _questions(questions: Raw, publish: Publish) -> Raw:
    """Of an `input_required` result, by their keys."""
    try:
        keys = opened(questions)
    except ValueError:
        return questions
    return _changed(questions, dict.fromkeys(keys, _question), publish)


def _question(question: Raw, publish: Publish) -> Raw:
    return _changed(question, {"params": published}, publish)


_OF_CALLS: Mapping[str, Change] = {
    "content": _content,
    "contents": lambda contents, publish: _each(contents, _resource, publish),
    "messages": lambda messages, publish: _each(messages, _message, publish),
    "inputRequests": _questions,
    "_meta": _meta,
}
_MEMBERS = {**_OF_CALLS, "result": lambda result, publish: _changed(result, _OF_CALLS, publish)}  # of a call that became a task
