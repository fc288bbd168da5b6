"""`python -m tests.support.hostapp`: the tour, in a process of its own, since Django's settings are for a process."""

import django

django.setup()

from tests.support.hostapp.tour import main  # noqa: E402 - it needs the models

main()
