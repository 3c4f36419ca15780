# `make demo` and `make test` need Python 3.11 or later and the package index, nothing else.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt
# A file is run by one process: what several of its tests need is made once.
PYTEST := $(BIN)/python -m pytest --quiet --numprocesses 2 --dist loadfile
# Warnings are errors. Nothing is kept from an earlier build.
SPHINX := $(BIN)/python -m sphinx --quiet --fail-on-warning --keep-going --fresh-env -c docs/site -d build/doctrees
EXAMPLE := examples/ferry.txt

.DEFAULT_GOAL := help
.PHONY: help demo test test-slow test-all gate check bench release docs docs-links format clean

help:  ## list what can be made
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 10

$(VENV)/demo: pyproject.toml constraints.txt
	$(PYTHON) -m venv --clear $(VENV)
	$(PIP) --editable .
	touch $@

$(VENV)/dev: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[dev]'
	touch $(VENV)/demo $@

$(VENV)/docs: pyproject.toml constraints.txt
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(PIP) --editable '.[docs]'
	touch $(VENV)/demo $@

demo: $(VENV)/demo  ## read an example passage, answer five questions, draw a page
	$(BIN)/syntagma download default
	mkdir -p demo
	$(BIN)/syntagma answer $(EXAMPLE) --questions examples/ferry.questions --html demo/ferry.html

test: $(VENV)/dev  ## run the quick tests (offline, five minutes on two cores)
	$(BIN)/syntagma download default
	$(PYTEST)

test-slow: $(VENV)/dev  ## run the slow tests, which CI runs as well
	$(BIN)/syntagma download default
	$(PYTEST) -m slow

test-all: $(VENV)/dev  ## run all tests, those of the hub and of a GPU where there is one
	$(BIN)/syntagma download default
	$(PYTEST) -m ""

gate: $(VENV)/dev  ## score the models that ship; fail if one is worse than its record
	$(BIN)/syntagma download default
	$(BIN)/python scripts/gate.py

release: $(VENV)/dev  ## rehearse a release: build, check, install from a local index, say what is left
	$(BIN)/python scripts/release.py rehearse --out dist

docs: $(VENV)/docs  ## build the site in build/site, run its notebooks, check its links
	$(BIN)/syntagma download default
	rm -rf build/site
	HF_HUB_OFFLINE=1 $(SPHINX) -b html docs build/site
	$(BIN)/python scripts/check_site.py build/site

docs-links: $(VENV)/docs  ## ask other hosts whether the pages that the site links to exist
	$(SPHINX) -b linkcheck -D nb_execution_mode=off docs build/links

check: $(VENV)/dev  ## lint, format, types
	$(BIN)/ruff check --output-format concise src tests benchmarks experiments examples docs/site docs/tutorials
	$(BIN)/ruff format --check src tests benchmarks experiments examples docs/site docs/tutorials
	$(BIN)/mypy

format: $(VENV)/dev  ## rewrite the code in the house format
	$(BIN)/ruff check --fix src tests benchmarks experiments examples docs/site docs/tutorials
	$(BIN)/ruff format src tests benchmarks experiments examples docs/site docs/tutorials

bench: $(VENV)/dev  ## measure three times, print ratios beside their bars, save to runs/bench
	$(BIN)/python -m benchmarks

clean:  ## remove what was made
	rm -rf $(VENV) demo build dist
