"""What a process said at its end that tells most.

Above it: stdio_transport. The last line of stderr is a good guess but for npm, which says first what went wrong, and ends with advice and
the place of a log.
"""

import re

_OF_NPM = re.compile(r"npm (?:error|ERR!|err!)\s*(.*)")
NPM_LINES = 2  # the code, and what it means here


class LastWords:
    """Takes line after line; its text is what to show."""

    def __init__(self) -> None:
        self._text = ""
        self._npm: list[str] = []

    def add(self, line: str) -> None:
        """Takes the next line of stderr, which is not empty."""
        found = _OF_NPM.match(line)
        if found is None:
            self._text, self._npm = line, []
        elif len(self._npm) < NPM_LINES:
            self._npm += [found[1]] if found[1] else []
            self._text = f"npm: {'; '.join(self._npm)}" if self._npm else line

    def __str__(self) -> str:
        return self._text
