"""A thread for a chore that may take long. It stays for a while if the chore comes again soon, and its connection with
it: a new session, and its look at the server, would cost more statements than many a chore."""

import threading
from collections.abc import Callable

from tasks_app.database import close_connections, leave_other_databases


class Aside(threading.Thread):
    """Does its work once when it is started, and again whenever it is told to in time; else it ends by itself."""

    def __init__(self, name: str, work: Callable[[], object], stays_seconds: float) -> None:
        super().__init__(name=name, daemon=True)
        self._work = work
        self._stays_seconds = stays_seconds
        self._changed = threading.Condition()
        self._busy = True
        self._over = False

    @property
    def busy(self) -> bool:
        return self._busy

    def again(self) -> bool:
        """Do it once more; False: this thread is busy, or does nothing any more."""
        with self._changed:
            if self._busy or self._over:
                return False
            self._busy = True
            self._changed.notify_all()
            return True

    def wait_done(self, seconds: float) -> None:
        """Until it has done what it was told to; so long at most."""
        with self._changed:
            self._changed.wait_for(lambda: not self._busy, seconds)

    def end(self) -> None:
        """After what it does now."""
        with self._changed:
            self._over = True
            self._changed.notify_all()

    def run(self) -> None:
        try:
            while True:
                self._work()
                if not self._is_wanted():
                    break
        finally:
            with self._changed:
                self._over, self._busy = True, False
                self._changed.notify_all()
            close_connections()

    def _is_wanted(self) -> bool:
        """Waits until it is told to go on, or nobody has for long enough."""
        leave_other_databases()  # apps' code may have used them
        with self._changed:
            self._busy = False
            self._changed.notify_all()
            self._changed.wait_for(lambda: self._busy or self._over, self._stays_seconds)
            self._over |= not self._busy
            return self._busy
