# One door. `make` alone lists what is behind it.
PYTHON ?= python3
UV_VERSION := 0.13.9
VENV := .venv
BIN := $(VENV)/bin
# What does no I/O: every line and branch of it is tested.
PURE_APPS := cli/apps/choosing.py,cli/apps/errors.py,cli/apps/options.py,cli/apps/reading.py,cli/apps/showing.py,cli/apps/spelling.py
PURE_EXPLAIN := cli/explain/facts.py,cli/explain/options.py,cli/explain/report.py,cli/explain/story.py
PURE_CHECK := cli/check/cluster.py,cli/check/findings.py,cli/check/grants.py,cli/check/heads.py,cli/check/installed.py,cli/check/namespaces.py,cli/check/pods.py,cli/check/policies.py,cli/check/report.py,cli/check/rules.py,cli/check/sidecars.py
PURE_CLI := cli/completion.py,cli/options.py,cli/terminal.py,cli/diff/changes.py,cli/diff/manifest.py,cli/diff/options.py,cli/diff/report.py,$(PURE_EXPLAIN),$(PURE_CHECK),$(PURE_APPS)
PURE := serveconfig/*,proxy/environment.py,proxy/listed.py,proxy/settings.py,webhook/*,$(PURE_CLI)
SHELLS := webhook/__main__.py,webhook/app.py,webhook/cluster.py,webhook/events.py,webhook/metrics.py,webhook/watchdog.py,webhook/journal/api.py,webhook/journal/callers.py,webhook/journal/store.py,webhook/journal/trust.py
UV := $(BIN)/uv
# A bare machine may trust its registries through a bundle of its own: uv then reads the system's certificates, as pip does.
export UV_SYSTEM_CERTS ?= 1

.DEFAULT_GOAL := help
.PHONY: help install test lint types unit process differential differential-peers contract docs lock clean

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / {printf "  make %-14s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

$(UV):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "Holdfast needs Python 3.11 or newer: make PYTHON=/path/to/python3.11 ..."; exit 1; }
	@$(PYTHON) -m venv $(VENV) || { echo "no venv module: on Debian, apt-get install python3-venv"; exit 1; }
	@echo "installing uv $(UV_VERSION)"
	@$(BIN)/pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

$(VENV)/.installed: requirements/dev.txt pyproject.toml | $(UV)
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements/dev.txt
	$(UV) pip install --quiet --python $(BIN)/python --no-deps --no-build-isolation -e .
	@touch $@

install: $(VENV)/.installed ## make .venv with the holdfast command and every tool

test: install lint types unit process differential contract ray-fake ## everything that needs neither Ray nor a cluster

lint: install
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/lint-imports --no-cache

types: install
	$(BIN)/mypy

unit: install ## unit tests, and the coverage of the pure core held at 100 %
	$(BIN)/pytest tests/unit --cov --cov-report=
	$(BIN)/coverage report --include='$(PURE)' --omit='$(SHELLS)' --fail-under=100
	$(BIN)/coverage report --fail-under=80

process: install ## each part as a process of its own: it starts, drains, and says why it cannot start
	$(BIN)/pytest tests/process

differential: install ## the same bytes direct and through the proxy: both answers and what Ray saw are compared
	$(BIN)/pytest tests/differential

differential-peers: install ## how many of those cases our relay, a TCP forwarder and a naive aiohttp proxy hold
	$(BIN)/python -m tests.differential $(if $(VERBOSE),-v)

contract: install ## the REST API against its own OpenAPI document
	$(BIN)/pytest tests/contract

docs: install ## write the reference pages from the code
	$(BIN)/python -m docs.reference

lock: $(UV) ## resolve the dependencies again and write requirements/*.txt
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml -o requirements/runtime.txt
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml --extra webhook -c requirements/runtime.txt -o requirements/webhook.txt
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header pyproject.toml --extra demo --extra webhook --group dev -c requirements/webhook.txt -o requirements/dev.txt
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --group site -o requirements/site.txt
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header --group page -c requirements/dev.txt -o requirements/page.txt

clean: ## remove what make has made
	rm -rf $(VENV) build dist site .coverage .mypy_cache .pytest_cache .ruff_cache .hypothesis

include $(wildcard mk/*.mk)
