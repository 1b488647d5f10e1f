# Triplewire: `make` alone tells what can be made.

# The first Python here that is new enough; name another with PYTHON=…
PYTHON ?= $(firstword $(foreach name,python3 python3.14 python3.13 python3.12 python3.11 python,\
	$(shell $(name) -c 'import sys; sys.version_info >= (3, 11) and print("$(name)")' 2>/dev/null)))
TRIPLEWIRE_HOME ?= var
BIN := .venv/bin
PIP := $(BIN)/pip install -q --disable-pip-version-check --no-build-isolation
READY := .venv/ready

.PHONY: help run test lint parts bench bench-full figures screenshots lock clean setup
.DEFAULT_GOAL := help

help: ## Tell what can be made
	@sed -n 's/^\([a-z-]*\):.*## /\1:/p' Makefile | while IFS=: read -r name does; do printf '  make %-10s %s\n' "$$name" "$$does"; done

run: $(READY) ## Start broker, web page and pipeline with a small sample world (PORT=…, TRIPLEWIRE_HOME=…)
	@[ -e .venv/warm ] || nice $(MAKE) --no-print-directory .venv/warm > .venv/warmup.log 2>&1 < /dev/null &
	@exec $(BIN)/triplewire serve $(if $(PORT),--port $(PORT)) --home "$(TRIPLEWIRE_HOME)" --sample examples/auction

# What the tests find ready takes them less than to wait for it: Spark's archive of classes, made while types are checked.
test: $(READY) ## Check style and types, then run every test
	@$(MAKE) --no-print-directory -j2 parts lint .venv/warm
	$(BIN)/pytest -n 2 --dist loadfile --no-loadscope-reorder --durations=15

lint: $(READY) ## Check style and types alone
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy

parts: $(READY)
	@scripts/optional-parts

bench: $(READY) ## Measure all that the lab knows, in less than twenty minutes, and draw its figures
	$(BIN)/python -m benchmarks run

bench-full: $(READY) ## The same with large sizes, as long as it takes
	$(BIN)/python -m benchmarks run --full

figures: $(READY) ## Draw the lab's figures and write its page, docs/lab.md, from the data that was kept
	$(BIN)/python -m benchmarks figures

screenshots: $(READY) ## Take the pictures of the web page that the documentation shows
	$(BIN)/python -m tests.web.screenshots

lock: ## Choose the newest versions that fit together; do it with the oldest Python supported
	@scratch=$$(mktemp -d) && trap 'rm -rf "$$scratch"' EXIT && set -e && \
	$(PYTHON) -m venv "$$scratch" && "$$scratch/bin/pip" install -qU setuptools wheel && \
	"$$scratch/bin/pip" install -q --no-build-isolation '.[dev]' && \
	{ echo "# Versions that were tried together, for running and for developing. Made by 'make lock'."; \
	  "$$scratch/bin/pip" freeze --all --exclude pip --exclude triplewire; } > "$$scratch/lock" && \
	cp "$$scratch/lock" requirements.lock

clean: ## Remove what set-up, tests and builds left (never the data in TRIPLEWIRE_HOME)
	rm -rf .venv .mypy_cache .pytest_cache .ruff_cache .hypothesis build dist src/*.egg-info spark-warehouse
	find src tests benchmarks -name __pycache__ -type d -prune -exec rm -rf {} + 2>/dev/null || true

setup: $(READY)

$(BIN)/python:
	@[ -n "$(PYTHON)" ] || { \
	  echo "Triplewire needs Python 3.11 or newer, and there is none on the PATH. Name one with: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "Triplewire needs Python 3.11 or newer; $(PYTHON) is not. Name another with: make PYTHON=/path/to/python3" >&2; exit 1; }
	@$(PYTHON) -c 'import ensurepip, venv' 2>/dev/null || { \
	  echo "$(PYTHON) cannot make virtual environments: its venv or ensurepip module is missing (on Debian and Ubuntu: apt install python3-venv)." >&2; exit 1; }
	@$(PYTHON) -m venv .venv

# The build tools come first and are pinned like the rest: Spark is distributed as source. It is got and built beside
# all else, and as that takes less, kernels are compiled meanwhile.
$(READY): $(BIN)/python requirements.lock pyproject.toml
	@echo "Setting up .venv (once; some minutes, most of them for Spark's 450 MB) ..."
	@$(PIP) $$(grep -E '^(setuptools|wheel)==' requirements.lock)
	@$(PIP) --no-deps $$(grep '^pyspark==' requirements.lock) & \
	grep -v '^pyspark==' requirements.lock | $(PIP) -r /dev/stdin && \
	$(PIP) --no-deps -e . && $(BIN)/python -m triplewire.matching.engine.warmup && wait $$! || { kill $$! 2> /dev/null; false; }
	@touch $(READY)

# The archive that quickens Spark's start. Nothing fails without it.
.venv/warm: $(READY)
	@$(BIN)/python -m triplewire.pipeline.warmup || echo "Spark starts slowly here, as its archive of classes cannot be made"
	@touch $@
