# `make demo` and `make test` need Python 3.11 or later and the package index, nothing else.

PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/pip install --quiet --disable-pip-version-check --constraint constraints.txt
EXAMPLE := examples/ferry.txt

.DEFAULT_GOAL := help
.PHONY: help demo test check bench format clean

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

demo: $(VENV)/demo  ## read an example passage, answer five questions, draw a page
	$(BIN)/syntagma download default
	mkdir -p demo
	$(BIN)/syntagma answer $(EXAMPLE) --questions examples/ferry.questions --html demo/ferry.html

test: $(VENV)/dev  ## run the tests (offline, about six minutes)
	$(BIN)/syntagma download default
	$(BIN)/python -m pytest --quiet --numprocesses 2

check: $(VENV)/dev  ## lint, format, types
	$(BIN)/ruff check --output-format concise src tests benchmarks experiments
	$(BIN)/ruff format --check src tests benchmarks experiments
	$(BIN)/mypy

format: $(VENV)/dev  ## rewrite the code in the house format
	$(BIN)/ruff check --fix src tests benchmarks experiments
	$(BIN)/ruff format src tests benchmarks experiments

bench: $(VENV)/dev  ## measure, print and save to runs/bench
	$(BIN)/python -m benchmarks

clean:  ## remove what was made
	rm -rf $(VENV) demo build dist
