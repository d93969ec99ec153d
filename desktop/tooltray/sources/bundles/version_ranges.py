"""Whether a version is in a range as manifests write them: `>=16.0.0`, `>=3.8,<4.0`, `^1.2`, `~1.2.3`, `18.x`, `1 - 2`, `a || b`.

Above it: runtimes. Pure. What is not understood excludes nothing: a mistake in a range is no reason to keep a person from a server.
"""

import re

_VERSION = re.compile(r"(\d+)(?:\.(\d+))?(?:\.(\d+))?")
_TERM = re.compile(r"(>=|<=|==|=|>|<|\^|~=|~|!=)?\s*v?(\d+|[xX*])(?:\.(\d+|[xX*]))?(?:\.(\d+|[xX*]))?[^\s,|]*")
_HYPHEN = re.compile(r"(\S+)\s+-\s+(\S+)")

Version = tuple[int, int, int]


def version_in(text: str) -> Version | None:
    """The first version in what a program prints."""
    found = _VERSION.search(text)
    return (int(found[1]), int(found[2] or 0), int(found[3] or 0)) if found else None


def fits(version: Version, wanted: str) -> bool:
    """Whether a version is in a range; always, if the range is not understood."""
    return any(_fits_all(version, part.strip()) for part in wanted.split("||"))


def _fits_all(version: Version, wanted: str) -> bool:
    terms = list(_TERM.finditer(_HYPHEN.sub(r">=\1 <=\2", wanted)))
    return all(_fits_one(version, term) for term in terms)


def _fits_one(version: Version, term: re.Match[str]) -> bool:
    given = [int(part) for part in term.groups()[1:] if part is not None and part.isdigit()]
    if not given:
        return True
    low = (*given, 0, 0)[:3]
    match term[1] or "=":
        case ">=":
            return version >= low
        case "<":
            return version < low
        case ">":
            return version >= _above(given, len(given))
        case "<=":
            return version < _above(given, len(given))
        case "!=":
            return not low <= version < _above(given, len(given))
        case "^":
            return low <= version < _above(given, next((at for at, part in enumerate(given, 1) if part), len(given)))
        case "~":
            return low <= version < _above(given, min(len(given), 2))
        case "~=":
            return low <= version < _above(given, max(len(given) - 1, 1))
    return low <= version < _above(given, len(given))


def _above(given: list[int], kept: int) -> Version:
    """The first version that differs from a given one in its first so many parts."""
    first, second, third = (*given[: kept - 1], given[kept - 1] + 1, 0, 0)[:3]
    return first, second, third
