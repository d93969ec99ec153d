"""Instructions of classic BPF for seccomp, which the kernel runs at each system call, and its answers. The numbers are those of
linux/filter.h and linux/seccomp.h. Only the low half of an argument is compared: all arguments in the rules are ints for the kernel,
which drops the other half itself."""

import struct

ALLOW, KILL, ASK = 0x7FFF0000, 0x80000000, 0x7FC00000
EPERM, EACCES, EINVAL = 1, 13, 22
ENOSYS, EPROTONOSUPPORT, EOPNOTSUPP, EAFNOSUPPORT = 38, 93, 95, 97
NUMBER, PROCESSOR, _ARGUMENTS = 0, 4, 16  # offsets in struct seccomp_data
_LOAD, _AND, _RETURN = 0x20, 0x54, 0x06
_IS_EQUAL, _IS_HIGHER, _HAS_BITS = 0x15, 0x25, 0x45
_FARTHEST = 255

Instruction = tuple[int, int, str, str]
"""Code, constant, and the labels to jump to if it holds and if not; "" is the next instruction."""
Line = str | Instruction
"""An instruction, or a label: the name of its place."""


def refuse(number: int) -> Instruction:
    """Ends the program: the call fails with this error; with 0 it seems to have succeeded."""
    return _RETURN, 0x00050000 | number, "", ""


def answer(action: int) -> Instruction:
    """Ends the program: ALLOW, or ASK the listening process."""
    return _RETURN, action, "", ""


def load(offset: int) -> Instruction:
    """Loads NUMBER or PROCESSOR for the next instructions."""
    return _LOAD, offset, "", ""


def argument(index: int) -> Instruction:
    """Loads an argument of the call for the next instructions; the first is 0."""
    return _LOAD, _ARGUMENTS + 8 * index, "", ""


def keep(bits: int) -> Instruction:
    """Sets all other bits of the loaded value to 0."""
    return _AND, bits, "", ""


def is_equal(value: int, yes: str = "", no: str = "") -> Instruction:
    return _IS_EQUAL, value & 0xFFFFFFFF, yes, no


def is_higher(value: int, yes: str = "", no: str = "") -> Instruction:
    return _IS_HIGHER, value, yes, no


def has_bits(bits: int, yes: str = "", no: str = "") -> Instruction:
    """Tests whether at least one of the bits is set."""
    return _HAS_BITS, bits, yes, no


def assemble(lines: "list[Line]") -> bytes:
    """Returns the array of `struct sock_filter`. A label is used once, after all jumps to it.

    Raises:
        KeyError: a label does not exist, or is before the jump.
        OverflowError: it is too far.
    """
    places: dict[str, int] = {}
    found: list[bytes] = []
    left = sum(not isinstance(line, str) for line in lines)
    for line in reversed(lines):
        if isinstance(line, str):
            places[line] = len(found)
            continue
        code, constant, yes, no = line
        distances = [len(found) - places[label] if label else 0 for label in (yes, no)]
        if max(distances) > _FARTHEST:
            raise OverflowError(f"instruction {left - len(found)} jumps too far")
        found.append(struct.pack("=HBBI", code, *distances, constant))
    return b"".join(reversed(found))
