"""How many tokens definitions cost, in words. Above it: cards, tables and details."""

from tooltray.ui.i18n import tr


def tokens(shown: int, of: int) -> str:
    """Returns what definitions cost: as a client gets them, and all of them; what finds tools can outweigh what is hidden."""
    if shown >= of:
        return tr("1 token") if shown == 1 else tr("{count} tokens", count=f"{shown:,}")
    return tr("{shown} of {count} tokens", shown=f"{shown:,}", count=f"{of:,}")
