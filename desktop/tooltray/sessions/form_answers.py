"""Whether an answer to a form of our own comes from a person: many AI clients declare that they show forms, and run where nobody sees one.

Above it: approvals and reports, which ask an AI client's person. Answers to servers' questions are the servers' to judge: they pass as they
are.
"""

AT_ONCE_S = 0.7  # nobody reads a form and answers it in less; clients without a screen answer within milliseconds


def is_persons_no(action: object, waited_s: float) -> bool:
    """Whether a person said no by an answer that says no yes. `cancel` is what the protocol has for a form that was left alone.

    Args:
        action: of the `elicitation/create` result.
        waited_s: for how long the client had the form.
    """
    return action in ("accept", "decline") and waited_s >= AT_ONCE_S
