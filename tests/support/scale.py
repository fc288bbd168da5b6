"""How much of a random search is done: all of it by `make prove`, a part by `make test`."""

import os

FULL = os.environ.get("PUNCTUAL_SCALE") == "full"
