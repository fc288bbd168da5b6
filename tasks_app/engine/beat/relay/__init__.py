"""The relay: takes committed events from the outbox to their subscribers, in threads of its own."""
