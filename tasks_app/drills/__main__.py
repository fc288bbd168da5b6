"""`python -m tasks_app.drills`: one drill, in the process that has its stack. `manage.py drill` starts it.

Its argument is JSON: what to do. It tells its progress on stderr, and prints one JSON object.
"""

from __future__ import annotations

import json
import signal
import sys
import time

from django.core.exceptions import ImproperlyConfigured

from tasks_app.core.errors import InvalidConfiguration
from tasks_app.embedded import EmbeddedError

from .kinds import DRILLS
from .running import Options, perform

CANT = 2


def main() -> int:
    wanted = json.loads(sys.argv[1])
    # One way to end: the stack is stopped and its data removed.
    signal.signal(signal.SIGTERM, signal.default_int_handler)
    begun = time.monotonic()

    def say(line: str) -> None:
        sys.stderr.write(f"  {time.monotonic() - begun:5.0f} s  {line}\n")
        sys.stderr.flush()

    try:
        told = perform(DRILLS[wanted["drill"]], Options(**wanted["options"]), say)
    except KeyboardInterrupt:
        return 128 + signal.SIGINT
    except (EmbeddedError, ImproperlyConfigured, InvalidConfiguration) as error:
        sys.stderr.write(f"{error}\n")
        return CANT
    sys.stdout.write(json.dumps(told) + "\n")
    return 0


if __name__ == "__main__":
    sys.exit(main())
