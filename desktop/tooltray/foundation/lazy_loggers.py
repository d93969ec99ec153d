"""Loggers of modules that commands import: Python's `logging` is imported when something is logged, which few commands do."""

from typing import TYPE_CHECKING, Any, cast

if TYPE_CHECKING:
    import logging


class _LazyLogger:
    def __init__(self, name: str) -> None:
        self._name = name

    def __getattr__(self, name: str) -> Any:
        import logging

        return getattr(logging.getLogger(self._name), name)


def lazy_logger(name: str) -> "logging.Logger":
    """Returns what `logging.getLogger` returns, for use by its methods."""
    return cast("logging.Logger", _LazyLogger(name))
