"""hub.py: what each line of the composition gives to a constructor is what the constructor asks for.

Constructors get parts by the names of their parameters, which the type checker cannot see; this is what it would say.
"""

import inspect
import types
from typing import Any, Protocol, Union, get_args, get_origin, get_type_hints

import msgspec
import pytest

from tooltray.app import hub, stored_parts
from tooltray.app.hub import Hub, HubOptions
from tooltray.carriers.control.control_session import HubControl
from tooltray.foundation.composition import Later
from tooltray.foundation.events import EventBus
from tooltray.foundation.home.home import Home
from tooltray.foundation.tasks import Spawn
from tooltray.gateway.calls.tool_call import STAGES

GROUND = {"home": Home, "bus": EventBus, "spawn": Spawn, "options": HubOptions, "control": HubControl}  # what a hub has besides its parts
LINES = {name: each for name, each in Hub.parts().items() if each.make is None}
MADE = {
    **{name: (get_origin(each.kind) or each.kind, each.given) for name, each in LINES.items()},
    **{each.__name__: (each, {}) for each in STAGES},
}
"""What the hub constructs, and what constructors get by another name than that of their parameter."""


ON_DEMAND = {each.kind.__name__: each.kind for each in Hub.parts().values() if each.is_on_demand}


def kind_of(name: str) -> Any:
    """The type of a part; None where nobody wrote one."""
    return Hub.parts()[name].kind if name in Hub.parts() else GROUND.get(name)


def fits(given: Any, asked: Any) -> bool:
    """Whether a part of one type is what a parameter of another type asks for."""
    if get_origin(asked) in (Union, types.UnionType):
        return any(fits(given, each) for each in get_args(asked))
    if given == asked or asked is Any:
        return True
    given, asked = get_origin(given) or given, get_origin(asked) or asked
    if not (isinstance(given, type) and isinstance(asked, type)):
        return False
    if Protocol in asked.__mro__[1:]:
        return all(hasattr(given, each) or each in get_type_hints(given.__init__) for each in _members(asked))
    return issubclass(given, asked)


def _members(protocol: type) -> set[str]:
    return {name for name, value in vars(protocol).items() if inspect.isfunction(value) and not name.startswith("_")}


@pytest.mark.parametrize("name", MADE)
def test_a_constructor_gets_what_it_asks_for(name: str) -> None:
    maker, told = MADE[name]
    hinted = maker if issubclass(maker, msgspec.Struct) else maker.__init__
    hints = get_type_hints(hinted, localns=vars(stored_parts) | vars(hub) | ON_DEMAND)  # some import their parts for the type checker alone
    for parameter in inspect.signature(maker).parameters.values():
        given = told.get(parameter.name, parameter.name if parameter.default is parameter.empty else None)
        if not isinstance(given, str) or "." in given:
            continue  # made for it here, where the type checker sees it; an attribute of a part
        assert fits(kind_of(given), hints[parameter.name]), (
            f"{name}: {parameter.name} is {kind_of(given)}, and asks for {hints[parameter.name]}"
        )


def test_what_is_called_later_is_there() -> None:
    given = {each.method for line in Hub.parts().values() for each in (*line.given.values(), line.make) if isinstance(each, Later)}
    assert len(given) > 1
    for method in given:
        part, _, called = method.partition(".")
        assert hasattr(get_origin(kind_of(part)) or kind_of(part), called or "__call__"), method


@pytest.mark.parametrize("name", LINES)
def test_nothing_is_given_that_nobody_asks_for(name: str) -> None:
    line = LINES[name]
    assert set(line.given) <= set(inspect.signature(get_origin(line.kind) or line.kind).parameters)
