"""SheetView: a sheet that awaits verbs; and `confirm`, a question with two answers."""

import asyncio

from tooltray.ui.kit.page_context import PageContext
from tooltray.ui.kit.view import View
from tooltray.ui.widgets.sheet import QuestionFrame, SheetFrame


class SheetView(SheetFrame, View):
    """The base of sheets that await verbs; a failure is shown at the top of the sheet."""

    def __init__(self, context: PageContext, name: str, width: int) -> None:
        super().__init__(context.theme, name, width)
        self.context = context

    def hold(self) -> None:
        """Stops clicks beside the sheet from closing it, since its content would be lost."""
        sheet = self.context.sheets.sheet
        if sheet is not None and sheet.panel is self:
            sheet.hold()


async def confirm(context: PageContext, title: str, text: str, *, yes: str, no: str, variant: str = "primary") -> bool:
    """Asks in a sheet, and returns whether the user agreed; False without asking if another sheet is open.

    Args:
        yes, no: the texts of the buttons; `no` has the focus.
        variant: of the button `yes`, such as "danger".
    """
    agreed: asyncio.Future[bool] = asyncio.get_running_loop().create_future()

    def answer(is_yes: bool) -> None:
        if not agreed.done():
            agreed.set_result(is_yes)

    panel = QuestionFrame(context.theme, title, text, yes=yes, no=no, variant=variant, agree=lambda: answer(True))
    if (sheet := context.sheets.show(panel)) is None:
        return False
    sheet.closed.connect(lambda: answer(False))
    if await agreed:
        sheet.dismiss()
        return True
    return False
