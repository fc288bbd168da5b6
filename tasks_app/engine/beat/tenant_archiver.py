"""Takes tenants that are being archived there, table by table; in a thread of its own."""

import logging
import threading

from django.db import DatabaseError

from tasks_app.conf import conf
from tasks_app.core.at_work import MARKS, Kind
from tasks_app.core.phrases import first_line
from tasks_app.engine.nodes import process_name
from tasks_app.lifecycle.stalls import SKIPPED
from tasks_app.lifecycle.tenant_archive import Overtaken, release, take, work

log = logging.getLogger(__name__)

CHORE = "tenant_archive"

_stopped = threading.Event()


class Stopped(Exception):
    """This beat ends; the next one to look goes on."""


def archive_tenants() -> str:
    """Each that nobody else works on, as far as it goes now. Returns what it did, for the log."""
    if not conf().ARCHIVE_URL:
        return "no archive"
    from tasks_app.archive.place import FAULTS, the_archive  # needs pyarrow, which only who has an archive has

    _stopped.clear()
    seen = sorted(SKIPPED.of(Kind.TENANT, CHORE))
    skipped = len(seen)
    done = 0
    while not _stopped.is_set() and (mine := take(process_name(), seen)) is not None:
        seen.append(mine.tenant)
        error = ""
        try:
            with MARKS.on(Kind.TENANT, mine.tenant, CHORE, patient=True):
                done += work(the_archive(), mine, _pulse)
        except (Overtaken, Stopped):
            pass
        except (*FAULTS, DatabaseError) as fault:
            error = first_line(str(fault).strip()) or type(fault).__name__
            error = "".join(character for character in error if character.isprintable())
            log.error("tenant.not_archived tenant=%s error=%r", mine.tenant, error)
        release(mine, error)
    return f"{len(seen) - skipped} tenants, {done} done"


def stop_archiving_tenants() -> None:
    """Between two row groups; a table that is half written is begun anew by whoever comes next."""
    _stopped.set()


def _pulse() -> None:
    if _stopped.is_set():
        raise Stopped
