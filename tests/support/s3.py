"""Buckets in tests: a real HTTP server that speaks S3."""

import os
import socket
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from pathlib import Path

from pyarrow import fs

from tests.support.wait import wait_until

KEYS = {"AWS_ACCESS_KEY_ID": "somebody", "AWS_SECRET_ACCESS_KEY": "secret", "AWS_EC2_METADATA_DISABLED": "true"}


@contextmanager
def s3_server(folder: Path) -> Iterator[str]:
    """Its host and port; its log is in the folder."""
    with socket.create_server(("127.0.0.1", 0)) as free:
        port = free.getsockname()[1]
    path = folder / "log"
    command = [sys.executable, "-m", "moto.server", "-H", "127.0.0.1", "-p", str(port)]
    with path.open("w") as log:
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


def made_bucket(server: str, name: str, folder: str) -> str:
    """A new bucket; the URL of a folder in it. The keys must be in the environment."""
    bucket = fs.S3FileSystem(endpoint_override=server, scheme="http", region="us-east-1", allow_bucket_creation=True)
    bucket.create_dir(name)
    return f"s3://{name}/{folder}?endpoint_override={server}&scheme=http&region=us-east-1"
