"""The beats' part in alarms: read what happened, look at what is wrong, decide what to tell, and send it."""
