"""How a Problem is written where a person reads it."""

from tooltray.errors import Problem


def title(problem: Problem) -> str:
    """Returns what happened, as the beginning of a sentence."""
    return problem.title[:1].upper() + problem.title[1:]


def sentences(problem: Problem) -> str:
    """Returns the facts and what to do, as sentences below the title."""
    return " ".join(_sentence(part) for part in (problem.message, problem.hint) if part.strip())


def whole(problem: Problem) -> str:
    """Returns everything that is known of it."""
    return " ".join(_sentence(part) for part in (problem.title, problem.message, problem.hint) if part.strip())


def _sentence(text: str) -> str:
    text = text.strip()
    if text.split(maxsplit=1)[0].strip(",;:").isalpha():  # a file's or a command's name stays as it is
        text = text[0].upper() + text[1:]
    return text + ("" if text.endswith((".", "!", "?", ":", "。")) else ".")
