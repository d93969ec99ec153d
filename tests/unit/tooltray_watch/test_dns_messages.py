"""Names and addresses in what programs say to a resolver."""

import json
import struct

import pytest
from hypothesis import given
from hypothesis import strategies as st

from tooltray_watch import dns_messages


def message(name: str, *records: tuple[int, bytes], pointer: bool = True) -> bytes:
    labels = b"".join(bytes([len(each)]) + each.encode() for each in name.split(".")) + b"\0"
    owner = b"\xc0\x0c" if pointer else labels
    answers = b"".join(owner + struct.pack(">HHIH", kind, 1, 60, len(data)) + data for kind, data in records)
    return struct.pack(">HHHHHH", 7, 0x8180, 1, len(records), 0, 0) + labels + struct.pack(">HH", 1, 1) + answers


@pytest.mark.parametrize("pointer", [True, False])
def test_an_answer_has_the_name_and_its_addresses(pointer: bool) -> None:
    found = message("API.example.org", (5, b"\1x\0"), (1, bytes([192, 0, 2, 1])), (28, bytes(15) + b"\1"), pointer=pointer)
    assert dns_messages.question(found) == "api.example.org"
    assert dns_messages.addresses(found) == ("192.0.2.1", "::1")


def test_what_is_cut_has_what_is_there() -> None:
    whole = message("example.org", (1, bytes([192, 0, 2, 1])), (1, bytes([192, 0, 2, 2])))
    assert dns_messages.addresses(whole[:-8]) == ("192.0.2.1",)
    assert dns_messages.question(whole[:14]) == ""
    assert dns_messages.addresses(b"") == ()


def test_what_is_no_name_of_a_host_is_none() -> None:
    assert dns_messages.question(message("a b.example")) == ""
    assert dns_messages.question(struct.pack(">HHHHHH", 0, 0, 0, 0, 0, 0)) == ""
    assert dns_messages.checked("a" * 64) == dns_messages.checked("a." * 130) == ""


@given(st.binary(max_size=200))
def test_anything_may_come(data: bytes) -> None:
    dns_messages.question(data)
    dns_messages.addresses(data)
    dns_messages.question_to_resolved(data)
    dns_messages.addresses_of_resolved(data)


def test_systemds_resolver_is_asked_in_json() -> None:
    asked = json.dumps({"method": "io.systemd.Resolve.ResolveHostname", "parameters": {"name": "example.org", "flags": 0}}).encode()
    assert dns_messages.question_to_resolved(asked + b"\0") == "example.org"
    assert dns_messages.question_to_resolved(b"{}") == ""
    answer = {"parameters": {"addresses": [{"family": 2, "address": [192, 0, 2, 1]}, {"address": [999, 0, 2, 1]}]}}
    assert dns_messages.addresses_of_resolved(json.dumps(answer).encode()) == ("192.0.2.1",)
