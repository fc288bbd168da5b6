"""What gunicorn itself says, as lines of JSON: it has a log of its own, beside Django's."""

from gunicorn.glogging import Logger

from tasks_app.logs import JsonFormatter


class JsonLogger(Logger):
    def setup(self, cfg) -> None:
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonFormatter())
