"""`/metrics`, for Prometheus and whoever reads its formats: read, shown and guarded; what is counted is a beat's business.

Needs the extra `metrics`; see docs/metrics.md. core/metrics.py has the catalogue.
"""
