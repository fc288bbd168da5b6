"""How gunicorn runs the web process: it reads this file when it is started in this folder. See docs/deploy.md."""

import os

# Threads that never wait for a client: docs/deploy.md says what bounds a slow one.
worker_class = "scheduler_project.web_worker.BufferingWorker"
workers = int(os.environ.get("WEB_CONCURRENCY", "2"))
threads = 8  # in each process, and each with a connection to the database
worker_connections = 500  # in each process; well below the usual limit of 1,024 open files
keepalive = 5  # seconds
graceful_timeout = 10  # seconds
control_socket_disable = True
if os.environ.get("LOG_FORMAT") == "json":
    logger_class = "scheduler_project.web_log.JsonLogger"
