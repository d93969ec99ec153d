"""Parsers of options' values, used as `type=` of argparse, which reports "invalid <name> value" for a ValueError."""

import argparse
import math
import os
import re
import shlex
from collections.abc import Callable
from typing import TypeVar

from tooltray.cli.speech import tr

Number = TypeVar("Number", int, float)
NONE = "none"
STDIN = "-"  # instead of a file, as in many programs

URL = re.compile(r"https?://[^/?#]", re.IGNORECASE)
HEADER_NAME = re.compile(r"[!#$%&'*+.^_`|~0-9A-Za-z-]{1,128}")  # RFC 9110, section 5.1
VARIABLE = re.compile(r"[A-Za-z_][A-Za-z0-9_]*")
TIME = re.compile(r"([1-9][0-9]{0,8})([smhd])")
UNITS_S = {"s": 1, "m": 60, "h": 3600, "d": 86400}


def is_path(text: str) -> bool:
    """Reports whether a word is a file and not an id, which has only letters and hyphens."""
    return text == STDIN or bool(set(text) & {"/", "\\", "."}) or os.path.isfile(text)


def words(text: str) -> str:
    try:
        shlex.split(text)
    except ValueError as error:
        raise argparse.ArgumentTypeError(tr("cannot be read: {error}", error=error)) from None
    return text


def some_text(text: str) -> str:
    if not text.strip():
        raise argparse.ArgumentTypeError(tr("it is empty"))
    return text


def _between(name: str, read: Callable[[str], Number], least: float, most: float) -> Callable[[str], Number]:
    def parse(text: str) -> Number:
        found = read(text)
        if not least <= found <= most:  # also refuses nan
            raise ValueError
        return found

    parse.__name__ = name  # argparse says "invalid <name> value"
    return parse


seconds = _between("number of seconds", float, 0, 10**7)
some_seconds = _between("number of seconds above 0", float, 5e-324, 10**7)
line_count = _between("number of lines", int, 1, 10**6)
number = _between("number", int, 1, math.inf)
port = _between("port", int, 0, 65535)


def tokens(text: str) -> int | None:
    if text != NONE and not text.isdecimal():
        raise argparse.ArgumentTypeError(tr("it must be a number from 500, or none"))
    return None if text == NONE else int(text)


def time(text: str) -> float:
    found = TIME.fullmatch(text)
    if not found:
        raise ValueError
    return float(int(found[1]) * UNITS_S[found[2]])


def assignment(text: str) -> tuple[str, str]:
    name, mark, value = text.partition("=")
    if not VARIABLE.fullmatch(name) or not mark:
        raise argparse.ArgumentTypeError(tr("KEY=VALUE expected"))
    return name, value


def field_value(text: str) -> tuple[str, str]:
    key, mark, value = text.partition("=")
    if not key or not mark:
        raise argparse.ArgumentTypeError(tr("KEY=VALUE expected"))
    return key, value


def variable(text: str) -> str:
    if not VARIABLE.fullmatch(text):
        raise argparse.ArgumentTypeError(
            tr("the name of an environment variable expected; its value is asked for")
        )  # and is not repeated here
    return text


def url(text: str) -> str:
    if not URL.match(text) or not text.isprintable() or " " in text:
        raise argparse.ArgumentTypeError(tr("an address that begins with https:// or http:// expected"))
    return text


def header(text: str) -> tuple[str, str]:
    name, mark, value = text.partition(":")
    if not mark or not HEADER_NAME.fullmatch(name.strip()) or not value.strip().isprintable() or not value.strip():
        raise argparse.ArgumentTypeError(tr("'NAME: VALUE' expected"))
    return name.strip(), value.strip()


def header_name(text: str) -> str:
    if not HEADER_NAME.fullmatch(text):
        raise argparse.ArgumentTypeError(tr("the name of a header expected; its value is asked for"))  # and is not repeated here
    return text


time.__name__ = "time (90s, 30m, 8h, 7d)"
