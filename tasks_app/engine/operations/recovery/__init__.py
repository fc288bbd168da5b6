"""What is done after an incident: the standard steps as one run that goes on where it was killed."""
