"""What argparse says of a line that it cannot read, for the catalogues.

Above it: scripts/languages.py, which reads it; no command imports it, since `say` recognises such a text by its words.
"""

from tooltray.foundation.phrases import Phrase

OF_ARGPARSE = (
    Phrase("argument {option}", option=""),
    Phrase("expected one argument"),
    Phrase("expected at least one argument"),
    Phrase("invalid choice: {value} (choose from {choices})", value="", choices=""),
    Phrase("invalid {kind} value: {value}", kind="", value=""),
    Phrase("not allowed with argument {option}", option=""),
    Phrase("the following arguments are required: {names}", names=""),
    Phrase("unrecognized arguments: {words}", words=""),
    Phrase("ambiguous option: {option} could match {others}", option="", others=""),
    Phrase("one of the arguments {names} is required", names=""),
    Phrase("ignored explicit argument {value}", value=""),
)
