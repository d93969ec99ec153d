"""JSON nested as deep as it can be read, and deeper. Each version of Python has a limit of its own."""

import msgspec

TOO_DEEP = 100_000  # arrays in arrays; the largest limit is some 10,000


def depths_at_the_limit() -> range:
    """Numbers of arrays in arrays: the least of them can be read anywhere, the most nowhere."""
    low, high = 1, TOO_DEEP
    while high - low > 1:
        middle = (low + high) // 2
        try:
            msgspec.json.decode(b"[" * middle + b"]" * middle)
            low = middle
        except RecursionError:
            high = middle
    return range(low - 100, low + 10)
