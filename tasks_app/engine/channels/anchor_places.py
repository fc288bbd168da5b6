"""Where anchors of the audit trail are kept: a folder, a bucket, or whoever takes them at an address.

A place gets them in the order of their numbers, each at least once; one that can't be reached gets what it lacks later.
Nothing there is ever written over: after a restore two anchors may have one number, and both are evidence.
"""

import hashlib
import json
import logging
import os
from collections.abc import Callable, Iterator
from contextlib import suppress
from datetime import timedelta
from pathlib import Path
from typing import TYPE_CHECKING
from urllib.parse import urlsplit

from django.db.models.functions import Now

from tasks_app.conf import conf
from tasks_app.core.archive_url import address_of, outward
from tasks_app.core.errors import PunctualError
from tasks_app.core.phrases import first_line
from tasks_app.models import AnchorPlace
from tasks_app.outgoing import post
from tasks_app.sql import run

if TYPE_CHECKING:
    from tasks_app.archive.place import Place as ArchivePlace

log = logging.getLogger(__name__)

FILE = "anchors.jsonl"
SETTING = 'PUNCTUAL["AUDIT_ANCHOR_URLS"]'
STEP = 100
TIMEOUT_SECONDS = 10.0
ERROR_LENGTH = 300
BLOCK = 65_536  # bytes
FORGOTTEN_AFTER = timedelta(days=1)  # since anybody tried to send something there


class NotKept(PunctualError):
    """A place did not take an anchor."""


class AnchorsNotSent(PunctualError):
    """Some places lack anchors; the others have them."""


def label_of(url: str) -> str:
    """As it may be shown and stored: the path of a web address may be all the secret there is, and options tell buckets
    of one name apart."""
    if url.startswith(("http://", "https://")):
        parts = urlsplit(url)
        return f"{parts.scheme}://{parts.netloc.rpartition('@')[2]} ({_hash(url)[:8]})"
    return f"{outward(url)} ({_hash(url)[:8]})" if "?" in url else outward(url)


def send_anchors() -> int:
    """To each place what it lacks. Returns how many were sent; raises AnchorsNotSent when a place has not got all."""
    sent, failed = 0, []
    known = dict(AnchorPlace.objects.values_list("place", "sent_no"))
    for url in conf().AUDIT_ANCHOR_URLS:
        label = label_of(url)
        try:
            sent += _send(url, label, known.get(label, 0))
        except (PunctualError, OSError) as error:
            words = first_line(str(error)) or type(error).__name__
            log.warning("anchor.not_sent place=%s error=%r", label, words)
            _note(label, 0, sent=False, error=words[:ERROR_LENGTH])
            failed.append(f"{label}: {words}")
    if failed:
        raise AnchorsNotSent("; ".join(failed))
    return sent


def forget_places() -> int:
    """Those that are not in the settings any more: of a beat, since a command may have others. Not at once, since other
    beats may have others, too, while settings are being changed. Returns how many."""
    left = AnchorPlace.objects.exclude(place__in=[label_of(url) for url in conf().AUDIT_ANCHOR_URLS])
    deleted: int = left.filter(tried_at__lt=Now() - FORGOTTEN_AFTER).delete()[0]
    return deleted


def read_anchors(place: str) -> Iterator[str]:
    """The lines that lie in a folder, a file or a bucket. Raises OSError."""
    if place.startswith("s3://"):
        found = _bucket(place)
        for one in found.files("anchors"):
            yield found.read(one.name).decode()
        return
    path = Path(address_of(place, "The place of anchors").root if place.startswith("file:") else place)
    if path.is_dir() and not (path / FILE).exists():
        return  # nothing was sent yet
    with open(path / FILE if path.is_dir() else path, encoding="utf-8") as lines:
        yield from (line for line in lines if line.strip())


def can_be_read(url: str) -> bool:
    return not url.startswith(("http://", "https://"))


def is_folder(url: str) -> bool:
    return can_be_read(url) and not url.startswith("s3://")


def _send(url: str, label: str, after: int) -> int:
    keep, sent = _keeper(url), 0
    if is_folder(url):
        after = _last_in(_folder_of(url) / FILE, after)
    while rows := run("anchors_after", {"after": after, "step": STEP}):
        for no, body in rows:
            keep(no, body)
            after, sent = no, sent + 1
            _note(label, no, sent=True)
    if not sent:
        _note(label, after, sent=False)
    return sent


def _note(label: str, no: int, *, sent: bool, error: str = "") -> None:
    run("note_place", {"place": label, "sent_no": no, "sent": sent, "error": error})


def _keeper(url: str) -> Callable[[int, str], None]:
    if url.startswith(("http://", "https://")):
        return lambda no, body: _post(url, no, body)
    if url.startswith("s3://"):
        return lambda no, body: _put(url, f"anchors/{no:012}-{_hash(body)[:16]}.json", body)
    return lambda no, body: _append(_folder_of(url), body)


def _folder_of(url: str) -> Path:
    return Path(address_of(url, SETTING).root)


def _hash(text: str) -> str:
    return hashlib.sha256(text.encode()).hexdigest()


def _last_in(file: Path, sent_no: int) -> int:
    """The number of the last anchor in a file: each machine has its own, whatever was sent to others. If that is not
    one of this database, which may have been set back, it is what was sent from here."""
    line = _last_line(file)
    if line is None:
        return 0
    no = int(json.loads(line)["no"])
    rows = run("anchors_after", {"after": no - 1, "step": 1})
    return no if rows and rows[0] == (no, line) else sent_no


def _last_line(file: Path) -> str | None:
    """The last that is an anchor; what a crash has cut off is none. Read from the end, a block at a time."""
    if not file.exists():
        return None
    with open(file, "rb") as lines:
        left, tail = lines.seek(0, os.SEEK_END), b""
        while True:
            # The first may have its beginning further ahead.
            for line in reversed(tail.split(b"\n")[1 if left else 0 :]):
                with suppress(ValueError, KeyError, TypeError):
                    int(json.loads(line)["no"])
                    return line.decode()
            if not left:
                return None
            step = min(left, BLOCK)
            left = lines.seek(left - step)
            tail = lines.read(step) + tail


def _bucket(url: str) -> "ArchivePlace":
    try:
        from tasks_app.archive.place import place_of
    except ImportError:
        raise NotKept("a bucket needs pyarrow: install punctual[archive]") from None
    return place_of(url)


def _put(url: str, name: str, body: str) -> None:
    place = _bucket(url)
    from tasks_app.archive.place import FAULTS

    try:
        place.write(name, body.encode())
    except FAULTS as error:
        raise NotKept(first_line(str(error))) from error


def _post(url: str, no: int, body: str) -> None:
    headers = {"Content-Type": "application/json", "Idempotency-Key": f"anchor-{no}-{_hash(body)[:16]}"}
    answer = post(url, body.encode(), headers, timeout=TIMEOUT_SECONDS)
    if not 200 <= answer.status < 300:
        raise NotKept(f"it answered {answer.status}")


def _append(folder: Path, body: str) -> None:
    """One line, on the disk when this returns. What a crash has cut off stays behind as a line of its own."""
    if not folder.is_dir():
        # Not made here: a disk that is not mounted would be written to in its absence.
        raise FileNotFoundError(f"The folder {folder} is not there. Make it, or mount its disk.")
    handle = os.open(folder / FILE, os.O_RDWR | os.O_CREAT | os.O_APPEND, 0o644)
    try:
        size = os.fstat(handle).st_size
        torn = size and os.pread(handle, 1, size - 1) != b"\n"
        data = (b"\n" if torn else b"") + body.encode() + b"\n"
        if os.write(handle, data) != len(data):
            raise OSError(f"{folder / FILE} took only a part of an anchor; is the disk full?")
        os.fsync(handle)
        if not size:
            _sync(folder)
    finally:
        os.close(handle)


def _sync(folder: Path) -> None:
    handle = os.open(folder, os.O_RDONLY)
    try:
        os.fsync(handle)
    finally:
        os.close(handle)
