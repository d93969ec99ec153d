"""Which variables and arguments of an entry seem to hold a secret, by their names and the form of their values."""

import re
from collections.abc import Iterable, Iterator, Mapping

from tooltray.foundation.lazy_patterns import lazy_pattern

PATH_VALUE = lazy_pattern(r"[~.]{0,2}/|[A-Za-z]:[\\/]")
_SECRET_NAME = lazy_pattern(
    r"(?:^|_)(?:API_?KEY|PGPASSWORD|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|PAT|CREDENTIALS?|AUTHORIZATION)(?:$|_\d+$|_VALUE$)"
)
_SECRET_VALUE = lazy_pattern(
    r"gh[pousr]_|github_pat_|glpat-|sk-[A-Za-z0-9_-]{8}|xox[abprs]-|AKIA[0-9A-Z]{12}|AIza[0-9A-Za-z_-]{20}|eyJ[A-Za-z0-9_-]{16}|Bearer\s\S"
    r"|[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@"
)
KEY_IN_PATH = lazy_pattern(r"(?=[^/]*\d)(?=[^/]*[A-Za-z])[A-Za-z0-9_-]{24,}")  # some services have the user's key in the path
HIDDEN = "***"
_LOGIN = lazy_pattern(r"(://[^/\s:@?#]*:)\S+(?=@)")  # a password may contain an "@" and a "/"
_PARAMETER = lazy_pattern(r"([?&])([^=&#\s]+)=([^&#\s]+)")
_SCHEME = lazy_pattern(r"\b(Bearer|Basic)(\s+)(?!\$\{)\S{6,}", re.IGNORECASE)
_SCHEME_WORD = lazy_pattern(r"^(?:Bearer|Basic|Token)\s+", re.IGNORECASE)
_NAMED = lazy_pattern(r"(-{0,2}[\w.-]+)([=:]\s*)(.+)", re.DOTALL)


def looks_secret(key: str, value: str) -> bool:
    """Returns whether a variable seems to be a secret, by its name or the form of its value."""
    if value.startswith("${") and not value.startswith("${input:"):
        return False  # a placeholder for a value that is stored elsewhere
    if _SECRET_VALUE.match(value):
        return True
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", key).upper().replace("-", "_")
    return bool(_SECRET_NAME.search(name)) and not PATH_VALUE.match(value)


def plain_names(env: Mapping[str, str]) -> frozenset[str]:
    """Returns the names of the variables whose values are written out and do not seem to be secrets."""
    return frozenset(name for name, value in env.items() if "${" not in value and not looks_secret(name, value))


def hidden_words(words: Iterable[str]) -> Iterator[str]:
    """Yields the words of a command line with `***` in place of likely secrets, such as the value of `--api-key`."""
    option = ""
    for word in words:
        is_option = word.startswith("-")
        yield hidden(word, "" if is_option else option)
        option = word.lstrip("-") if is_option and "=" not in word else ""


def hidden(text: str, name: str = "") -> str:
    """Returns a text with `***` in place of likely secrets: passwords in addresses, values after names of secrets, keys.

    Args:
        name: the name whose value the text is; empty if unknown.
    """
    text = _SCHEME.sub(rf"\1\2{HIDDEN}", _PARAMETER.sub(_hidden_parameter, _LOGIN.sub(rf"\1{HIDDEN}", text)))
    if HIDDEN not in text and looks_secret(name, _SCHEME_WORD.sub("", text)):
        return HIDDEN
    if HIDDEN not in text and (found := _NAMED.fullmatch(text)):
        is_sentence = ":" in found[2] and " " in _SCHEME_WORD.sub("", found[3])  # "token: it has expired"
        return found[1] + found[2] + hidden(found[3], "" if is_sentence else found[1].lstrip("-"))
    words = re.split(r"(\s+)", text)
    if len(words) == 1:
        return text
    words[::2] = hidden_words(words[::2])
    return "".join(words)


def _hidden_parameter(found: re.Match[str]) -> str:
    return f"{found[1]}{found[2]}={HIDDEN}" if looks_secret(found[2], found[3]) else found[0]
