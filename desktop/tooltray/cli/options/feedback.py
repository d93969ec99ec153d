"""What can be typed behind `tooltray feedback`.

Above it: arguments. Knows the names of the functions that carry it out, not the functions.
"""

from tooltray.cli.options import values
from tooltray.cli.options.usage import Commands, command, group

FEEDBACK_LINES = 20


def declare(commands: Commands) -> None:
    feedback = group(commands, "feedback", "answer the reports of models, where no window shows them")
    command(feedback, "list", "list the reports that wait for an answer", "feedback:list_reports")
    command(feedback, "show", "show one report whole", "feedback:show").add_argument("id", metavar="ID")
    answer = command(feedback, "answer", "answer a report", "feedback:answer")
    answer.add_argument("id", metavar="ID", help="as `feedback list` shows it")
    answer.add_argument("text", metavar="TEXT", nargs="?", help="what the model is to know")
    answer.add_argument("--image", metavar="FILE", action="append", default=[], help="a picture to go with it: PNG, JPEG, GIF or WebP")
    answer.add_argument("--file", metavar="FILE", action="append", default=[], help="a file to go with it; of a large one the path")
    command(feedback, "dismiss", "put a report away without an answer", "feedback:dismiss").add_argument("id", metavar="ID")
    history = command(feedback, "history", "list earlier reports and how they ended", "feedback:history")
    history.add_argument("--project", metavar="DIR", help="of this project alone")
    history.add_argument(
        "-n", "--lines", metavar="LINES", type=values.line_count, default=FEEDBACK_LINES, help=f"default: {FEEDBACK_LINES}"
    )
