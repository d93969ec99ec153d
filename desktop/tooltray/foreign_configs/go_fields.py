"""An object of a JSON file as Go programs read it: the case of a name does not count, and `null` is not given.

Above it: tbxark. Below it: json_places. Knows no field of any program.
"""

from typing import Any

from tooltray.files.json_places import Value
from tooltray.foreign_configs.config_page import CannotUse
from tooltray.phrases import Phrase


class GoFields:
    """What one object says; without one, nothing.

    Each method raises CannotUse where something else stands than it returns.
    """

    def __init__(self, value: Value | None) -> None:
        self._members = {name.lower(): member for name, member in (value.members.items() if value else ()) if member[1].content is not None}
        self.at = value.start if value else None

    def raw(self, name: str) -> Any:
        """What stands there, whatever it is; None: nothing."""
        return self._members[name.lower()][1].content if name.lower() in self._members else None

    def place(self, name: str) -> int | None:
        """Where the field stands; where the object does, if there is none of this name."""
        return self._members[name.lower()][0] if name.lower() in self._members else self.at

    def text(self, name: str) -> str:
        return str(self._one(name, str, Phrase("'{field}' must be text", field=name)) or "")

    def flag(self, name: str) -> bool | None:
        found = self._one(name, bool, Phrase("'{field}' must be true or false", field=name))
        return None if found is None else bool(found)

    def whole_number(self, name: str) -> int:
        reason = Phrase("'{field}' must be a whole number", field=name)
        if isinstance(self.raw(name), bool):
            raise CannotUse(reason, self.place(name))
        return int(self._one(name, int, reason) or 0)

    def texts(self, name: str) -> list[str] | None:
        """None: not given, which an empty list is not."""
        reason = Phrase("'{field}' must be a list of texts", field=name)
        found = self._one(name, list, reason)
        if found is not None and not all(isinstance(member, str) for member in found):
            raise CannotUse(reason, self.place(name))
        return found if found is None else list(found)

    def inner(self, name: str) -> "GoFields":
        return GoFields(self.inner_value(name))

    def inner_value(self, name: str) -> Value | None:
        """None: not given."""
        if self._one(name, dict, Phrase("'{field}' must be an object", field=name)) is None:
            return None
        return self._members[name.lower()][1]

    def _one(self, name: str, kind: type, reason: str) -> Any:
        found = self.raw(name)
        if found is not None and not isinstance(found, kind):
            raise CannotUse(reason, self.place(name))
        return found
