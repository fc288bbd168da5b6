"""A line of the log is one line: what others have written into it can't forge another, nor steer a terminal."""

import logging

from tasks_app.core.text import visible


class LineFormatter(logging.Formatter):
    def formatMessage(self, record: logging.LogRecord) -> str:
        """The line itself; a stack below it keeps its lines."""
        return visible(super().formatMessage(record))

    def formatException(self, info) -> str:
        return visible(super().formatException(info), lines=True)
