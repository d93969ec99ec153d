"""Context variables that end with the request which set them, so that background tasks do not act for it. Imports no asyncio."""

from contextvars import Context, ContextVar, copy_context
from typing import Any, TypeVar

T = TypeVar("T")

_of_request: list[tuple[ContextVar[Any], object]] = []


def request_scoped(name: str, default: T) -> ContextVar[T]:
    """Makes a context variable that has its default in every background task."""
    variable = ContextVar(name, default=default)
    _of_request.append((variable, default))
    return variable


def background_context() -> Context:
    """Returns a copy of the caller's context without the variables of its request."""
    context = copy_context()
    for variable, default in _of_request:
        context.run(variable.set, default)
    return context
