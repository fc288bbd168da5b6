"""The public package of Punctual."""
