"""Builds parts by name: each line of a composition names the class that makes a part, and the arguments of its constructor.

The lines are in app/hub.py and in tests. A line that has its class as a text, "tooltray.sources.bundles.api.BundlesApi", is for a part that
many hubs never need: it is made, and its module imported, when someone asks for it.
"""

import importlib
from collections.abc import Callable, Iterable, Mapping
from functools import cache
from operator import attrgetter
from types import MappingProxyType
from typing import Any, get_origin

import msgspec


class Composition:
    """A set of parts, which are attributes; each is made when it is first read.

    Attributes:
        limits: values by parameter name that replace the parameters' defaults; they are attributes, too.
    """

    def __init__(self, limits: Mapping[str, Any]) -> None:
        self.limits = limits
        vars(self).update(limits)

    @classmethod
    def parts(cls) -> dict[str, "Part"]:
        """Returns all lines, by name; a subclass replaces lines of its base."""
        return {name: each for kind in reversed(cls.__mro__) for name, each in vars(kind).items() if isinstance(each, Part)}

    def construct(self, kind: Any, given: "Mapping[str, Given]" = MappingProxyType({})) -> Any:
        """Makes an object from the parts that its constructor names. `given`: other values for some of its parameters."""
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
"""A parameter's value: another part, or a part's attribute, by name; or an object that is made for the parameter."""


class Part:
    """A line of a composition; makes its part once, at the first access.

    Attributes:
        given: values of the constructor's parameters, by name.
        make: used instead of a constructor.
        reads: the part is made from files: in a thread, before the others.
        is_on_demand: the line has its class as a text.
    """

    is_on_demand = False

    def __init__(self, given: Mapping[str, Given], *, make: Make | None = None, reads: bool = False) -> None:
        self.given, self.make, self.reads = given, make, reads

    def __set_name__(self, owner: type, name: str) -> None:
        self._name, self._kind = name, owner.__annotations__[name]
        self.is_on_demand = isinstance(self._kind, str)

    @property
    def kind(self) -> Any:
        """The type of the part."""
        if isinstance(self._kind, str):
            module, _, name = self._kind.rpartition(".")
            self._kind = getattr(importlib.import_module(module), name)
        return self._kind

    def __get__(self, hub: Composition, owner: type) -> Any:
        part = self.make(hub) if self.make else hub.construct(self.kind, self.given)
        hub.__dict__[self._name] = part  # found there from now on
        return part


@cache
def _parameters(kind: type) -> list[tuple[str, bool]]:
    """Returns the parameters of a constructor, and whether each is required. `inspect.signature` would also evaluate their annotations."""
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
    """A callback to a method of a part that may not exist yet; the part is looked up when the callback is called.

    Attributes:
        method: `servers.restart` for that method of the part `servers`; only a part's name for the part itself.
    """

    def __init__(self, method: str) -> None:
        self.method, self._get = method, attrgetter(method)

    def __call__(self, hub: Composition) -> Callable[..., Any]:
        return lambda *args: self._get(hub)(*args)


def part(**given: Given) -> Any:
    """Declares a part that its class makes.

    Args:
        given: the parameters that do not get the part of the same name. A parameter with a default keeps it unless it is given here.
    """
    return Part(given)


def made(make: Make) -> Any:
    """Declares a part that a function makes."""
    return Part({}, make=make)


def read(make: Make) -> Any:
    """Declares a part that is read from a file."""
    return Part({}, make=make, reads=True)
