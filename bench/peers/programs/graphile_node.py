"""graphile-worker on PostgreSQL, in Node.js: addJobs, and runAt for future tasks."""

import os

import node
import peer
import psycopg

PROGRAM = "graphile.cjs"


def left():
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        return connection.execute("SELECT count(*) FROM graphile_worker.jobs").fetchone()[0]


PEER = peer.Peer(
    versions=lambda: node.versions("graphile-worker"),
    settings="2 processes with concurrentJobs=24, a localQueue of 500 and completeJobBatchDelay=0, as its page on "
    "performance has them; for punctual pollInterval=10 and a localQueue of 25; addJobs of 5,000",
    prepare=lambda: node.run(PROGRAM, "prepare"),
    schedule=lambda timed: node.schedule(PROGRAM, timed),
    commands=lambda: [node.command(PROGRAM, "work")] * 2,
    left=left,
    punctual_env={"GRAPHILE_POLL_MS": "10", "GRAPHILE_LOCAL_QUEUE": "25"},
    schemas=("graphile_worker",),
)

if __name__ == "__main__":
    peer.main(PEER)
