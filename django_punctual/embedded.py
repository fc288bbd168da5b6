"""`python -m django_punctual.embedded`: a PostgreSQL and a Valkey to try things on, until Ctrl-C."""

import sys

from tasks_app.embedded.__main__ import main

if __name__ == "__main__":
    sys.exit(main())
