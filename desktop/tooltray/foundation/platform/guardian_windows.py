"""What guards a hub on Windows: a job object, in place of a process.

Above it: guardian. Below it: win32/jobs. The hub is in a job whose only handle it holds itself, so that everything it has started ends
with it, in whatever way that comes. What must outlive it (a browser) is started outside of the job: win32/opening.
"""

import logging
import sys

from tooltray.foundation.platform.win32.jobs import Job

assert sys.platform == "win32"

logger = logging.getLogger(__name__)
_jobs: list[Job] = []  # for as long as the process lives: a job ends its processes when its last handle is closed


def guard_this_process() -> None:
    """Called once, before anything is started; where another program's job forbids it, the servers' own jobs do what is left."""
    try:
        job = Job(may_leave=True)
        job.take_this_process()
    except OSError as error:
        logger.warning("servers will outlive a hub that is ended by force: %s", error.strerror)
        return
    _jobs.append(job)
