"""What stands in messages about tasks of servers, in both forms: reads ids and states, and writes an id in the place of another.

Legacy (2025-11-25): `task: {taskId, status, ttl}` in the answer to a call, `_meta` that names the related task. Modern (the extension
`io.modelcontextprotocol/tasks`): `resultType: "task"` and the task's members beside it, times as `ttlMs`. Above it: server_tasks, and
McpClient for tasks of AI clients. Below it: eras. Nothing but the members named here is opened, and what is no task stays as it is.
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
LONGEST_BEGUN_BYTES = 2**20  # of an answer that begins a task: it has a few hundred; larger ones are results of calls
EXTENSION_HINT = TASKS_EXTENSION[TASKS_EXTENSION.index("/") :].encode()  # its end, as also stands where the slash is escaped
LONGEST_ID_BYTES = 4096  # of a server; ids in use have 36


class TaskState(msgspec.Struct, frozen=True):
    """
    Attributes:
        id: the server's own; empty where there is none that can be used.
        status: one of STATES, or whatever the server makes up.
        ttl_s: how long the server keeps the task from its beginning, in seconds; None: it does not say, or without end.
    """

    id: str
    status: str = WORKING
    ttl_s: float | None = None


def declares_tasks(params: Raw) -> bool:
    """Whether a modern request says that its client knows the extension."""
    head = eras.read_head(params)
    with contextlib.suppress(ValueError):
        return head is not None and TASKS_EXTENSION in opened(opened(head.meta.capabilities).get("extensions", NOTHING))
    return False


def read_begun(result: Raw) -> TaskState | None:
    """The task that an answer to a call begins; None for a result as any other."""
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
    """A task as it stands in an answer, a list or a notification; None if it is none."""
    with contextlib.suppress(ValueError):
        return _state(opened(members))
    return None


def has_outcome(members: Raw) -> bool:
    """Whether what `read_state` can read brings the result or the error of the task's call."""
    return not {"result", "error"}.isdisjoint(opened(members))


def read_id(params: Raw) -> str:
    """The task that a request or a notification is about; empty if there is none."""
    with contextlib.suppress(ValueError):
        return _text(opened(params).get("taskId", NOTHING))
    return ""


def read_related(params: Raw) -> str:
    """The task that a message names in its `_meta`; empty if it names none."""
    if RELATED_TASK_KEY.encode() not in bytes(params):
        return ""
    with contextlib.suppress(ValueError):
        return _text(opened(opened(opened(params).get("_meta", NOTHING)).get(RELATED_TASK_KEY, NOTHING)).get("taskId", NOTHING))
    return ""


def with_id(task: Raw, id: str) -> Raw:
    """A task, or the params of a message about one, with another id; what has no id stays as it is."""
    with contextlib.suppress(ValueError):
        members = opened(task)
        return closed(members | {"taskId": dump(id)}) if "taskId" in members else task
    return task


def begun_as(result: Raw, id: str) -> Raw:
    """The answer that begins a task, with another id."""
    members = opened(result)
    if "task" in members:
        return closed(members | {"task": with_id(members["task"], id)})
    return with_id(result, id)


def related_to(message: Raw, id: str) -> Raw:
    """A message whose `_meta` names a task, with another id there."""
    if not read_related(message):
        return message
    members = opened(message)
    meta = opened(members["_meta"])
    meta[RELATED_TASK_KEY] = with_id(meta[RELATED_TASK_KEY], id)
    return closed(members | {"_meta": closed(meta)})


async def with_result(reply: Envelope, is_state: bool, change: Callable[[Envelope], Awaitable[Envelope]]) -> Envelope:
    """A reply about a task with its result changed.

    Args:
        reply: no error.
        is_state: the reply is the task's state, which has the result inside, if the task has one by now; False: it is the result.
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
    """The params of a request with the server's own id, in a way that no parser takes for another one."""
    return eras.named_once(params, "taskId", taskId=dump(own_id))


def not_found() -> Envelope:
    """What is answered for a task that there is not, and for one of somebody else."""
    return failure(INVALID_PARAMS, "Failed to retrieve task: Task not found")


def undeclared() -> Envelope:
    """What a modern client is answered that does not say that it knows tasks."""
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
