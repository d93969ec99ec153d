"""Parses the parts of a pasted entry for a remote server: its headers, its transport, and keys in its URL."""

import json
import re
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

from tooltray.config.foreign_configs.mcp_json import take_request_headers

_HEADER_KEYS = ("headers", "customHeaders", "http_headers")
VARIABLE_WORD = re.compile(r"(?<![^\s=:,])\$([A-Z_][A-Z0-9_]*)(?![A-Za-z0-9_$])")
"""`$NAME` as a whole word; `pa$WORD` may be a password."""


def take_headers(config: dict[str, Any]) -> dict[str, str]:
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
