"""Keeps the partitions: those of the next days are there in good time, and those that are too old go."""

import logging
from datetime import datetime
from typing import NamedTuple

from django.db import OperationalError

from tasks_app.conf import conf
from tasks_app.core.retention import DEFAULT_CLASS
from tasks_app.sql import run
from tasks_app.storage.partitions import Partition, coming, drop, known_classes, make, partitions

AHEAD = 3  # partitions after the one of now

log = logging.getLogger(__name__)


class Kept(NamedTuple):
    made: list[str]
    dropped: list[str]


def keep_partitions() -> Kept:
    """A lock that is not to be had at once is not waited for: what is not done now is done next time."""
    now: datetime = run("clock", {})[0][0]
    made, dropped = [], []
    classes = conf().retention_classes
    for name in classes:
        run("make_class", {"retention": name})
        made += _make(f"punctual_past_{name}", now)
    for name, family in known_classes().items():
        # One that was taken out of the settings empties by the times of the default.
        dropped += _drop(family, now - classes.get(name, classes[DEFAULT_CLASS]).hot)
    made += _make("punctual_past_batch", now)
    dropped += _drop("punctual_past_batch", now - classes[DEFAULT_CLASS].hot)
    return Kept(made, dropped)


def _make(family: str, now: datetime) -> list[str]:
    return make(family, coming(now, conf().partition_span, AHEAD), conf().partition_span)


def _drop(family: str, before: datetime) -> list[str]:
    """Those that hold nothing younger."""
    return [one.name for one in partitions(family) if one.until <= before and _dropped(one)]


def _dropped(partition: Partition) -> bool:
    try:
        drop(partition)
    except OperationalError as error:  # somebody reads it
        log.info("partition.in_use name=%s error=%r", partition.name, str(error).strip())
        return False
    return True
