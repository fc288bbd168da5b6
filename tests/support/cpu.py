"""Work under a limit of processor time: each piece runs in a child process, which the kernel ends at the limit."""

import os
import resource
import signal
import traceback
from collections.abc import Callable

SECONDS = 1


def ends_in_time(work: Callable[[], object]) -> bool:
    """Whether it takes less than a second of processor time. It must not use connections of this process."""
    child = os.fork()
    if child == 0:
        _run(work)
    status = os.waitpid(child, 0)[1]
    if os.WIFSIGNALED(status):
        assert os.WTERMSIG(status) in (signal.SIGXCPU, signal.SIGKILL), f"ended by signal {os.WTERMSIG(status)}"
        return False
    assert os.WEXITSTATUS(status) == 0, "the work raised an error; it is printed above"
    return True


def _run(work: Callable[[], object]) -> None:
    """In the child, whose processor time begins at zero; nothing of the parent's exit handlers may run here."""
    status = 1
    try:
        resource.setrlimit(resource.RLIMIT_CORE, (0, 0))
        resource.setrlimit(resource.RLIMIT_CPU, (SECONDS, SECONDS + 1))
        work()
        status = 0
    except BaseException:
        traceback.print_exc()
    finally:
        os._exit(status)
