"""Carries calls of verbs to the process that has the API's parts, and names the types that both sides use."""

from collections.abc import Callable, Coroutine
from typing import Any, TypeAlias

Verb: TypeAlias = Callable[..., Coroutine[object, None, Any]]
JsonObject: TypeAlias = dict[str, Any]
"""A JSON object with any content that comes from another program or is sent to one."""


class RemotePart:
    """A stand-in for a part that runs elsewhere: each method passes its name and arguments to `carry`."""

    def __init__(self, carry: Verb) -> None:
        """
        Args:
            carry: called with the verb's name and then the verb's own arguments.
        """
        self._carry = carry

    def __getattr__(self, verb: str) -> Verb:
        if verb.startswith("_"):  # read by copy, pickle and similar modules; no verb begins like this
            raise AttributeError(verb)

        async def carried(*args: Any, **kwargs: Any) -> Any:
            return await self._carry(verb, *args, **kwargs)

        carried.__name__ = verb
        return carried
