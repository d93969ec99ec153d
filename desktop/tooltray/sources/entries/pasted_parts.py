"""Parses the parts of a pasted entry: backslashes of Windows paths, headers, keys in a URL and the server's name; warns about them, and
finds the ranges of a text that look like secrets, also while it is being typed and cannot be parsed.

The dialog "Add server" hides these ranges. Since only the text is searched, they may cover more than `pasted` treats as secrets, but never
less.
"""

import json
import re
from collections.abc import Callable, Iterator, Mapping
from urllib.parse import parse_qsl, quote, urlsplit

from tooltray.config.foreign_configs.config_source import shown
from tooltray.config.foreign_configs.mcp_json import WITHOUT_EFFECT, take_request_headers
from tooltray.config.settings.file_server import FileEntry
from tooltray.config.settings.given_entries import read_entry
from tooltray.config.settings.secret_looks import PATH_VALUE, looks_secret
from tooltray.config.settings.server_config import OAUTH_MEMBERS, SPELLINGS, MCPServerConfig
from tooltray.foundation.errors import TooltrayError
from tooltray.foundation.lazy_patterns import lazy_pattern
from tooltray.foundation.phrases import Phrase
from tooltray.foundation.verbs import JsonMapping, JsonObject
from tooltray.sources.project_files.trust_requests import content_warnings

_TOKENS = lazy_pattern(
    r"//[^\n]*|#[^\n]*|/\*.*?\*/|'[^'\n]*'"
    r'|"(?P<path>[^"\\\n]*(?:(?<=["=;,(][A-Za-z]:)|(?<=[\s\'][A-Z]:))\\(?![\\"/])[^"\n]*)"'
    r'|"(?P<text>(?:[^"\\\n]|\\.)*)"',
    re.DOTALL,
)
_NO_ESCAPE = lazy_pattern(r'(?<!\\)(?:\\\\)*\\(?!["\\/bfnrt]|u[0-9a-fA-F]{4}|U[0-9a-fA-F]{8})')
_BACKSLASHES = lazy_pattern(r"\\+")


def with_escaped_paths(text: str) -> str:
    """Returns JSON or TOML in which the backslashes of Windows paths are escaped.

    A string is taken for such a path if a drive with a single backslash is in it, or an escape that neither format has.
    """
    return _TOKENS.sub(_escaped, text) if "\\" in text else text


def _escaped(token: re.Match[str]) -> str:
    path, text = token["path"], token["text"]
    if path is not None:
        return f'"{_BACKSLASHES.sub(_doubled, path)}"'
    if text is not None and _NO_ESCAPE.search(text):
        return f'"{_BACKSLASHES.sub(_doubled, text)}"'
    return token[0]


def _doubled(found: re.Match[str]) -> str:
    """Doubles a single backslash, and both of a share's name (`\\\\server`); other pairs are escaped already."""
    if found.string[found.end() : found.end() + 1] == '"':
        return found[0]
    return found[0] * 2 if len(found[0]) == 1 or found.start() == 0 else found[0]


_PLACEHOLDER = lazy_pattern(
    r"<[^>]*>|\[[^\]]*\]|\.\.\.|…|x{3,}|\*{3,}|\$\{input:[^}]*\}"
    r"|(?:your|my|insert|enter|replace|put|add|paste)[ _-].*|.*[ _-](?:here|goes[ _-]here)|(?:changeme|todo|secret|token|api[_-]?key)",
    re.IGNORECASE,
)


def is_placeholder(value: str) -> bool:
    """Returns whether a value is only a placeholder that the user has to replace."""
    return bool(_PLACEHOLDER.fullmatch(value.strip()))


_HEADER_KEYS = ("headers", "customHeaders", "http_headers")
VARIABLE_WORD = lazy_pattern(r"(?<![^\s=:,])\$([A-Z_][A-Z0-9_]*)(?![A-Za-z0-9_$])")
"""`$NAME` as a whole word; `pa$WORD` may be a password."""


def take_headers(config: JsonObject) -> dict[str, str]:
    """Removes and returns the headers of an entry, in any of the forms that AI clients use."""
    result: dict[str, str] = {}
    for key in _HEADER_KEYS:
        given = config.pop(key, None)
        if isinstance(given, dict):
            result |= {str(name): portable(as_word(value)) for name, value in given.items() if value is not None}
    result |= {str(name): portable(as_word(value)) for name, value in take_request_headers(config).items() if value is not None}
    variables = config.pop("env_http_headers", None)
    if isinstance(variables, dict):
        result |= {str(name): f"${{{variable}}}" for name, variable in variables.items()}
    if isinstance(variable := config.pop("bearer_token_env_var", None), str):
        result["Authorization"] = f"Bearer ${{{variable}}}"
    return result


def usual_type(url: str) -> str:
    """Guesses the type of a URL without a type: "sse" for a path that ends in `/sse`, else empty."""
    return "sse" if re.split("[?#]", url)[0].rstrip("/").endswith("/sse") else ""


def netloc(url: str) -> str:
    """Returns user name, host and port of a URL; empty for an invalid one."""
    try:
        return urlsplit(url).netloc
    except ValueError:
        return ""


def without_keys(url: str) -> str:
    """Returns a URL without user name, password, query and fragment, which may contain keys."""
    return re.split("[?#]", re.sub(r"^([a-z][a-z0-9+.-]*://)[^/?#]*@", r"\1", url, flags=re.IGNORECASE))[0]


def parameters(url: str) -> list[tuple[str, str]]:
    """Returns names and values of a URL's query."""
    return parse_qsl(re.split("#", url)[0].partition("?")[2], keep_blank_values=True)


def with_parameter(url: str, key: str, value: str | None) -> str:
    """Replaces the value of a query parameter, or removes it (None). A placeholder is inserted as it is, any other value is escaped."""
    if value is None:
        shorter = re.sub(rf"([?&]){re.escape(quote(key, safe=''))}=[^&#]*&?", lambda match: match[1], url, count=1)
        return re.sub(r"[?&](?=#|$)", "", shorter, count=1)
    written = value if value.startswith("${") else quote(value, safe="")
    return re.sub(rf"([?&]{re.escape(quote(key, safe=''))}=)[^&#]*", lambda match: match[1] + written, url, count=1)


def as_word(value: object) -> str:
    """Converts numbers and booleans, which some blocks have without quotes, to text, since programs take strings."""
    return value if isinstance(value, str) else json.dumps(value)


def portable(text: str) -> str:
    """Converts other programs' placeholders in a value to ours."""
    text = re.sub(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}", r"${\1}", text)
    text = re.sub(r"\$\{userHome\}", "${HOME}", text)
    return VARIABLE_WORD.sub(r"${\1}", text)


LONGEST_NAME = 64  # the limit of the settings

_LAUNCHERS = lazy_pattern("npx|bunx|pnpx|uvx|pipx|uv|npm|pnpm|yarn|bun|deno|node|python|python3|py|docker|podman")
_HAS_SUBCOMMANDS = lazy_pattern("uv|pipx|npm|pnpm|yarn|bun|deno|docker|podman")
_SUBCOMMANDS = lazy_pattern("run|exec|x|dlx|tool")
_LAUNCHER_WORDS = lazy_pattern("-y|--yes|-m|-i|-it|-t|--rm|-q|--quiet|--init|-A|-c|/c")
_TAKES_VALUE = lazy_pattern("-p|--package|--from|--with|--python|--directory|--project|-e|--env|-v|--mount|--network|--name")
_WRAPPERS = {"cmd", "cmd.exe", "env", "sudo"}
ASSIGNMENT = lazy_pattern(r"[A-Za-z_][A-Za-z0-9_]*=(?!=)")  # with two it is a version: uvx name==1.2
_AFFIX = lazy_pattern(r"^(?:mcp-servers?-|server-|mcp-)+|(?:-mcp-servers?|-servers?-mcp|-mcp|-servers?)+$")


def clean_name(name: str) -> str:
    last = name.strip().rstrip("/").rpartition("/")[2]
    return "".join(sign for sign in last if sign.isprintable())[:LONGEST_NAME].strip()


def guess_name(words: list[str]) -> str:
    """Returns a short name for a command: its package, script or host, without `mcp` and `server` around it."""
    for guess in _NAMED_BY:
        if name := guess(words):
            return clean_name(name) or "server"
    return "server"


def _host(words: list[str]) -> str:
    if not (match := re.match(r"https?://(?:[^/@]*@)?([^/:?#]+)", words[0])):
        return ""
    if re.fullmatch(r"[\d.]+", match[1]):
        return "localhost" if match[1].startswith("127.") else match[1]
    parts = [part for part in match[1].split(".") if part not in ("www", "mcp", "api")] or match[1].split(".")[:1]
    return parts[0] if len(parts) < 3 else parts[-2]


def _package(words: list[str]) -> str:
    program, word = _program_and_package(words)
    return _package_name(word) if word else _without_affixes(program) if not _LAUNCHERS.fullmatch(program) else program


def _program_and_package(words: list[str]) -> tuple[str, str]:
    """Returns the program of a command without its folder, and the package, script or image that it starts, or ""."""
    words = [word for word in words if word]
    while words and _stem(words[0]) in _WRAPPERS:
        words = [word for word in words[1:] if not word.startswith(("-", "/")) or len(words) == 2]
    if not words or not _LAUNCHERS.fullmatch(_stem(words[0])):
        return _stem(words[0]) if words else "", ""
    skip = False
    has_subcommands = _HAS_SUBCOMMANDS.fullmatch(_stem(words[0])) is not None
    for word in words[1:]:
        if has_subcommands and _SUBCOMMANDS.fullmatch(word):
            continue
        if skip or _LAUNCHER_WORDS.fullmatch(word) or word.startswith("-"):
            skip = not skip and _TAKES_VALUE.fullmatch(word) is not None
            continue
        if ASSIGNMENT.match(word) or word.startswith("${"):
            continue
        return _stem(words[0]), word
    return _stem(words[0]), ""


def _package_name(word: str) -> str:
    if PATH_VALUE.match(word) or word.endswith((".js", ".mjs", ".cjs", ".ts", ".py")):
        parts = [part for part in re.split(r"[/\\]", word) if part and part not in ("..", ".", "~")]
        telling = [part for part in parts if _stem(part) not in ("index", "main", "server", "cli", "dist", "build", "src", "app", "bin")]
        return _without_affixes(_stem((telling or parts or ["server"])[-1]))
    name = re.sub(r"(?<=.)@[^/]*$|(?:==|>=|~=|\[).*$|:[^/]*$", "", word)
    scope, _, last = name.rpartition("/")
    bare = _without_affixes(last.replace("_", "-"))
    return bare if bare not in ("", "mcp", "server") else scope.rpartition("/")[2].lstrip("@") or last


def _without_affixes(name: str) -> str:
    short = _AFFIX.sub("", name)
    return short or name


def _stem(word: str) -> str:
    last = re.split(r"[/\\]", word.rstrip("/\\"))[-1]
    return re.sub(r"\.(?:exe|cmd|bat|sh|[cm]?js|ts|py)$", "", last, flags=re.IGNORECASE)


_NAMED_BY: tuple[Callable[[list[str]], str], ...] = (_host, _package)


_KNOWN = {
    *(field.alias for field in MCPServerConfig.model_fields.values()),
    *(spelling for spellings in SPELLINGS.values() for spelling in spellings),
    *WITHOUT_EFFECT,
}
_DESTROYS = lazy_pattern(
    r"\brm\s+(?:-\S+\s+)*-\w*[rRf]|\bmkfs\b|\bdd\s[^|;&\n]*\bof=|\bshred\b|Remove-Item|\b(?:del|rd|rmdir)\s+/|\bformat\s+[a-z]:|:\(\)\s*\{",
    re.IGNORECASE,
)
_TAKES_NEWEST = lazy_pattern("npx|bunx|pnpx|uvx|docker|podman")
_HAS_VERSION = lazy_pattern(r"(?<=.)@(?!latest$)[^/]+$|==|:(?!latest$)[^/]+$")  # also a path, an address, a file or a commit
_DOWNLOADS = lazy_pattern(r"\b(?:curl|wget|iwr|Invoke-WebRequest)\b.*(?:\|\s*(?:sudo\s+)?\w*sh\b|\biex\b|-o\b)", re.IGNORECASE | re.DOTALL)


def pasted_warnings(name: str, config: JsonMapping) -> Iterator[str]:
    """
    Args:
        config: the entry in the spelling of `mcpServers`.
    """
    words = " ".join(str(word) for word in (config.get("command", ""), *config.get("args", ())))
    if _DESTROYS.search(words):
        yield Phrase("it deletes or overwrites files")
    if _DOWNLOADS.search(words):
        yield Phrase("it downloads something and runs it")
    try:
        entry = FileEntry(name, read_entry(name, config), config)
    except TooltrayError:  # the entry cannot be added as it is; adding it reports why
        return
    yield from content_warnings(entry)
    program, package = _program_and_package([str(word) for word in (config.get("command", ""), *config.get("args", ()))])
    if package and _TAKES_NEWEST.fullmatch(program) and not _HAS_VERSION.search(package):
        yield Phrase("its version is not pinned: each start takes the newest one there is")
    unknown = [key for key, value in config.items() if key not in _KNOWN and value not in (None, "", [], {})]
    if isinstance(oauth := config.get("oauth"), Mapping):
        unknown += [f"oauth.{key}" for key in oauth if key not in OAUTH_MEMBERS]
    if unknown:
        yield Phrase("these members of its entry have no effect here: {names}", names=", ".join(map(shown, unknown)))


Span = tuple[int, int]
"""Start and end of a range, the end exclusive."""

_LONGEST_KEY, _LONGEST_WORD = 80, 4096  # characters; limits against quadratic time on texts with endless words
_KEY = rf"""(?P<key>[A-Za-z_-][\w-]{{0,{_LONGEST_KEY}}})"""
_AUTHORIZATION = lazy_pattern(r"(?i:Bearer|Basic|Token|ApiKey)\s+")  # of an Authorization header; the scheme itself is no secret
_PLAIN = rf"""(?P<plain>(?:{_AUTHORIZATION.pattern})?(?:<[^>]*>|[^\s"',;&#}}\]]{{1,{_LONGEST_WORD}}}))"""
_VALUE = rf"""(?:"(?P<double>(?:[^"\\]|\\.)*)"?|'(?P<single>[^']*)'?|{_PLAIN})"""
_PAIR = lazy_pattern(rf"""(?<![\w-]){_KEY}["']?\s*[:=]\s*{_VALUE}""")  # KEY=value, "key": "value", ?key=value, Key: Bearer value
_OPTION = lazy_pattern(rf"""(?<![\w-])-{_KEY}(?:\s+|["']\s*,\s*)(?!-){_VALUE}""")  # --key value, "--key", "value"
_ANY_WORD = lazy_pattern(r"[^\s\"',]+")
_USER = lazy_pattern(r"(?<![a-z0-9+.-])[a-z][a-z0-9+.-]{0,20}://(?P<plain>[^/\s?#@\"']+)@", re.IGNORECASE)  # user and password of a URL
_GROUPS = ("double", "single", "plain")


def secret_spans(text: str) -> list[Span]:
    """Returns the ranges in order; none touches another."""
    return list(_merged(sorted(_found_spans(text))))


def _found_spans(text: str) -> Iterator[Span]:
    for pattern in (_PAIR, _OPTION):
        at = 0
        while match := pattern.search(text, at):  # continue after the key: a value may itself be a pair
            at = match.end("key")
            if span := _value_of(match):
                yield span
    for match in _ANY_WORD.finditer(text):
        if looks_secret("", match[0]) and "://" not in match[0]:
            yield match.span()
    for match in _USER.finditer(text):
        yield match.span("plain")


def _value_of(match: re.Match[str]) -> Span | None:
    group = next(name for name in _GROUPS if match[name] is not None)
    scheme = _AUTHORIZATION.match(match[group])
    first, last = match.start(group) + (scheme.end() if scheme else 0), match.end(group)
    value = match.string[first:last]
    is_secret = looks_secret(match["key"].lstrip("-"), value) and not is_placeholder(value)
    return (first, last) if value and is_secret and "://" not in value else None


def _merged(spans: list[Span]) -> Iterator[Span]:
    start = end = -1
    for first, last in spans:
        if first > end:
            if end > start:
                yield start, end
            start, end = first, last
        end = max(end, last)
    if end > start:
        yield start, end
