"""`/metrics`, for Prometheus and whoever reads its formats: read, written and guarded. Counting is a beat's business.

Needs the extra `metrics`; see docs/metrics.md. core/metrics.py has the catalogue.
"""
