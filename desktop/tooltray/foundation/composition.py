"""How parts are put together by their names: a line of a composition says which class makes a part, and what its constructor is given.

Above it: hub.py and the tests, which write the lines. Below it: nothing of Tooltray.
"""

from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any, get_origin

import msgspec


class Composition:
    """Has parts as attributes: each is made when it is first asked for.

    Attributes:
        limits: values for parameters with a default, by their names, in its place; they are attributes, too.
    """

    def __init__(self, limits: Mapping[str, Any]) -> None:
        self.limits = limits
        vars(self).update(limits)

    @classmethod
    def parts(cls) -> dict[str, "Part"]:
        """All lines, by name; those of a subclass count before those of its base."""
        return {name: each for kind in reversed(cls.__mro__) for name, each in vars(kind).items() if isinstance(each, Part)}

    def construct(self, kind: Any, given: "Mapping[str, Given]" = MappingProxyType({})) -> Any:
        """Makes an object of the parts that its constructor asks for by name. `given`: what parameters get in place of these."""
        arguments: dict[str, Any] = {}
        for name, is_required in _parameters(get_origin(kind) or kind):
            if each := given.get(name):
                arguments[name] = attrgetter(each)(self) if isinstance(each, str) else each(self)
            elif is_required or name in self.limits:
                arguments[name] = getattr(self, name)
        return kind(**arguments)

    def make(self, names: Iterable[str]) -> None:
        """Makes these parts, and those that they need."""
        for name in names:
            getattr(self, name)


Make = Callable[[Any], Any]
Given = str | Make
"""What a parameter gets: another part, or a part's attribute, by name; or what is made for it."""


class Part:
    """One line of the hub: makes its part once, when it is first asked for.

    Attributes:
        given: what parameters of the constructor get, by name.
        make: in the place of a constructor.
        reads: it is made of files, in a thread, before the others.
    """

    def __init__(self, given: Mapping[str, Given], *, make: Make | None = None, reads: bool = False) -> None:
        self.given, self.make, self.reads = given, make, reads

    def __set_name__(self, owner: type, name: str) -> None:
        self._name = name
        self.kind: Any = owner.__annotations__[name]

    def __get__(self, hub: Composition, owner: type) -> Any:
        part = self.make(hub) if self.make else hub.construct(self.kind, self.given)
        hub.__dict__[self._name] = part  # found there from now on
        return part


@cache
def _parameters(kind: type) -> list[tuple[str, bool]]:
    """The parameters of a constructor, and whether each is required. `inspect.signature` would evaluate the annotations for that."""
    if issubclass(kind, msgspec.Struct):
        names, defaults = kind.__struct_fields__, kind.__struct_defaults__
        required = len(names) - len(defaults)
        return [(name, i < required or defaults[i - required] is msgspec.NODEFAULT) for i, name in enumerate(names)]
    make: Any = kind.__init__
    if make is object.__init__:
        return []
    code, positional = make.__code__, make.__code__.co_argcount
    names = code.co_varnames[: positional + code.co_kwonlyargcount]
    optional = {*names[positional - len(make.__defaults__ or ()) : positional], *(make.__kwdefaults__ or ())}
    return [(name, name not in optional) for name in names[1:]]


class Later:
    """Given for a parameter that is called later, by when the part is made whose method it stands for.

    Attributes:
        method: `servers.restart` stands for that method of the part `servers`; a part's name alone for the part itself.
    """

    def __init__(self, method: str) -> None:
        self.method, self._get = method, attrgetter(method)

    def __call__(self, hub: Composition) -> Callable[..., Any]:
        return lambda *args: self._get(hub)(*args)


def part(**given: Given) -> Any:
    """A part that its class makes; `given` are the parameters that are not the part of the same name. One with a default keeps it."""
    return Part(given)


def made(make: Make) -> Any:
    """A part that is no more than a value."""
    return Part({}, make=make)


def read(make: Make) -> Any:
    """A part that is read from a file."""
    return Part({}, make=make, reads=True)
