"""Jobs as code: files that declare jobs, read, compared with the jobs that are there, applied and written."""
