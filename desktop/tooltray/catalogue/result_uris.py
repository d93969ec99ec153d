"""Replaces a server's own URIs of resources by the published ones in its results and requests. Only members that the protocol defines as a
resource's URI change: in links, in embedded resources, in read contents, and in the view that `_meta` names for an app. Texts, structured
content and arguments never change, whatever they contain.
"""

import re
from collections.abc import Callable, Iterator, Mapping

from msgspec import Raw

from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.tasks import finish_in_thread
from tooltray.protocol.envelope import NOTHING, Envelope, dump, load
from tooltray.protocol.member_scanner import STRING, closed, elements_of, opened
from tooltray.protocol.sessions.caller import Caller, CallerBehind

Publish = Callable[[str], str]
"""Gives the URI by which clients know a resource of the server; it may be unchanged."""
Change = Callable[[Raw, Publish], Raw]

LOOKED_AT = 1000  # different URIs in one result; a result with more is always parsed
READ_AT_ONCE_BYTES = 2**18  # takes less than a millisecond; larger results are searched in a thread
ASKS = "sampling/createMessage"  # the only request of a server that carries content
_KEYS = (b'"uri"', b'esourceUri"')  # the ending of the names of all members with a resource's URI, such as `ui/resourceUri`
_VALUE = lazy_pattern(rb"\s*+:\s*+(" + STRING + rb")", re.DOTALL)
_DEEPEST = 3  # levels of blocks within blocks: a tool's result in a message, and the result's content


def may_change(text: bytes, publish: Publish) -> bool:
    """Reports whether JSON may contain a URI that has to be replaced; errs towards True, as for URIs in other members."""
    seen = set[bytes]()
    for value in _values(text):
        if value not in seen:
            seen.add(value)
            if len(seen) > LOOKED_AT or _is_another(Raw(value), publish):
                return True
    return False


def published(result: Raw, publish: Publish) -> Raw:
    """Returns a result, or the params of a server's request, with published URIs; everything else is verbatim, and unreadable parts stay"""
    return _changed(result, _MEMBERS, publish)


async def linked(reply: Envelope, publish: Publish) -> Envelope:
    """Returns a reply with published URIs; a large one is changed in a thread, beside the event loop."""
    size_bytes = len(memoryview(reply.result)) if reply.result else 0
    if size_bytes > READ_AT_ONCE_BYTES:
        await finish_in_thread(_link, reply, publish)
    elif size_bytes:
        _link(reply, publish)
    return reply


def in_passing(params: Raw, publish: Publish) -> Raw:
    """Returns the params of a server's own notification or request with published URIs; done at once, even if they are large."""
    return published(params, publish) if may_change(bytes(params), publish) else params


def _link(reply: Envelope, publish: Publish) -> None:
    reply.result = in_passing(reply.result, publish)


class LinkedCaller(CallerBehind):
    """A caller that replaces URIs in a server's requests to an AI client by the URIs that the client knows. Satisfies Caller."""

    def __init__(self, caller: Caller, publish: Publish) -> None:
        super().__init__(caller)
        self._publish = publish

    async def ask(self, method: str, params: Raw, *, about: Raw = NOTHING) -> Envelope:
        if method == ASKS:
            params = in_passing(params, self._publish)
        return await self._caller.ask(method, params, about=about)


def _values(text: bytes) -> Iterator[bytes]:
    """Yields the strings after all member names that may hold a URI."""
    for key in _KEYS:
        at = text.find(key)
        while at >= 0:
            at += len(key)
            if value := _VALUE.match(text, at):
                yield value[1]
            at = text.find(key, at)


def _is_another(value: Raw, publish: Publish) -> bool:
    return _uri(value, publish) is not value


# changes of single members


def _uri(value: Raw, publish: Publish) -> Raw:
    uri = load(value)
    if not isinstance(uri, str):
        return value
    known = publish(uri)
    return value if known == uri else dump(known)


def _changed(raw: Raw, changes: Mapping[str, Change], publish: Publish) -> Raw:
    """Returns an object with changed members; the same object if no member has changed, or if the text is not an object."""
    try:
        members = opened(raw)
        made = {name: change(members[name], publish) for name, change in changes.items() if name in members}
    except (ValueError, RecursionError):
        return raw
    news = {name: value for name, value in made.items() if value is not members[name]}
    return closed(members | news) if news else raw


def _each(array: Raw, change: Change, publish: Publish) -> Raw:
    """Applies a change to the elements of an array."""
    try:
        elements = elements_of(array)
    except (ValueError, RecursionError):
        return array
    made = [change(each, publish) for each in elements]
    is_news = any(new is not old for new, old in zip(made, elements, strict=True))
    return Raw(b"[%b]" % b",".join(map(bytes, made))) if is_news else array


def _block(block: Raw, publish: Publish, depth: int = 1) -> Raw:
    """Changes one content block."""

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
    """Changes the content of a message: one block, or several."""
    return _each(content, _block, publish) if bytes(memoryview(content)[:1]) == b"[" else _block(content, publish)


def _message(message: Raw, publish: Publish) -> Raw:
    return _changed(message, {"content": _content}, publish)


def _meta(meta: Raw, publish: Publish) -> Raw:
    return _changed(meta, {"ui": _app, "ui/resourceUri": _uri}, publish)  # the second is the older spelling


def _app(app: Raw, publish: Publish) -> Raw:
    return _changed(app, {"resourceUri": _uri}, publish)


def _questions(questions: Raw, publish: Publish) -> Raw:
    """Changes the requests of an `input_required` result, by their keys."""
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
