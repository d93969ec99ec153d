"""What a pasted entry says of a server that is reached by a URL: its headers, its transport, and the keys in its address.

Above it: pasted. Knows nothing of commands.
"""

import json
import re
from typing import Any
from urllib.parse import parse_qsl, quote, urlsplit

_HEADER_KEYS = ("headers", "customHeaders", "http_headers", "requestInit")  # the last: an object with `headers` in it


def take_headers(config: dict[str, Any]) -> dict[str, str]:
    """Takes the headers out of an entry, in any of the forms that programs use for them."""
    result: dict[str, str] = {}
    for key in _HEADER_KEYS:
        given = config.pop(key, None)
        given = given.get("headers") if key == "requestInit" and isinstance(given, dict) else given
        if isinstance(given, dict):
            result |= {str(name): portable(as_word(value)) for name, value in given.items() if value is not None}
    variables = config.pop("env_http_headers", None)
    if isinstance(variables, dict):
        result |= {str(name): f"${{{variable}}}" for name, variable in variables.items()}
    if isinstance(variable := config.pop("bearer_token_env_var", None), str):
        result["Authorization"] = f"Bearer ${{{variable}}}"
    return result


def usual_type(url: str) -> str:
    """What an address is by habit, where nothing says it; empty: what every address is."""
    return "sse" if re.split("[?#]", url, maxsplit=1)[0].rstrip("/").endswith("/sse") else ""


def netloc(url: str) -> str:
    """Host, port and user name; empty for what is no URL."""
    try:
        return urlsplit(url).netloc
    except ValueError:
        return ""


def without_keys(url: str) -> str:
    """Without user name, password, query and fragment: keys stand in those."""
    return re.split("[?#]", re.sub(r"^([a-z][a-z0-9+.-]*://)[^/?#]*@", r"\1", url, flags=re.IGNORECASE), maxsplit=1)[0]


def parameters(url: str) -> list[tuple[str, str]]:
    """The query's names and values."""
    return parse_qsl(re.split("#", url, maxsplit=1)[0].partition("?")[2])


def with_parameter(url: str, key: str, value: str) -> str:
    """With another value for a parameter of the query; a placeholder stays one, anything else is escaped."""
    written = value if value.startswith("${") else quote(value, safe="")
    return re.sub(rf"([?&]{re.escape(quote(key, safe=''))}=)[^&#]*", lambda match: match[1] + written, url, count=1)


def as_word(value: Any) -> str:
    """Numbers and switches come without quotes in some blocks; programs take words."""
    return value if isinstance(value, str) else json.dumps(value)


def portable(text: str) -> str:
    """Returns a value with other programs' placeholders in our spelling."""
    text = re.sub(r"\$\{env:([A-Za-z_][A-Za-z0-9_]*)\}", r"${\1}", text)
    return re.sub(r"\$\{userHome\}", "${HOME}", text)
