"""What stops a backup or a restore, in a sentence that says how to go on."""


class BackupError(Exception):
    """The text is for whoever called the command."""
