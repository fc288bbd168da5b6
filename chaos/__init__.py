"""Breaks a running scheduler on purpose, by a script made from a seed, and judges what is left: docs/chaos.md."""
