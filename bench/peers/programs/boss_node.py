"""pg-boss on PostgreSQL, in Node.js: insert, and startAfter for future tasks."""

import os

import node
import peer
import psycopg

PROGRAM = "boss.cjs"
LEFT = "SELECT count(*) FROM pgboss.job WHERE name = 'noop' AND state < 'completed'"


def left():
    with psycopg.connect(os.environ["DATABASE_URL"]) as connection:
        return connection.execute(LEFT).fetchone()[0]


PEER = peer.Peer(
    versions=lambda: node.versions("pg-boss"),
    settings="2 processes with 4 workers each, batchSize=500, pollingIntervalSeconds=0.5 (the shortest there is); "
    "insert of 5,000",
    prepare=lambda: node.run(PROGRAM, "prepare"),
    schedule=lambda timed: node.schedule(PROGRAM, timed),
    commands=lambda: [node.command(PROGRAM, "work")] * 2,
    left=left,
    schemas=("pgboss",),
)

if __name__ == "__main__":
    peer.main(PEER)
