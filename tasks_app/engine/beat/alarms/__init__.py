"""The beats' part in alarms: read what happened, look at what is wrong, and decide what to tell."""
