"""Scenes of servers' questions: a form, a form with faults, a page to be opened."""

import time

from msgspec.structs import replace
from PySide6.QtCore import Qt
from PySide6.QtTest import QTest
from tests.fakes.desk import until
from tests.ui.scenes.opened_desk import desk
from tests.ui.scenes.shot import Shot

from tooltray.foundation.events import ElicitationAsked
from tooltray.foundation.snapshots.questions import AnswerKind, ElicitationField, ElicitationOption, ElicitationSnapshot
from tooltray.ui.theme import Theme

A = AnswerKind
FORM = ElicitationSnapshot(
    id="1",
    server="travel",
    mode="form",
    message="Which flight do you want?\nThe booking is made at once; it can be cancelled for 24 hours.",
    ends_at=time.time() + 600,
    fields=(
        ElicitationField("name", "Name on the ticket", A.TEXT, is_required=True, description="As in the passport."),
        ElicitationField("mail", "E-mail", A.TEXT, format="email", is_required=True),
        ElicitationField(
            "seat",
            "Seat",
            A.CHOICE,
            is_required=True,
            options=tuple(ElicitationOption(each, each.title()) for each in ("window", "aisle", "no preference")),
        ),
        ElicitationField(
            "meals",
            "Meals",
            A.CHOICES,
            options=tuple(ElicitationOption(each, each.title()) for each in ("vegetarian", "no nuts")),
            default=("no nuts",),
        ),
        ElicitationField("bags", "Pieces of luggage", A.INTEGER, least=0, most=3, default=1),
        ElicitationField("insurance", "Insurance", A.BOOLEAN, default=True, description="Adds 12 euros."),
    ),
)
PAGE = ElicitationSnapshot(
    id="3",
    server="github",
    mode="url",
    message="GitHub has to know that you allow this.",
    ends_at=time.time() + 600,
    url="https://github.com/login/oauth/authorize?client_id=0123456789abcdef&scope=repo%20read%3Aorg&state=4f2a9c11d0",
)


async def asked(theme: Theme, question: ElicitationSnapshot, size: tuple[int, int] | None = None) -> Shot:
    result = await desk(theme)
    result.window.show_up()
    await until(result.window.isActiveWindow)
    result.engine.bus.publish(ElicitationAsked(question))
    await until(lambda: result.window.sheet is not None)
    return Shot(result, size=size)


async def question_form(theme: Theme) -> Shot:
    return await asked(theme, FORM)


async def question_form_small(theme: Theme) -> Shot:
    return await asked(theme, FORM, (900, 600))


async def question_faults(theme: Theme) -> Shot:
    shot = await asked(theme, replace(FORM, fields=FORM.fields[:3]))
    assert shot.desk is not None
    shot.desk.engine.bus.publish(ElicitationAsked(replace(FORM, id="2")))
    QTest.keyClick(shot.desk.window.sheet.panel, Qt.Key.Key_Return, Qt.KeyboardModifier.ControlModifier)
    return shot


async def question_page(theme: Theme) -> Shot:
    return await asked(theme, PAGE)


async def question_page_plain(theme: Theme) -> Shot:
    shot = await asked(theme, replace(PAGE, url="http://xn--pple-43d.com.sign-in.example.net:8080/"))
    shot.desk.window.sheet.panel.show_no_browser()  # type: ignore[union-attr]
    return shot


SCENES = (
    question_form,
    question_form_small,
    question_faults,
    question_page,
    question_page_plain,
)
