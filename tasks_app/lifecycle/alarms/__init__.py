"""Alarms: rules and channels that people make, incidents that open and close, and the alerts that tell of them."""
