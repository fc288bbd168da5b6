"""The archive in a bucket, behind a real HTTP server that speaks S3."""

import os
import socket
import subprocess
import sys

import pytest
from pyarrow import fs

from tasks_app.archive import write
from tasks_app.archive.leave import leave_all
from tasks_app.archive.place import place_of
from tasks_app.archive.restore import restore_day
from tasks_app.sql import execute
from tasks_app.storage.partitions import drop, partitions
from tests.support.archive import cold_ids, days_ago, everywhere, hot_ids, past_day
from tests.support.marks import commits
from tests.support.wait import wait_until

pytestmark = commits
IDS = range(1, 101)
KEYS = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true"}


@pytest.fixture(scope="module")
def server(tmp_path_factory):
    """Its host and port."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    path = tmp_path_factory.mktemp("s3") / "log"
    log = path.open("w")
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    process = subprocess.Popen(command, stdout=log, stderr=log, env=os.environ | KEYS)

    def up() -> bool:
        with socket.socket() as probe:
            return probe.connect_ex(("127.0.0.1", port)) == 0

    try:
        wait_until(up, 60, describe=path.read_text)
        yield f"127.0.0.1:{port}"
    finally:
        process.kill()
        process.wait()
        log.close()


@pytest.fixture
def archive(server, settings, monkeypatch):
    for name, value in KEYS.items():
        monkeypatch.setenv(name, value)
    monkeypatch.setattr(write, "SLICE_BYTES", 8192)
    monkeypatch.setattr(write, "GROUP_ROWS", 16)
    bucket = fs.S3FileSystem(endpoint_override=server, scheme="http", region="us-east-1", allow_bucket_creation=True)
    bucket.create_dir("cold-store")
    url = f"s3://cold-store/punctual/past?endpoint_override={server}&scheme=http&region=us-east-1"
    settings.PUNCTUAL = settings.PUNCTUAL | {"ARCHIVE_URL": url}
    execute("DELETE FROM punctual_leaving")
    yield place_of(url)
    for one in partitions("punctual_past_default"):
        drop(one)


def test_a_day_goes_into_the_bucket_is_found_there_comes_back_and_is_deleted(archive, settings):
    past_day(days_ago(20), IDS)

    assert len(leave_all(archive, "me").written) == 1
    assert (hot_ids(), cold_ids(archive)) == ([], list(IDS))
    assert cold_ids(archive, key="k042") == [42]

    restore_day(archive, days_ago(20).date())
    assert everywhere(archive) == dict.fromkeys(IDS, 1)
    execute("UPDATE punctual_leaving SET kept_until = now() - interval '1 day'")
    past_day(days_ago(20), [200])
    assert len(leave_all(archive, "me").written) == 1
    assert (hot_ids(), cold_ids(archive)) == ([], [*IDS, 200])

    settings.PUNCTUAL = settings.PUNCTUAL | {"KEEP_COLD_DAYS": 16.0}
    assert leave_all(archive, "me").deleted == [f"tasks/default/{days_ago(20):%Y-%m-%d}"]
    assert archive.files("tasks") == []


def test_a_bucket_that_is_not_there_makes_the_day_wait(archive, settings):
    past_day(days_ago(20), IDS)
    elsewhere = place_of(settings.PUNCTUAL["ARCHIVE_URL"].replace("cold-store", "no-such-bucket"))

    done = leave_all(elsewhere, "me")

    assert (len(done.waiting), hot_ids()) == (1, list(IDS))
