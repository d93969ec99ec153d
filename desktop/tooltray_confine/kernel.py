"""System calls that Python has no function for. `_ctypes` and not `ctypes`: the import of the latter costs 4 ms of every start of a server,
and these few lines replace all that is needed."""

import _ctypes
import posix

_COLUMNS = ("x86_64", "aarch64")
_NUMBERS = {"prctl": (157, 167), "capget": (125, 90), "capset": (126, 91), "seccomp": (317, 277)}


def number_of(name: str) -> int:
    """Returns the number of a system call on this processor, which must be a known one."""
    return _NUMBERS[name][_COLUMNS.index(posix.uname().machine)]


class Long(_ctypes._SimpleCData):  # type: ignore[type-arg]  # it takes none when it runs
    """A number as wide as a register: the type of a system call's arguments and result."""

    _type_ = "l"


class _Byte(_ctypes._SimpleCData):  # type: ignore[type-arg]
    _type_ = "B"


class Memory:
    """Bytes at a fixed address, for the kernel to read and write.

    Attributes:
        data: the bytes.
    """

    def __init__(self, data: bytes) -> None:
        self.data = bytearray(data)
        self._place = (_Byte * len(data)).from_buffer(self.data)  # what `ctypes` makes arrays with

    @property
    def address(self) -> int:
        """Returns the address, valid only while this object exists."""
        place: int = _ctypes.addressof(self._place)
        return place


class _Function(_ctypes.CFuncPtr):
    _flags_ = _ctypes.FUNCFLAG_CDECL | _ctypes.FUNCFLAG_USE_ERRNO
    _restype_ = Long


_syscall = _Function(_ctypes.dlsym(_ctypes.dlopen(None, 0), "syscall"))  # type: ignore[arg-type]  # None: this process


def call(number: int, *arguments: "int | bytes | None") -> int:
    """Makes a system call.

    Args:
        arguments: numbers, and bytes, of which the kernel gets the address.

    Raises:
        OSError: it failed.
    """
    result: int = _syscall(Long(number), *(Long(each) if isinstance(each, int) else each for each in arguments))
    if result == -1:
        code = _ctypes.get_errno()
        raise OSError(code, posix.strerror(code))
    return result
