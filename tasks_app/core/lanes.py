"""The lanes: priority classes, each with its own queue, in order of urgency."""

LANES = ("critical", "high", "default", "low", "deferred", "backfill")
DEFAULT_LANE = "default"
DEFERRED_LANE = "deferred"  # what tasks hand on with `defer`: it may pile up while another system is away
BACKFILL_LANE = "backfill"  # catch-up runs and replays: trials of a breaker, but never late
URGENT_LANE = "critical"  # what is in it goes before everybody's: no token of the API has it unless it was named

# While all of them have work, a lane gets its weight's part of the batches that a worker runs: backfill one in 33.
# While others are empty, a lane gets all of it.
WEIGHTS = {"critical": 16, "high": 8, "default": 4, "low": 2, "deferred": 2, "backfill": 1}
