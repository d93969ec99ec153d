"""SchemaForm: the values of a schema, as fields or as JSON, and what is wrong with them. Both views always show the same values."""

import json
from collections.abc import Iterator, Mapping
from typing import cast

from PySide6.QtCore import Qt, Signal
from PySide6.QtWidgets import QWidget

from tooltray.foundation.schema_check import FORMAT_EXAMPLES, FieldError, schema_errors
from tooltray.ui.i18n import many, tr
from tooltray.ui.schema_form.leaves import json_fault, read_json
from tooltray.ui.schema_form.slots import ObjectControl, Place
from tooltray.ui.schema_form.value_shapes import ABSENT, properties_of, resolved, shape_of
from tooltray.ui.server_text import one_line
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.code_view import CodeView
from tooltray.ui.widgets.filter_tabs import FilterTabs
from tooltray.ui.widgets.keyboard import go_to
from tooltray.ui.widgets.label import Label
from tooltray.ui.widgets.surface import column, fill

Path = tuple[str | int, ...]
MOST_FAULTS = 50  # nobody reads more
LONGEST_FAULT = 200  # characters


def faults_of(schema: Mapping[str, object], value: object, *, checks_formats: bool = False) -> dict[Path, str]:
    """Returns the errors in a value, by their places; empty where the check fails."""
    found: dict[Path, str] = {}
    for error in schema_errors(schema, value, checks_formats=checks_formats):
        for path, words in _worded(error):
            found.setdefault(path, words)
        if len(found) >= MOST_FAULTS:
            break
    return found


def _worded(error: FieldError) -> Iterator[tuple[Path, str]]:
    """Yields the places and texts of an error of the library."""
    path: Path = tuple(error.absolute_path)
    limit = error.validator_value
    match error.validator:
        case "required":
            there = error.instance if isinstance(error.instance, dict) else {}
            yield from (((*path, name), tr("Required.")) for name in _names(limit) if name not in there)
        case "type":
            yield path, tr("This must be of the type {type}.", type=" | ".join(_names(limit)))
        case "enum" | "const":
            yield path, tr("This is not one of the allowed values.")
        case "minimum" | "exclusiveMinimum":
            words = tr("At least {number}.", number=limit) if error.validator == "minimum" else tr("More than {number}.", number=limit)
            yield path, words
        case "maximum" | "exclusiveMaximum":
            words = tr("At most {number}.", number=limit) if error.validator == "maximum" else tr("Less than {number}.", number=limit)
            yield path, words
        case "minLength":
            yield path, tr("Required.") if limit == 1 else tr("At least {number} characters", number=limit)
        case "maxLength":
            yield path, tr("At most {number} characters", number=limit)
        case "minItems":
            yield path, many(cast(int, limit), "At least 1 entry is needed.", "At least {count} entries are needed.")
        case "maxItems":
            yield path, tr("At most {count} entries are taken.", count=limit)
        case "pattern":
            yield path, tr("It does not fit the pattern {pattern}", pattern=one_line(str(limit), LONGEST_FAULT))
        case "format":
            yield path, tr("Write it as in {example}", example=FORMAT_EXAMPLES[str(limit)])
        case "anyOf" | "oneOf":
            yield from _of_branches(error, path)
        case "additionalProperties" | "unevaluatedProperties":
            yield path, tr("It contains something that is not allowed: {what}", what=one_line(error.message, LONGEST_FAULT))
        case _:
            yield path, one_line(error.message, LONGEST_FAULT)


def _names(limit: object) -> list[str]:
    return [str(name) for name in limit] if isinstance(limit, list) else [str(limit)]


def _of_branches(error: FieldError, path: Path) -> Iterator[tuple[Path, str]]:
    """Yields the errors of the best branch: the one with the fewest errors, none of them of its type."""
    branches: dict[str | int, list[FieldError]] = {}
    for each in error.context or ():
        branches.setdefault(each.relative_schema_path[0], []).append(each)
    near = [errors for errors in branches.values() if not any(each.validator in ("type", "const") for each in errors)]
    if near:
        for each in min(near, key=len):
            yield from _worded(each)
    else:
        yield path, tr("This matches none of the allowed forms.")


FIELDS, JSON = 0, 1  # the views
LINES = 20  # of the JSON in sight; more scroll
LARGEST_CHECKED = 200_000  # characters of JSON; a larger value is checked by the server alone

NAMING = ("properties", "patternProperties", "additionalProperties", "anyOf", "oneOf", "allOf", "$ref", "if")
"""The words of a schema that name values, or ask for some."""


class SchemaForm(QWidget):
    """A form for the values of a schema. `changed`: the user edited something. `view_changed`: the other view is shown, FIELDS or JSON.

    Args:
        schema: of an object; one without fields is edited only as JSON.
        values: the values at first; None: the schema's defaults.
        is_question: see Place; formats of texts are checked, too.
    """

    changed = Signal()
    view_changed = Signal(int)

    def __init__(
        self, theme: Theme, schema: Mapping[str, object], *, values: Mapping[str, object] | None = None, is_question: bool = False
    ) -> None:
        super().__init__()
        self._theme, self._schema, self._is_question = theme, schema, is_question
        shape = shape_of(schema, {**resolved(schema, schema), "type": "object"})
        self._has_fields = shape.kind == "object" and bool(properties_of(shape.schema))
        self.view = FIELDS if self._has_fields else JSON
        place = Place(theme, schema, is_question=is_question)
        self._object = ObjectControl(place, shape, tr("Arguments"), is_open=values is None, is_root=True)
        if values is not None:
            self._object.set_value(values)
        self._object.changed.connect(self._on_changed)
        self.views = FilterTabs(theme, [tr("Form"), tr("JSON")], name=tr("How to fill it in"), have_counts=False)
        self.views.chosen.connect(self.show_view)
        self._code = CodeView(theme, "", tr("Arguments as JSON"), lines=LINES, editable=True, json=True)
        self._code.textChanged.connect(self._on_changed)
        self._fault = Label(theme, "", "caption", "error", wrap=True)
        self._fault.hide()
        fill(column(self, spacing=8), self._object, self._code, self._fault)
        if is_question:
            self.views.setParent(self)
        if is_question or not self._has_fields:  # never shown here: without a parent yet, they would be a window of their own
            self.views.hide()
        self._code.setVisible(not self._has_fields)
        self._object.setVisible(self._has_fields)
        self._write_code()

    @property
    def is_empty(self) -> bool:
        """Whether the schema allows no values."""
        return self.has_no_names and self._schema.get("additionalProperties") is False

    @property
    def has_no_names(self) -> bool:
        """Whether the schema names no values, although it may allow any."""
        return not self._has_fields and not any(self._schema.get(word) for word in NAMING)

    @property
    def value(self) -> dict[str, object] | None:
        """The arguments; None if the text is not an object."""
        if self.view == FIELDS:
            value = self._object.value
        else:
            text = self._code.toPlainText()
            value = {} if not text.strip() else ABSENT if json_fault(text) else read_json(text)
        return dict(value) if isinstance(value, Mapping) else None

    def set_value(self, value: Mapping[str, object]) -> None:
        """Shows other arguments, in the current view."""
        self._object.set_value(value)
        self._write_code(value)
        self._say("")

    def show_view(self, view: int) -> None:
        """Shows fields or JSON; invalid JSON stays until it can be read."""
        if view == self.view:
            return
        value = self.value
        if value is None:
            self.views.choose(self.view)
            self._say(self._json_fault())
            return
        if view == FIELDS:
            self._object.set_value(value)
        else:
            self._write_code(value)
        self.view = view
        self._say("")
        self._object.setVisible(view == FIELDS)
        self._code.setVisible(view == JSON)
        self.views.choose(view)
        self.view_changed.emit(view)

    def check(self) -> bool:
        """Shows errors at their fields and goes to the first; returns whether the values are valid."""
        value = self.value
        if value is None:
            self._say(self._json_fault())
            go_to(self._code)
            return False
        is_small = len(json.dumps(value)) <= LARGEST_CHECKED
        faults = faults_of(self._schema, value, checks_formats=self._is_question) if is_small else {}
        if self.view == JSON:
            lines = [f"{'.'.join(str(part) for part in path)}: {words}" if path else words for path, words in faults.items()]
            self._say("\n".join(lines))
            return not faults
        left = self._object.show_faults({path: words for path, words in faults.items() if path})
        self._say("\n".join([*(words for path, words in faults.items() if not path), *left]))
        first = next(filter(None, (slot.first_faulty() for slot in self._object.slots)), None)
        if first is not None:
            go_to(first)
        return first is None and not faults

    def focus(self) -> None:
        """Moves the focus to the first field."""
        target = self._object.target if self.view == FIELDS and self._object.slots else self._code
        if target.isVisible():
            target.setFocus(Qt.FocusReason.OtherFocusReason)

    def _json_fault(self) -> str:
        return json_fault(self._code.toPlainText()) or tr("The arguments have to be an object.")

    def _write_code(self, value: Mapping[str, object] | None = None) -> None:
        shown = self._object.value if value is None else value
        self._code.setPlainText(json.dumps({} if shown is ABSENT else shown, ensure_ascii=False, indent=2))

    def _on_changed(self) -> None:
        if self._fault.text():
            self._say("")
        self.changed.emit()

    def _say(self, fault: str) -> None:
        self._fault.setText(fault)
        self._fault.setVisible(bool(fault))
