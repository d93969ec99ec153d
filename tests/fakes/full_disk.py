"""A disk that takes nothing larger than a few kilobytes, for as long as a `with` block lasts."""

from collections.abc import Iterator
from contextlib import contextmanager

import pytest


@contextmanager
def full_disk(size_bytes: int = 4096) -> Iterator[None]:
    """Limits the size of every file this process writes; a longer write fails with EFBIG where a full disk gives ENOSPC."""
    try:
        import resource
    except ImportError:
        pytest.skip("Windows has no limit for the size of files")
    soft, hard = resource.getrlimit(resource.RLIMIT_FSIZE)
    resource.setrlimit(resource.RLIMIT_FSIZE, (size_bytes, hard))
    try:
        yield
    finally:
        resource.setrlimit(resource.RLIMIT_FSIZE, (soft, hard))
