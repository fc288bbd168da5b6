"""Takes what is past its hot days to the archive, and deletes there what is too old; in a thread of its own."""

import threading

from tasks_app.conf import conf
from tasks_app.engine.nodes import process_name

_stopped = threading.Event()


def archive() -> object:
    """All that is due. What fails waits, is noted for the status, and is tried again next time."""
    if not conf().ARCHIVE_URL:
        return None
    from tasks_app.archive.leave import Stopped, leave_all  # needs pyarrow, which only who has an archive has
    from tasks_app.archive.place import the_archive

    _stopped.clear()

    def pulse() -> None:
        if _stopped.is_set():
            raise Stopped

    try:
        return leave_all(the_archive(), process_name(), pulse)
    except Stopped:
        return None


def stop_archiving() -> None:
    """Between two row groups; what is half written is begun anew by whoever comes next."""
    _stopped.set()
