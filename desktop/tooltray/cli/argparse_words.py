"""The texts with which argparse rejects a line, for the catalogues.

Only scripts/languages.py reads this module; no command imports it, since `say` recognises such a text by its words.
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
