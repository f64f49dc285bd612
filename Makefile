# Each target does all its own set-up in $(VENV), on a machine that has Python 3.11 to 3.13 and nothing else.
VENV ?= .venv
BIN := $(VENV)/bin
# Tests start many interpreters: they read compiled files and do not compile the package anew.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: install test lint demo docs clean

install:
	@.ci/make-venv $(VENV)

test: install
	@$(BIN)/python -m pytest -n 2 --dist worksteal

lint: install
	@$(BIN)/ruff check .
	@$(BIN)/ruff format --check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports

# What the main job needs is enough for the demo: the embedded model, text, CSV and PDF.
demo:
	@SIZE="about 0.7 GB on the disk, a minute or two" .ci/make-venv $(VENV) local
	@$(BIN)/python -m demo

docs: install
	@$(BIN)/python -m tests.cli.help_blocks docs/command-line.md
	@NO_MKDOCS_2_WARNING=1 $(BIN)/python -m mkdocs build --strict --quiet
	@echo "build/site/index.html"

clean:
	@rm -rf build dist .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis
