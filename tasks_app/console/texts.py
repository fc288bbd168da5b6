"""Texts that others ask for and that are translated here: the names of our models, and what django-unfold says."""

from django.utils.translation import gettext_noop

# As Django makes them of the models' names, which migrations keep in English.
MODELS = (
    gettext_noop("Punctual"),
    gettext_noop("Alarm channels"),
    gettext_noop("Alarm rules"),
    gettext_noop("API tokens"),
    gettext_noop("Audit entries"),
    gettext_noop("Calendars"),
    gettext_noop("Campaigns"),
    gettext_noop("Dead letters"),
    gettext_noop("Fleet"),
    gettext_noop("Hosts"),
    gettext_noop("Incidents"),
    gettext_noop("Jobs"),
    gettext_noop("Quarantine"),
    gettext_noop("Recoveries"),
    gettext_noop("Runs of graphs"),
    gettext_noop("Safeguards"),
    gettext_noop("Schedule tasks"),
    gettext_noop("Secrets"),
    gettext_noop("Subscriptions"),
    gettext_noop("Task batches"),
    gettext_noop("Tenants"),
)
# It brings no translations, and Django's own catalogue has only some of its texts.
UNFOLD = (
    gettext_noop("All applications"),
    gettext_noop("Apply Filters"),
    gettext_noop("Choose file to upload"),
    gettext_noop("Dark"),
    gettext_noop("Expand row"),
    gettext_noop("General"),
    gettext_noop("Go back"),
    gettext_noop("Light"),
    gettext_noop("Loading more results..."),
    gettext_noop("More actions"),
    gettext_noop("No data"),
    gettext_noop("No recent searches"),
    gettext_noop("No results found"),
    gettext_noop("No results matching your query"),
    gettext_noop("Recent searches"),
    gettext_noop("Reset filters"),
    gettext_noop("Return to site"),
    gettext_noop("Run"),
    gettext_noop("Search apps and models..."),
    gettext_noop("Select action"),
    gettext_noop("Select action to run"),
    gettext_noop("Select all rows"),
    gettext_noop("Select record"),
    gettext_noop("Select value"),
    gettext_noop("Submit"),
    gettext_noop("System"),
    gettext_noop("This page yielded into no results. Create a new item or reset your filters."),
    gettext_noop("Toggle password visibility"),
    gettext_noop("Type to search"),
    gettext_noop("Welcome"),
    gettext_noop("You have been successfully logged out from the administration"),
)
# What charts count: `bars` asks for one of them, or for several.
COUNTED = (
    gettext_noop("firing"),
    gettext_noop("firings"),
    gettext_noop("letter"),
    gettext_noop("letters"),
    gettext_noop("task"),
    gettext_noop("tasks"),
)
# The states of a campaign, as a sentence has them.
STATES = (gettext_noop("running"), gettext_noop("paused"), gettext_noop("done"), gettext_noop("cancelled"))
# Words of the core, which knows nothing of languages; a test compares them.
CORE = (
    gettext_noop("a task gives up"),
    gettext_noop("a task starts too late"),
    gettext_noop("a task runs too long"),
    gettext_noop("a job misses a firing"),
    gettext_noop("a subscription is suspended"),
    gettext_noop("tasks wait for one that failed"),
    gettext_noop("a tenant comes near a quota"),
    gettext_noop("the scheduler itself is in trouble"),
    gettext_noop("a safeguard goes on"),
    gettext_noop("the installation was in quarantine"),
    gettext_noop("run all of it, as fast as the workers can"),
    gettext_noop("cancel the earlier firings of each job, and run the rest"),
    gettext_noop("move all of it to later, in the same order"),
    gettext_noop("cancel what has been overdue for too long, and run the rest"),
    gettext_noop("jobs"),
    gettext_noop("live tasks"),
    gettext_noop("bytes in the payload of a task"),
    gettext_noop("calls of the REST API in a minute"),
)
