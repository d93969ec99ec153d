"""Which registries can be used, judged by what all of them answered. Pure.

Above it: NpmRegistries. A registry that answers quickly is not yet a good one: it may lack packages that others have, or have old copies.
"""

import re
from collections.abc import Iterable, Sequence

from msgspec.structs import replace

from tooltray.launch.npm_registry import NPM, Answer
from tooltray.snapshots.registries import RegistryMeasurement

_VERSION = re.compile(r"v?(\d+)\.(\d+)\.(\d+)(?:-([0-9A-Za-z.-]+))?(?:\+.*)?")


def judged(answers: Iterable[Answer], *, packages: Sequence[str]) -> list[Answer]:
    """The answers with what is wrong with them: those that can be used first, fastest first.

    Args:
        packages: what was asked for.
    """
    every = list(answers)
    existing = {package for answer in every for package in answer.latest}  # what nobody has is mistyped, and nobody's fault
    checked = [_with_missing(answer, packages, existing) for answer in every]
    reference = next((answer for answer in checked if answer.registry.origin == NPM and not answer.problem), None)
    checked = [_with_age(answer, reference) for answer in checked]
    return sorted(checked, key=lambda answer: (bool(answer.problem), answer.milliseconds is None, answer.milliseconds or 0.0))


def measurement(answer: Answer) -> RegistryMeasurement:
    """What people see of it."""
    registry = answer.registry
    return RegistryMeasurement(registry.shown, registry.name, registry.origin, registry.region, answer.milliseconds, answer.problem)


def is_older(version: str, than: str) -> bool:
    """Whether one version comes before another; of what is no version nobody knows."""
    ours, theirs = _VERSION.fullmatch(version), _VERSION.fullmatch(than)
    return bool(ours and theirs) and _rank(ours) < _rank(theirs)


def _with_missing(answer: Answer, packages: Sequence[str], existing: set[str]) -> Answer:
    missing = [package for package in packages if package not in answer.latest and (package in existing or not answer.latest)]
    return _refused(answer, f"it does not have {missing[0]}") if missing else answer


def _with_age(answer: Answer, reference: Answer | None) -> Answer:
    if reference is None or answer is reference:
        return answer
    for package, version in answer.latest.items():
        if is_older(version, newest := reference.latest.get(package, "")):
            return _refused(answer, f"its copy of {package} is old: {version}, and npm has {newest}")
    return answer


def _refused(answer: Answer, problem: str) -> Answer:
    return answer if answer.problem else replace(answer, problem=problem)


def _rank(found: "re.Match[str] | None") -> tuple[object, ...]:
    assert found
    numbers = tuple(int(number) for number in found.groups()[:3])
    parts = found[4].split(".") if found[4] else []
    return numbers, not parts, [(not part.isdigit(), int(part) if part.isdigit() else 0, part) for part in parts]
