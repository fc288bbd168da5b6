"""Two sites that share the database and the broker: who is where, an operator who switches, and a witness.

The first beat and worker are of site main, and reach the database through a proxy that can cut them off; the others are
of site b. The witness is a trigger that writes down which site the row calls the active one, and when. Nothing may have
been started by a worker of one site while another one was open.
"""

from collections.abc import Iterable, Iterator, Mapping
from itertools import pairwise
from typing import NamedTuple
from urllib.parse import parse_qs, unquote, urlsplit

from django.db import connection

from .proxy import Proxy
from .scenarios import BEATS, WORKERS

MAIN, OTHER = "main", "b"
SITES = {name: OTHER if name in (BEATS[1], WORKERS[1]) else MAIN for name in BEATS + WORKERS}

_WITNESS = """
CREATE TABLE chaos_site (epoch bigint, site text, at timestamptz);
CREATE FUNCTION chaos_site() RETURNS trigger LANGUAGE plpgsql AS $$
BEGIN
    INSERT INTO chaos_site VALUES (NEW.site_epoch, NEW.site, clock_timestamp());
    RETURN NULL;
END $$;
CREATE TRIGGER chaos_site AFTER UPDATE OF site ON punctual_installation FOR EACH ROW EXECUTE FUNCTION chaos_site();
"""


class Seen(NamedTuple):
    """From this moment on the site was open; None: none was."""

    epoch: int
    site: str | None
    at: float  # seconds since the epoch


class Started(NamedTuple):
    worker: int  # the number of its process
    at: float


def begin() -> None:
    with connection.cursor() as cursor:
        cursor.execute(_WITNESS)
        cursor.execute("INSERT INTO chaos_site SELECT site_epoch, site, '-infinity' FROM punctual_installation")


def environment(name: str, proxy: Proxy, database_url: str) -> dict[str, str]:
    """Of a beat or worker of this name."""
    if SITES[name] == OTHER:
        return {"SITE": OTHER, "STANDBY": "1"}
    parts = urlsplit(database_url)
    login = parts.netloc.rpartition("@")[0]
    user = login or unquote(parse_qs(parts.query).get("user", ["postgres"])[0])
    return {"DATABASE_URL": f"postgresql://{user}@127.0.0.1:{proxy.port}/{parts.path.lstrip('/')}"}


def proxy_of(database_url: str) -> Proxy:
    """Before the database of this stack, which listens on a socket in a folder, or at an address."""
    parts = urlsplit(database_url)
    options = parse_qs(parts.query)
    host = unquote(options["host"][0]) if "host" in options else unquote(parts.hostname or "127.0.0.1")
    port = int(options["port"][0]) if "port" in options else parts.port or 5432
    return Proxy(f"{host}/.s.PGSQL.{port}" if host.startswith("/") else (host, port))


def switch(site: str) -> None:
    """As `manage.py site activate` does it."""
    from tasks_app.engine.operations.site import activate
    from tasks_app.lifecycle.audit import Operator

    activate(site, Operator("chaos", "a drill"), anyway=True)


def seen() -> list[Seen]:
    with connection.cursor() as cursor:
        cursor.execute("SELECT epoch, site, date_part('epoch', at) FROM chaos_site ORDER BY at")
        return [Seen(*row) for row in cursor.fetchall()]


def wrong_starts(seen: Iterable[Seen], starts: Iterable[Started], sites: Mapping[int, str]) -> Iterator[str]:
    """Starts of a site while another one was open; `sites`: that of each process. Between a choice and the opening the
    site before may still have started something: nobody else could."""
    stretches = [(before.site, before.at, after.at) for before, after in pairwise([*seen, Seen(0, None, float("inf"))])]
    if len({site for site, *_ in stretches} - {None}) < 2:
        yield "no other site was ever opened"
    starts = list(starts)
    for site, begin, end in stretches:
        if site is None:
            continue
        ours = [one for one in starts if begin < one.at < end and one.worker in sites]
        strangers = [one for one in ours if sites[one.worker] != site]
        if strangers:
            yield (
                f"{len(strangers)} batches were started by another site while {site} was open, the first "
                f"{strangers[0].at - begin:.3f} s after that began"
            )
        if not any(sites[one.worker] == site for one in ours) and end - begin > 8:
            yield f"{site} was open for {end - begin:.0f} s and started nothing"
