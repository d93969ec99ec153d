"""lazy_loggers.py"""

import pytest

from tooltray.foundation.lazy_loggers import lazy_logger


@pytest.mark.expected_warnings("went wrong")
def test_a_lazy_logger_is_the_logger_of_its_name(caplog: pytest.LogCaptureFixture) -> None:
    lazy_logger("tooltray.some").warning("%s went wrong", "it")
    assert [(record.name, record.getMessage(), record.filename) for record in caplog.records] == [
        ("tooltray.some", "it went wrong", "test_lazy_loggers.py")
    ]
