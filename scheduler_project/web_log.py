"""What gunicorn itself says, as lines of JSON: it has a log of its own, beside Django's."""

from tasks_app.libraries import Uses
from tasks_app.logs import JsonFormatter

with Uses("gunicorn", ">=27,<28") as uses:
    from gunicorn.glogging import Logger

    uses.set_by(Logger.__init__, "error_log")


class JsonLogger(Logger):
    def setup(self, cfg) -> None:
        super().setup(cfg)
        for handler in self.error_log.handlers:
            handler.setFormatter(JsonFormatter())
