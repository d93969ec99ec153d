"""Standard input with a person at it."""

import io


class Terminal(io.StringIO):
    """What is in it, the person types."""

    def isatty(self) -> bool:
        return True
