"""Runs classic BPF as the kernel does for seccomp, of the instructions that tooltray_confine writes."""

import struct

ERRNO = 0x00050000


def run(program: bytes, number: int, *arguments: int, processor: int) -> int:
    """What the filter answers to a system call."""
    padded = [each & 0xFFFFFFFFFFFFFFFF for each in (*arguments, *[0] * 6)][:6]
    data = struct.pack("=iIQ6Q", number, processor, 0, *padded)
    at, looked_at = 0, 0
    while True:
        code, yes, no, constant = struct.unpack_from("=HBBI", program, 8 * at)
        at += 1
        match code:
            case 0x20:
                (looked_at,) = struct.unpack_from("=I", data, constant)
            case 0x54:
                looked_at &= constant
            case 0x06:
                return int(constant)
            case 0x15:
                at += yes if looked_at == constant else no
            case 0x25:
                at += yes if looked_at > constant else no
            case 0x45:
                at += yes if looked_at & constant else no
            case _:
                raise AssertionError(f"code {code:#x}")
