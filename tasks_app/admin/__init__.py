"""The operator's pages: overview, tasks, jobs, calendars, campaigns, what was done by whom, batches, the fleet, tokens,
members, who is told of what, alarms, safeguards, quarantine, sites, recoveries, tenants, and the hosts and secrets of
callbacks.

They belong to the console and never to the project's own site; without django-unfold there are none. Nothing is
imported here, where a project's admin comes by in each of its processes: the console imports `register` when its
addresses are asked for.
"""
