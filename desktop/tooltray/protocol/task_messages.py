"""Messages about tasks of servers, in both forms: reads ids and states, and replaces ids.

Legacy (2025-11-25): `task: {taskId, status, ttl}` in the answer to a call, `_meta` that names the related task. Modern (the extension
`io.modelcontextprotocol/tasks`): `resultType: "task"` and the task's members beside it, times as `ttlMs`. Only the members named here are
opened, and messages that are not about a task stay unchanged.
"""

import contextlib
from collections.abc import Awaitable, Callable, Mapping

import msgspec
from msgspec import Raw

from tooltray.protocol import eras
from tooltray.protocol.envelope import INVALID_PARAMS, NOTHING, Envelope, dump, failure
from tooltray.protocol.eras import MISSING_CLIENT_CAPABILITY, RELATED_TASK_KEY, TASKS_EXTENSION
from tooltray.protocol.member_scanner import closed, opened

WORKING, COMPLETED, CANCELLED = "working", "completed", "cancelled"
ENDED = frozenset({COMPLETED, "failed", CANCELLED})  # states that no task leaves
STATES = ENDED | {WORKING, "input_required"}
STATUS_NEWS = frozenset({"notifications/tasks/status", "notifications/tasks"})  # legacy, modern
LONGEST_BEGUN_BYTES = 2**20  # of an answer that begins a task, which usually has a few hundred; larger ones are results of calls
EXTENSION_HINT = TASKS_EXTENSION[TASKS_EXTENSION.index("/") :].encode()  # its end, which is the same if the slash is escaped
LONGEST_ID_BYTES = 4096  # of a server's task id; ids in use have 36


class TaskState(msgspec.Struct, frozen=True):
    """The state of a task.

    Attributes:
        id: the server's own; empty if the server gives no usable one.
        status: one of STATES, or a status of the server's own.
        ttl_s: how long the server keeps the task from its beginning, in seconds; None: unlimited or not given.
    """

    id: str
    status: str = WORKING
    ttl_s: float | None = None


def declares_tasks(params: Raw) -> bool:
    """Returns whether a modern request declares that its client knows the extension."""
    head = eras.read_head(params)
    with contextlib.suppress(ValueError):
        return head is not None and TASKS_EXTENSION in opened(opened(head.meta.capabilities).get("extensions", NOTHING))
    return False


def read_begun(result: Raw) -> TaskState | None:
    """Returns the task that an answer to a call begins; None for an ordinary result."""
    if not result or len(memoryview(result)) > LONGEST_BEGUN_BYTES:
        return None
    with contextlib.suppress(ValueError):
        members = opened(result)
        if members.get("resultType") == Raw(b'"task"'):
            return _state(members)
        if "task" in members and "content" not in members:
            return _state(opened(members["task"]))
    return None


def read_state(members: Raw) -> TaskState | None:
    """Returns the task in an answer, a list or a notification; None if it is not a task."""
    with contextlib.suppress(ValueError):
        return _state(opened(members))
    return None


def has_outcome(members: Raw) -> bool:
    """Returns whether a task that `read_state` can read contains the result or the error of its call."""
    return not {"result", "error"}.isdisjoint(opened(members))


def read_id(params: Raw) -> str:
    """Returns the id of the task that a request or a notification is about; empty if the message has none."""
    with contextlib.suppress(ValueError):
        return _text(opened(params).get("taskId", NOTHING))
    return ""


def read_related(params: Raw) -> str:
    """Returns the id of the task that a message names in its `_meta`; empty if it names none."""
    if RELATED_TASK_KEY.encode() not in bytes(params):
        return ""
    with contextlib.suppress(ValueError):
        return _text(opened(opened(opened(params).get("_meta", NOTHING)).get(RELATED_TASK_KEY, NOTHING)).get("taskId", NOTHING))
    return ""


def with_id(task: Raw, id: str) -> Raw:
    """Returns a task, or the params of a message about a task, with another id; unchanged if it has no id."""
    with contextlib.suppress(ValueError):
        members = opened(task)
        return closed(members | {"taskId": dump(id)}) if "taskId" in members else task
    return task


def begun_as(result: Raw, id: str) -> Raw:
    """Returns the answer that begins a task, with another id."""
    members = opened(result)
    if "task" in members:
        return closed(members | {"task": with_id(members["task"], id)})
    return with_id(result, id)


def related_to(message: Raw, id: str) -> Raw:
    """Returns a message whose `_meta` names a task, with another id there."""
    if not read_related(message):
        return message
    members = opened(message)
    meta = opened(members["_meta"])
    meta[RELATED_TASK_KEY] = with_id(meta[RELATED_TASK_KEY], id)
    return closed(members | {"_meta": closed(meta)})


async def with_result(reply: Envelope, is_state: bool, change: Callable[[Envelope], Awaitable[Envelope]]) -> Envelope:
    """Returns a reply about a task with its result changed.

    Args:
        reply: not an error.
        is_state: whether the reply is the task's state, which contains the result once the task has one; False: the reply is the result.
    """
    if not is_state:
        return await change(reply)
    try:
        members = opened(reply.result)
    except ValueError:
        return reply
    if "result" not in members:
        return reply
    before = Envelope(result=members["result"])
    after = await change(before)
    return reply if after is before else Envelope(result=closed(members | {"result": after.result}))


def asked_with(params: Raw, own_id: str) -> Raw:
    """Returns the params of a request with the server's own id, so that no parser takes it for another one."""
    return eras.named_once(params, "taskId", taskId=dump(own_id))


def not_found() -> Envelope:
    """Returns the answer for a task that does not exist or belongs to another client."""
    return failure(INVALID_PARAMS, "Failed to retrieve task: Task not found")


def undeclared() -> Envelope:
    """Returns the answer for a modern client that does not declare that it knows tasks."""
    missing: Mapping[str, object] = {"requiredCapabilities": {"extensions": {TASKS_EXTENSION: {}}}}
    return failure(MISSING_CLIENT_CAPABILITY, "Missing required client capability", missing)


def _state(members: Mapping[str, Raw]) -> TaskState:
    id = _text(members.get("taskId", NOTHING))
    is_usable = len(id.encode(errors="replace")) <= LONGEST_ID_BYTES
    ttl_ms = _number(members.get("ttlMs", members.get("ttl", NOTHING)))
    return TaskState(id if is_usable else "", _text(members.get("status", NOTHING)) or WORKING, None if ttl_ms is None else ttl_ms / 1000)


def _text(value: Raw) -> str:
    try:
        return msgspec.json.decode(value, type=str) if value else ""
    except ValueError:
        return ""


def _number(value: Raw) -> float | None:
    try:
        found = msgspec.json.decode(value, type=float | None) if value else None
    except ValueError:
        return None
    return found if found is not None and 0 <= found < float("inf") else None
