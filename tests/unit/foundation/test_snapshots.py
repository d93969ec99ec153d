"""snapshots/: what may be handed to anybody, since nobody can change it."""

import importlib
import pkgutil
from collections import Counter
from typing import Any, get_type_hints

import msgspec
import pytest

from tooltray.foundation import snapshots
from tooltray.foundation.snapshots.servers import ServerState


def kinds() -> list[type[Any]]:
    """All that are made in one of the modules."""
    rooms = [importlib.import_module(each.name) for each in pkgutil.iter_modules(snapshots.__path__, f"{snapshots.__name__}.")]
    return [kind for room in rooms for kind in vars(room).values() if isinstance(kind, type) and kind.__module__ == room.__name__]


SNAPSHOTS = [kind for kind in kinds() if issubclass(kind, msgspec.Struct)]


@pytest.mark.parametrize("kind", SNAPSHOTS)
def test_a_snapshot_cannot_be_changed_nor_what_it_holds_behind_the_back_of_who_draws_it(kind: Any) -> None:
    assert kind.__struct_config__.frozen
    for hint in get_type_hints(kind).values():
        assert getattr(hint, "__origin__", hint) not in (list, dict, set)


def test_each_is_in_one_module() -> None:
    assert max(Counter(kind.__name__ for kind in kinds()).values()) == 1


def test_the_states_are_told_by_words_that_a_program_can_rely_on() -> None:
    assert sorted(state.value for state in ServerState) == [
        "error",
        "installing",
        "needs_sign_in",
        "on_demand",
        "restarting",
        "running",
        "starting",
        "stopped",
        "stopping",
        "waiting",
    ]
