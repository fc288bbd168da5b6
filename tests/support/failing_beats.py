"""Beats that fail once, between a claim and its publish."""

import os
import signal

from django.db import connection

from tasks_app.engine.beat.dispatcher import Dispatcher
from tasks_app.engine.beat.process import PunctualBeat
from tasks_app.engine.beat.publisher import publish


class Dying(PunctualBeat):
    """Has claimed, and is killed."""

    def setup_schedule(self) -> None:
        super().setup_schedule()
        self._dispatcher = Dispatcher(self._name, lambda batches: os.kill(os.getpid(), signal.SIGKILL), self._listener)


class Forgetful(PunctualBeat):
    """Has claimed, and loses its connection before it has the answer."""

    def setup_schedule(self) -> None:
        super().setup_schedule()
        self._dispatcher = Dispatcher(self._name, publish, self._listener)
        self._claim_due = self._dispatcher._claims._claim_due
        self._dispatcher._claims._claim_due = self._claim_and_disconnect

    def _claim_and_disconnect(self, lanes):
        claimed = self._claim_due(lanes)
        if claimed:
            self._dispatcher._claims._claim_due = self._claim_due
            with connection.cursor() as cursor:
                cursor.execute("SELECT pg_terminate_backend(pg_backend_pid())")
        return claimed
