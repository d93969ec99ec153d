"""Which variables of an entry seem to hold a secret, by their names and the form of their values."""

import re
from collections.abc import Mapping

PATH_VALUE = re.compile(r"[~.]{0,2}/|[A-Za-z]:[\\/]")
_SECRET_NAME = re.compile(
    r"(?:^|_)(?:API_?KEY|PGPASSWORD|KEY|TOKEN|SECRET|PASSWORD|PASSWD|PASSPHRASE|PASS|PWD|PAT|CREDENTIALS?|AUTHORIZATION)(?:$|_\d+$|_VALUE$)"
)
_SECRET_VALUE = re.compile(
    r"gh[pousr]_|github_pat_|glpat-|sk-[A-Za-z0-9_-]{8}|xox[abprs]-|AKIA[0-9A-Z]{12}|AIza[0-9A-Za-z_-]{20}|eyJ[A-Za-z0-9_-]{16}|Bearer\s\S"
    r"|[a-z][a-z0-9+.-]*://[^/\s:@]*:[^/\s@]+@"
)


def looks_secret(key: str, value: str) -> bool:
    """Returns whether a variable seems to be a secret, by its name or the form of its value."""
    if value.startswith("${") and not value.startswith("${input:"):
        return False  # a placeholder for a value that is stored elsewhere
    if _SECRET_VALUE.match(value):
        return True
    name = re.sub(r"([a-z0-9])([A-Z])", r"\1_\2", key).upper().replace("-", "_")
    return bool(_SECRET_NAME.search(name)) and not PATH_VALUE.match(value)


def plain_names(env: Mapping[str, str]) -> frozenset[str]:
    """Returns the names of the variables whose values are written out and seem to be no secrets."""
    return frozenset(name for name, value in env.items() if "${" not in value and not looks_secret(name, value))
