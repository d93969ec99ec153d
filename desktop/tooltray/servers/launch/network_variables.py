"""The variables that decide whether a server reaches the network: certificates, proxies, package indexes, the agent with the user's keys. A
line added to this one table adds the variable everywhere."""

import os
import re
from collections.abc import Callable, Mapping
from pathlib import Path

import msgspec

_ADDRESS = re.compile(r"(?:[a-z][a-z0-9+.-]*://)?[^\s/@?#]+/?", re.IGNORECASE)  # a proxy's; an "@" follows a user and a password
_HOSTS = re.compile(r"[\w.*:,/ \[\]-]*")
_URL = re.compile(r"(?:[\w.-]+=)?https?://[^\s/@?#]+(?:/[^\s@?#]*)?", re.IGNORECASE)  # uv's indexes may have a name in front
_KEY = re.compile(r"(?=[^/]*\d)(?=[^/]*[A-Za-z])[A-Za-z0-9_-]{24,}")  # some indexes have a user's key in the path
_USER = re.compile(r"[^\s/@]*@")
_FLAGS = ("0", "1", "true", "false")


class Kind(msgspec.Struct, frozen=True):
    """The rules for the values of a variable.

    Attributes:
        can_be_used: whether a value is usable now; a value that names a missing file only does harm.
        can_be_remembered: whether a value may be written into a file.
    """

    can_be_used: Callable[[str], bool]
    can_be_remembered: Callable[[str], bool]


def _exists(value: str) -> bool:
    return bool(value) and all(Path(part).is_absolute() and Path(part).exists() for part in value.split(os.pathsep))


def _always(value: str) -> bool:
    return True


def _never(value: str) -> bool:
    return False


def _is_plain_index(value: str) -> bool:
    return all(_URL.fullmatch(each) and not _KEY.search(each.partition("://")[2].partition("/")[2]) for each in value.split())


PATH = Kind(_exists, _exists)
PROXY = Kind(_always, lambda value: _ADDRESS.fullmatch(value) is not None)
HOSTS = Kind(_always, lambda value: _HOSTS.fullmatch(value) is not None)
INDEX = Kind(_always, _is_plain_index)
FLAG = Kind(_always, lambda value: value.lower() in _FLAGS)
AGENT = Kind(_exists, _never)  # each session has another one

VARIABLES: Mapping[str, Kind] = {
    **dict.fromkeys(("SSL_CERT_FILE", "SSL_CERT_DIR", "REQUESTS_CA_BUNDLE", "CURL_CA_BUNDLE", "NODE_EXTRA_CA_CERTS", "PIP_CERT"), PATH),
    **dict.fromkeys(("http_proxy", "https_proxy", "all_proxy", "HTTP_PROXY", "HTTPS_PROXY", "ALL_PROXY"), PROXY),
    **dict.fromkeys(("no_proxy", "NO_PROXY", "UV_INSECURE_HOST", "PIP_TRUSTED_HOST"), HOSTS),
    **dict.fromkeys(("UV_DEFAULT_INDEX", "UV_INDEX", "UV_INDEX_URL", "UV_EXTRA_INDEX_URL", "PIP_INDEX_URL", "PIP_EXTRA_INDEX_URL"), INDEX),
    **dict.fromkeys(("UV_NATIVE_TLS", "UV_SYSTEM_CERTS", "NODE_USE_SYSTEM_CA"), FLAG),
    "SSH_AUTH_SOCK": AGENT,
}


def meaning(name: str) -> str:
    """Returns the same name for both spellings of a proxy's variable: if one is set, the other one counts as set, too."""
    return name.lower() if name.lower().endswith("_proxy") else name


def in_environ(environ: Mapping[str, str]) -> dict[str, str]:
    """Returns the variables of this table that an environment has."""
    return {name: environ[name] for name in VARIABLES if name in environ}


def shown(value: str) -> str:
    return _USER.sub("***@", value)
