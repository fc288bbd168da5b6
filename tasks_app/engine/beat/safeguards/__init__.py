"""The beats' part in safeguards: read what ran, look whether a limit is passed, and let each take a step further."""
