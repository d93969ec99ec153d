"""The notices shown with the hub: faults, and deviations from the settings."""

from collections.abc import Callable, Iterable, Iterator

from tooltray.config.settings.settings import Settings
from tooltray.foundation.errors import Problem
from tooltray.foundation.phrases import Phrase

Source = Callable[[], Iterable[Problem]]


class Notices:
    """The problems of all parts, collected again in each iteration."""

    def __init__(self, sources: Iterable[Source]) -> None:
        """
        Args:
            sources: in the order in which the user reads them.
        """
        self._sources = tuple(sources)

    def __iter__(self) -> Iterator[Problem]:
        for source in self._sources:
            yield from source()


def problems_of_settings(settings: Settings) -> Iterator[Problem]:
    """Yields a problem for each setting that is valid but probably a mistake."""
    for name, config in settings.mcp_servers.items():
        if any("${secret:" in argument for argument in config.arguments):
            title = Phrase("'{name}' gets a secret in its arguments", name=name)
            hint = Phrase("Pass it in `env`, if the server can take it from there.")
            yield Problem(title, Phrase("other programs of this machine can read them"), hint)
        if config.idle_stop and name in settings.default_servers and not config.deferred_startup:
            title = Phrase("'{name}' is not stopped when it is idle", name=name)
            message = Phrase("it has idleStop, and starts with the hub: what does stays up")
            yield Problem(title, message, Phrase("Let it start on demand, or take idleStop out of its settings."))
