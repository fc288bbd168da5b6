"""What the admin pages of all apps are made of: lists, charts, and forms that survive a login that has run out."""
