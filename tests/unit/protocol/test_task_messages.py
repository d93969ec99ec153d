"""task_messages.py: what is read of messages about tasks, and what of them has been rewritten."""

import json
from typing import Any

import pytest
from msgspec import Raw

from tooltray.protocol import task_messages as messages
from tooltray.protocol.envelope import dump
from tooltray.protocol.task_messages import LONGEST_BEGUN_BYTES, TaskState

KEY = "io.modelcontextprotocol/related-task"
LEGACY = {"task": {"taskId": "1", "status": "working", "ttl": 60000, "later": 1}, "_meta": {"x": 1}}
MODERN = {"resultType": "task", "taskId": "1", "status": "working", "ttlMs": 60000, "later": 1}


def written(raw: Raw) -> Any:
    return json.loads(bytes(raw))


@pytest.mark.parametrize("result", [LEGACY, MODERN])
def test_both_forms_of_a_task_are_read_and_get_another_id(result: dict[str, Any]) -> None:
    assert messages.read_begun(dump(result)) == TaskState("1", "working", 60.0)
    assert json.loads(bytes(messages.begun_as(dump(result), "other"))) == json.loads(json.dumps(result).replace('"1"', '"other"'))


@pytest.mark.parametrize(
    "result",
    [
        b"",
        b"[]",
        b"7",
        b"{}",
        b'{"resultType":"complete","taskId":"1"}',
        b'{"task":7}',
        b'{"task":{},"content":[]}',
        b'{"task":{"taskId":"%b"}}' % (b"x" * LONGEST_BEGUN_BYTES),
    ],
)
def test_what_is_no_task_is_a_result_as_any_other(result: bytes) -> None:
    assert messages.read_begun(Raw(result)) is None


@pytest.mark.parametrize(("ttl", "ttl_s"), [(None, None), (0, 0.0), (1.5, 0.0015), (-1, None), ("x", None), (10**400, None)])
def test_a_time_is_taken_if_it_is_one(ttl: Any, ttl_s: float | None) -> None:
    state = messages.read_state(Raw(json.dumps({"taskId": "1", "ttl": ttl}).encode()))
    assert state == TaskState("1", "working", ttl_s)


def test_what_cannot_be_read_has_no_id_and_stays_as_it_is() -> None:
    for nonsense in (b"[]", b"7", b"{}", b'{"taskId":7}', b'{"_meta":7}', b'{"_meta":{"%b":7}}' % KEY.encode()):
        raw = Raw(nonsense)
        assert messages.read_id(raw) == messages.read_related(raw) == ""
        assert messages.related_to(raw, "2") == raw
    assert messages.read_state(Raw(b"[]")) is None
    assert messages.with_id(Raw(b"[]"), "2") == Raw(b"[]")
    assert messages.with_id(Raw(b'{"x":1e400}'), "2") == Raw(b'{"x":1e400}')


def test_a_related_task_is_read_and_gets_another_id() -> None:
    message = {"message": "?", "_meta": {"x": 1, KEY: {"taskId": "1", "y": 2}}}
    assert messages.read_related(dump(message)) == "1"
    other = {"message": "?", "_meta": {"x": 1, KEY: {"taskId": "2", "y": 2}}}
    assert written(messages.related_to(dump(message), "2")) == other


def test_no_parser_reads_another_id_than_the_one_that_was_looked_at() -> None:
    asked = messages.asked_with(Raw(b'{"taskId":"of somebody else","TaskID":"too","taskId":"own","x":1}'), "own")
    assert written(asked) == {"taskId": "own", "x": 1}


@pytest.mark.parametrize(
    "capabilities", ["null", "[]", "{}", '{"extensions":7}', '{"extensions":{}}', '{"x":"io.modelcontextprotocol/tasks"}']
)
def test_a_client_knows_tasks_only_if_it_says_so_where_it_should(capabilities: str) -> None:
    envelope = '{"_meta":{"io.modelcontextprotocol/protocolVersion":"2026-07-28","io.modelcontextprotocol/clientCapabilities":%s}}'
    assert not messages.declares_tasks(Raw((envelope % capabilities).encode()))
    assert messages.declares_tasks(Raw((envelope % '{"extensions":{"io.modelcontextprotocol/tasks":{}}}').encode()))
    assert not messages.declares_tasks(Raw(b"[]"))
