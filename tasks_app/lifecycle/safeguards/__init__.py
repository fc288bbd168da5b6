"""Safeguards as rows: where each one is, what it holds back, and what becomes of what operators want."""
