"""Regular expressions that are compiled when they are first used.

The modules of a hub have hundreds of expressions, most of them about failures, pasted texts and the like: a hub that serves needs few.
Compiling them all took a tenth of its start. Expressions that every request needs are compiled at once, by `re.compile`.
"""

import re
from typing import Any, AnyStr, cast


class _LazyPattern:
    def __init__(self, pattern: str | bytes, flags: int) -> None:
        self.pattern, self._flags = pattern, flags

    def __getattr__(self, name: str) -> Any:
        found = getattr(re.compile(self.pattern, self._flags), name)
        vars(self)[name] = found  # found there from now on
        return found


def lazy_pattern(pattern: AnyStr, flags: int = 0) -> re.Pattern[AnyStr]:
    """Returns what `re.compile` returns, for use by its methods; an error in the expression is raised at its first use."""
    return cast(re.Pattern[AnyStr], _LazyPattern(pattern, flags))
