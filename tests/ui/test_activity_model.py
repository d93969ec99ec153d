"""The model of the list drops answers that nobody waits for any more, and says when it cannot follow."""

import asyncio
from collections.abc import AsyncIterator

import pytest
from tests.fakes.desk import until
from tests.fakes.journal_in_memory import entry

from tooltray.foundation.errors import Problem, TooltrayError
from tooltray.foundation.snapshots.activity import ActivityFilter, ActivityRow
from tooltray.foundation.tasks import TaskKeeper
from tooltray.ui.activity.activity_model import ActivityModel
from tooltray.ui.theme import Theme
from tooltray.ui.widgets.row_model import Column


class SlowJournal:
    """Answers when it is told to; `asked`: what was wanted, with the future of its answer."""

    def __init__(self) -> None:
        self.asked: list[tuple[str, int, asyncio.Future[list[ActivityRow]]]] = []

    async def read(self, filter: ActivityFilter, before: int, limit: int, collapsed: bool) -> list[ActivityRow]:
        answer: asyncio.Future[list[ActivityRow]] = asyncio.get_running_loop().create_future()
        self.asked.append((filter.text, before, answer))
        return await answer

    async def next(self) -> tuple[str, int, asyncio.Future[list[ActivityRow]]]:
        await until(lambda: self.asked)
        return self.asked.pop(0)

    async def answer(self, *ids: int) -> None:
        (await self.next())[2].set_result(rows(*ids))


def rows(*ids: int) -> list[ActivityRow]:
    return [ActivityRow(entry(id), 1, id, 0.0) for id in ids]


def ids(model: ActivityModel) -> list[int]:
    shown = [model.row(place).row for place in range(model.rowCount())]
    return [row.entry.id for row in shown if row is not None]


@pytest.fixture
async def tasks(theme: Theme) -> AsyncIterator[TaskKeeper]:
    keeper = TaskKeeper()
    yield keeper
    await keeper.close()


async def test_an_answer_to_an_older_search_is_never_shown(tasks: TaskKeeper) -> None:
    journal = SlowJournal()
    model = ActivityModel([Column("", str)], journal.read, tasks)
    model.show_filter(ActivityFilter(text="a"), is_collapsed=True)
    (_, _, first) = await journal.next()
    for text in ("ab", "abc"):
        model.show_filter(ActivityFilter(text=text), is_collapsed=True)
    shown: list[list[int]] = []
    model.reset_done.connect(lambda: shown.append(ids(model)))
    first.set_result(rows(9))
    (text, _, second) = await journal.next()
    assert (text, ids(model)) == ("abc", [])
    second.set_result(rows(3))
    await until(lambda: shown)
    assert shown == [[3]]


async def test_a_page_and_new_rows_of_an_older_list_are_dropped(tasks: TaskKeeper) -> None:
    journal = SlowJournal()
    model = ActivityModel([Column("", str)], journal.read, tasks)
    model.show_filter(ActivityFilter(), is_collapsed=True)
    await journal.answer(9, 8)
    await until(lambda: ids(model) == [9, 8])
    model.look_at(0, 1)
    (_, before, page) = await journal.next()
    assert before == 8
    model.look_for_new()
    (_, _, top) = await journal.next()
    model.show_filter(ActivityFilter(text="x"), is_collapsed=True)
    await journal.answer(5)
    await until(lambda: ids(model) == [5])
    page.set_result(rows(7))
    top.set_result(rows(10, 9))
    await until(lambda: len(tasks) == 0)
    assert ids(model) == [5]


async def test_a_list_that_cannot_follow_says_so_and_stays(tasks: TaskKeeper) -> None:
    journal = SlowJournal()
    model = ActivityModel([Column("", str)], journal.read, tasks)
    behind: list[bool] = []
    model.fell_behind.connect(lambda: behind.append(True))
    model.look_for_new()
    await journal.answer(9)
    await until(lambda: ids(model) == [9])
    model.look_for_new()
    await journal.answer(900, 899)
    await until(lambda: behind)
    assert ids(model) == [9]


async def test_a_page_that_cannot_be_read_is_said_until_one_can(tasks: TaskKeeper) -> None:
    journal = SlowJournal()
    model = ActivityModel([Column("", str)], journal.read, tasks)
    said: list[Problem | None] = []
    model.failed.connect(said.append)
    model.show_filter(ActivityFilter(), is_collapsed=True)
    await journal.answer(9)
    await until(lambda: model.rowCount())
    model.look_at(0, 0)
    (await journal.next())[2].set_exception(TooltrayError("The journal cannot be read"))
    await until(lambda: said == [Problem("The journal cannot be read")])
    model.look_at(0, 0)
    await journal.answer(8)
    await until(lambda: said[-1] is None)
    assert ids(model) == [9, 8]
