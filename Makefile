# `make check` is the whole gate. BIN is where the tools are: a virtual environment with the extra `dev`.
BIN ?= .venv/bin
PYTHON = $(BIN)/python

.PHONY: check format lint types imports test docs docs-check scripts venv

check: format lint types imports test docs-check

format:
	$(BIN)/ruff format --check .

lint:
	$(BIN)/ruff check .

types:
	$(BIN)/mypy

imports:
	$(BIN)/lint-imports

test:
	$(PYTHON) -m pytest -n auto

docs:
	$(PYTHON) -m mgmtctl.cli.manual

docs-check:
	$(PYTHON) -m mgmtctl.cli.manual --check

# Rewrite what the transcripts expect; look at the difference before you keep it.
scripts:
	$(PYTHON) -m pytest tests/cli/test_transcripts.py tests/cli/test_readme.py --update-scripts

venv:
	./scripts/python >/dev/null
	test -x .venv/bin/python || "$$(./scripts/python)" -m venv .venv
	.venv/bin/python -m pip install --quiet --disable-pip-version-check -e '.[dev]'
