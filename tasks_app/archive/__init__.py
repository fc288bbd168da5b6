"""What is past its hot days, as Parquet in a folder or a bucket: written, verified, searched, restored, deleted.

Needs pyarrow, the extra `archive`; docs/archive.md has the layout.
"""
