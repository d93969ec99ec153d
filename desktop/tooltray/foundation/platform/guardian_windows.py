"""A hub's guard on Windows: a job object instead of a process.

The hub holds the only handle of its job, so that everything it has started ends with it, however that happens. A program that must outlive
it (a browser) is started outside of the job: win32/opening.
"""

import logging
import sys

from tooltray.foundation.platform.win32.jobs import Job

assert sys.platform == "win32"

logger = logging.getLogger(__name__)
_jobs: list[Job] = []  # for as long as the process lives: a job ends its processes when its last handle is closed


def guard_this_process() -> None:
    """Puts this process into a job; called once, before anything is started. Where another program's job forbids it, only the servers' own
    jobs remain.
    """
    try:
        job = Job(may_leave=True)
        job.take_this_process()
    except OSError as error:
        logger.warning("servers will outlive a hub that is ended by force: %s", error.strerror)
        return
    _jobs.append(job)
