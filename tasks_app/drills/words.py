"""Names that the processes of a drill's stack share."""

TICK, SLOW, REST = "DRILL_TICK", "DRILL_SLOW", "DRILL_REST"  # task types
EFFECTS = "drill_effect"  # the table of what handlers did
SUBSCRIBER = "drill"
LANES = ("critical", "high", "default", "low")  # that have load
