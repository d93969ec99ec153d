"""Values that must not appear in a repr: an exception's trace, a debug line and a failing assertion show reprs of what they hold."""

from typing import ClassVar

import msgspec


class HidesFields(msgspec.Struct, frozen=True):
    """A struct whose repr leaves out the fields that `hidden` names: tokens, environments, URLs with a password in them."""

    hidden: ClassVar[tuple[str, ...]] = ()

    def __repr__(self) -> str:
        shown = (f"{name}={getattr(self, name)!r}" for name in self.__struct_fields__ if name not in self.hidden)
        return f"{type(self).__name__}({', '.join(shown)})"
