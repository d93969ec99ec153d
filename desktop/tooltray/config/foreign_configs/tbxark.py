"""Reads the `config.json` of TBXark's mcp-proxy, versions 2 and 1, with the additions of lazy-mcp, as those programs do.

The rules that differ from other formats:
- Names of fields ignore case, and `null` means absent, as in Go's `encoding/json`.
- A command precedes a URL; a URL without `transportType` is SSE; `timeout` is in nanoseconds, and only for streamable HTTP.
- An entry inherits `authTokens` (unless it has a list of its own, even an empty one), `panicIfInvalid`, `logEnabled` and `lazyLoad` from
  `mcpProxy.options`; not `toolFilter` and `disabled`.
- A filter with an unknown mode, or without a list, has no effect.
- Version 1 is read if the file has nothing of version 2. Its `panicIfInvalid`, `logEnabled` and types are kept.
- Variables, `$VAR` and `${VAR}`, in names and in the parts of the address are expanded at once, all others when a server starts; a missing
  one is empty. Any other `$` is text, and our own placeholders stay as they are: tokens may be `${secret:NAME}`, too.
"""

import posixpath
from collections.abc import Mapping
from typing import Literal, TypeVar
from urllib.parse import urlsplit

import msgspec

from tooltray.config.foreign_configs.config_source import CannotUse, ConfigSource, RawEntry
from tooltray.config.settings.expansion import VARIABLE_NAME, has_secret
from tooltray.config.settings.file_server import Endpoint, FileEntry
from tooltray.foundation.files.json_places import Value
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase

T = TypeVar("T")
_VARIABLE = lazy_pattern(rf"\$(?:\{{({VARIABLE_NAME.pattern})\}}|({VARIABLE_NAME.pattern}))")


class GoFields:
    """The fields of one object, or of none. Each typed getter raises CannotUse for a value of another type.

    Attributes:
        at: index of the object's first character; None without an object.
    """

    def __init__(self, value: Value | None) -> None:
        self._members = {name.lower(): member for name, member in (value.members.items() if value else ()) if member[1].content is not None}
        self.at = value.start if value else None

    def raw(self, name: str) -> object:
        """Returns a field's value of any type; None if it is absent."""
        return self._members[name.lower()][1].content if name.lower() in self._members else None

    def place(self, name: str) -> int | None:
        """Returns the index of the field's name in the text; that of the object if the field is absent."""
        return self._members[name.lower()][0] if name.lower() in self._members else self.at

    def text(self, name: str) -> str:
        """Returns a text; empty if absent."""
        return self._checked(name, str, Phrase("'{field}' must be text", field=name)) or ""

    def flag(self, name: str) -> bool | None:
        return self._checked(name, bool, Phrase("'{field}' must be true or false", field=name))

    def whole_number(self, name: str) -> int:
        """Returns a whole number; 0 if absent."""
        reason = Phrase("'{field}' must be a whole number", field=name)
        if isinstance(self.raw(name), bool):
            raise CannotUse(reason, self.place(name))
        return self._checked(name, int, reason) or 0

    def texts(self, name: str) -> list[str] | None:
        """Returns a list of texts; None if absent, which has another meaning than an empty list."""
        reason = Phrase("'{field}' must be a list of texts", field=name)
        found = self._checked(name, list, reason)
        if found is not None and not all(isinstance(member, str) for member in found):
            raise CannotUse(reason, self.place(name))
        return found if found is None else list(found)

    def inner(self, name: str) -> "GoFields":
        return GoFields(self.inner_value(name))

    def inner_value(self, name: str) -> Value | None:
        """Returns an object with its position; None if absent."""
        if self._checked(name, dict, Phrase("'{field}' must be an object", field=name)) is None:
            return None
        return self._members[name.lower()][1]

    def _checked(self, name: str, kind: type[T], reason: str) -> T | None:
        found = self.raw(name)
        if found is None or isinstance(found, kind):
            return found
        raise CannotUse(reason, self.place(name))


def entry_in_our_spelling(entry: Mapping[str, object]) -> dict[str, object]:
    """Replaces Go's variables in the texts of an entry by our placeholders, which are expanded when a server starts; keys stay."""
    return {key: _in_our_spelling(member) for key, member in entry.items()}


def in_our_spelling(text: str) -> str:
    """Replaces Go's variables in a text by our placeholders."""
    return _VARIABLE.sub(lambda found: f"${{{found[1] or found[2]}:-}}", text)


def _in_our_spelling(value: object) -> object:
    match value:
        case str():
            return in_our_spelling(value)
        case list():
            return [_in_our_spelling(member) for member in value]
        case dict():
            return entry_in_our_spelling(value)
    return value


def filled_in(text: str, environ: Mapping[str, str]) -> str:
    """Expands the variables of a text now."""
    return _VARIABLE.sub(lambda found: environ.get(found[1] or found[2], ""), text)


NANOSECONDS = 1_000_000_000
MAX_PORT = 65535
_PORT = lazy_pattern("[0-9]{1,5}")
_PORTS = {"": 80, "http": 80, "https": 443}  # what Go uses for an address without a number
_NOT_USED = ("recursiveLazyLoad", "preloadAll", "hierarchyPath")
_TYPES = {"sse": "sse", "streamable-http": "http"}


class TbxarkReading(msgspec.Struct, frozen=True):
    entries: tuple[FileEntry, ...]
    endpoint: Endpoint | None
    must_be_valid: bool


def read_tbxark(source: ConfigSource, document: Value, environ: Mapping[str, str]) -> TbxarkReading:
    """Reads the servers and the endpoint of a document; unusable entries become problems of the source.

    Raises:
        CannotUse: the document is not a config of mcp-proxy.
    """
    if not isinstance(document.content, dict):
        raise CannotUse(Phrase('the file must be an object with "mcpProxy" in it'), document.start)
    source.remark_repeated(document)
    fields = GoFields(document)
    reader = _Reader(source, fields, environ)
    servers = fields.inner_value("mcpServers")
    is_old = servers is None or not servers.members
    holder = fields.inner_value("clients") if is_old else servers
    convert = reader.old_entry if is_old else reader.entry
    entries = source.entries(_named(holder, environ), convert) if holder else ()
    return TbxarkReading(entries, reader.endpoint(), bool(reader.options.flag("panicIfInvalid")))


def _named(holder: Value, environ: Mapping[str, str]) -> Value:
    members = {filled_in(name, environ): member for name, member in holder.members.items()}
    return Value(holder.content, holder.start, holder.end, members)


class _Reader:
    """One reading, with the options of `mcpProxy` that entries inherit."""

    def __init__(self, source: ConfigSource, fields: GoFields, environ: Mapping[str, str]) -> None:
        self._source, self._environ = source, environ
        new, old = fields.inner_value("mcpProxy"), fields.inner_value("server")
        if new is None and old is None:
            raise CannotUse(
                Phrase("'mcpProxy' is missing: the file is not mcp-proxy's, but its servers can be imported: tooltray import FILE"),
                fields.at,
            )
        self._proxy = GoFields(old if new is None else new)
        self.options = self._proxy.inner("options")
        self._old_tokens = GoFields(old).texts("globalAuthTokens") or []
        self._tokens = self.options.texts("authTokens") if new else (self._old_tokens or None)
        self._remark_unused(self._proxy, self.options)

    def entry(self, raw: RawEntry) -> FileEntry:
        fields = GoFields(raw.value)
        options = fields.inner("options")
        self._remark_unused(options)
        own = options.texts("authTokens")
        return self._made(raw, _target(fields, fields.text("transportType")), options, self._tokens if own is None else own)

    def old_entry(self, raw: RawEntry) -> FileEntry:
        fields = GoFields(raw.value)
        kind = fields.text("type")
        if kind not in ("stdio", *_TYPES):
            raise CannotUse(Phrase("its type must be stdio, sse or streamable-http"), fields.place("type"))
        own = fields.texts("authTokens") or []
        tokens = [*own, *self._old_tokens] or self._tokens
        return self._made(raw, _target(fields.inner("config"), kind, is_old=True), fields, tokens, inherits=False)

    def _made(
        self, raw: RawEntry, target: dict[str, object], options: GoFields, tokens: list[str] | None, *, inherits: bool = True
    ) -> FileEntry:
        above = self.options if inherits else GoFields(None)

        def flag(name: str) -> bool | None:
            own = options.flag(name)
            return above.flag(name) if own is None else own

        entry = target | {"disable": bool(options.flag("disabled")), "lazyLoad": flag("lazyLoad"), "autoApprove": ["all"]}
        if (chosen := self._filter(options)) is not None:
            entry["toolFilter"] = chosen
        config = raw.checked(entry_in_our_spelling(entry))
        return FileEntry(
            name=raw.name,
            config=config,
            written=raw.written,
            line=raw.line,
            tokens=self._usable_tokens(tokens or [], options),
            secret_tokens=tuple(dict.fromkeys(in_our_spelling(token) for token in tokens or [] if has_secret(token))),
            must_run=bool(flag("panicIfInvalid")),
            logs_calls=bool(flag("logEnabled")),
        )

    def _usable_tokens(self, tokens: list[str], options: GoFields) -> tuple[str, ...]:
        """Returns the tokens that are not empty. If all are empty, the entry is refused: it must not become open to everyone."""
        plain = [token for token in tokens if not has_secret(token)]
        found = tuple(dict.fromkeys(token for token in (filled_in(token, self._environ).strip() for token in plain) if token))
        if plain == tokens and tokens and not found:
            raise CannotUse(Phrase("all its authTokens are empty, so no one could use it"), options.place("authTokens"))
        return found

    def _filter(self, options: GoFields) -> dict[str, object] | None:
        given = options.inner("toolFilter")
        names = given.texts("list")
        if not names:
            return None
        mode = given.text("mode").lower()
        if mode in ("allow", "block"):
            return {"mode": mode, "list": names}
        self._source.remark(Phrase("a toolFilter whose mode is neither allow nor block filters nothing"), given.place("mode"))
        return None

    def _remark_unused(self, *objects: GoFields) -> None:
        for fields in objects:
            for name in _NOT_USED:
                if fields.raw(name):
                    self._source.remark(Phrase("'{field}' means nothing here", field=name), fields.place(name))

    def endpoint(self) -> Endpoint | None:
        """Returns where the servers are served; None if that is malformed, with a remark in the source."""
        try:
            host, port = self._address()
            name, version = self._proxy.text("name"), self._proxy.text("version")
            base_path, public_host = self._public()
            return Endpoint(host, port, base_path, self._kind(), name, version, public_host)
        except CannotUse as reason:
            self._source.remark(reason.reason, reason.at)
            return None

    def _kind(self) -> Literal["sse", "streamable-http"]:
        match self._proxy.text("type") or "sse":
            case "sse" | "streamable-http" as kind:
                return kind
        raise CannotUse(Phrase("mcpProxy.type must be sse or streamable-http; nothing is served there"), self._proxy.place("type"))

    def _address(self) -> tuple[str, int]:
        """Returns host and port of Go's `host:port`."""
        host, colon, port = filled_in(self._proxy.text("addr"), self._environ).rpartition(":")
        is_bracketed = host.startswith("[") and host.endswith("]")
        number = _PORTS.get(port, int(port) if _PORT.fullmatch(port) else None)
        if number is None or number > MAX_PORT or (port and not colon) or (":" in host and not is_bracketed):
            raise CannotUse(Phrase("mcpProxy.addr must be like ':9090' or 'localhost:9090'"), self._proxy.place("addr"))
        return host[1:-1] if is_bracketed else host, number

    def _public(self) -> tuple[str, str]:
        """Returns the path below which the servers are, and the host in the URLs of clients."""
        try:
            url = urlsplit(filled_in(self._proxy.text("baseURL"), self._environ))
        except ValueError:
            raise CannotUse(Phrase("'{field}' is not a URL", field="baseURL"), self._proxy.place("baseURL")) from None
        clean = posixpath.normpath("/" + url.path).strip("/")
        return f"/{clean}" if clean else "", url.netloc.rpartition("@")[2]


def _target(fields: GoFields, kind: str, *, is_old: bool = False) -> dict[str, object]:
    """Returns the fields of an entry for its command or URL.

    Args:
        kind: `transportType`; in version 1 its type, which decides on its own there.
    """
    command, url = fields.text("command"), fields.text("url")
    if kind == "stdio" or (command and not is_old):
        if not command:
            raise CannotUse(Phrase("its type is stdio, but it has no command"), fields.at)
        return {"command": command, "args": fields.raw("args"), "env": fields.raw("env"), "type": "stdio"}
    if not url:
        raise CannotUse(Phrase("it has neither a command nor a URL"), fields.at)
    target = {"url": url, "headers": fields.raw("headers"), "type": _TYPES.get(kind, "sse")}
    timeout = fields.whole_number("timeout")
    if target["type"] == "http" and timeout > 0:
        target["callTimeout"] = timeout / NANOSECONDS
    return target
