"""question_snapshots.py: a person is offered the answers that make sense at that moment."""

from pathlib import Path

from tests.fakes.approval_desk import desk


async def test_a_caller_without_a_session_is_not_offered_one(tmp_path: Path) -> None:
    async with desk(tmp_path) as here:
        call = here.calling(client=here.parts.client())
        assert (await here.answer("refuse")).choices == ("once", "hour", "day", "always")
        await call
