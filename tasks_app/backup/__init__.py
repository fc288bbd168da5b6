"""Base backups and the write-ahead log, taken to one place or more, proved by restoring them; and the way back.

PostgreSQL's own programs do the work: pg_basebackup, pg_receivewal, pg_verifybackup, postgres. What lies in a place,
below a folder for each server (its system identifier):

    base/LABEL/base.tar.zst     all of the server, with PostgreSQL's manifest, and the log that makes it consistent
    base/LABEL/backup.json      written last: without it there is no such base
    base/LABEL/proved.json      it was restored, and the server started
    wal/SEGMENT.zst             a complete segment of the log
    wal/SEGMENT.FROM-TO.piece   pages of one that is not complete yet
    wal/TIMELINE.history
"""
