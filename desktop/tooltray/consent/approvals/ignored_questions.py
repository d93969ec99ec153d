"""Whether anybody looks: of an AI client whose last questions ran out without an answer, the next ones wait quietly.

Above it: WaitingApprovals. Below it: nothing. A client that calls itself another thing each time is loud each time, as it is today.
"""

LOUD = 2  # questions in a row that may be ignored
SEEN_AFTER_S = 30.0  # a question that its client took back sooner may not have been noticed
MOST_CLIENTS = 256


class IgnoredQuestions:
    """Belongs to the engine's loop."""

    def __init__(self) -> None:
        self._counts: dict[str, int] = {}

    def is_ignored(self, client: str) -> bool:
        """Whether a question of this AI client calls nobody."""
        return self._counts.get(client, 0) >= LOUD

    def ran_out(self, client: str) -> None:
        """Nobody answered a question of it."""
        if client not in self._counts and len(self._counts) >= MOST_CLIENTS:
            del self._counts[next(iter(self._counts))]
        self._counts[client] = self._counts.get(client, 0) + 1

    def answered(self) -> None:
        """A person has answered any question: somebody is there."""
        self._counts.clear()
