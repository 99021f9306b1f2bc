# Every target works from a fresh clone: it needs Python 3.11+, make and git, nothing else.
PYTHON ?= python3
VENV   := .venv
BIN    := $(VENV)/bin
STAMP  := $(VENV)/installed
TESTS  := $(firstword $(wildcard /dev/shm) $(TMPDIR) /tmp)
PIP    := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: install test lint lower-bounds reproduce bench bench-peers bench-rlberry faults docs clean

install: $(STAMP)

$(STAMP): pyproject.toml constraints.txt
	@echo "setting up $(VENV) (once)"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "hreach needs Python 3.11 or newer; set PYTHON=..."; exit 1; }
	@$(PYTHON) -m venv $(VENV)
	@$(PIP) -e '.[dev,docs]'
	@touch $@

# In memory where there is such a place, with one thread for each process, and with compiled files kept whatever the
# shell says: hundreds of tests start a process of their own.
test: install
	TMPDIR=$(TESTS) OPENBLAS_NUM_THREADS=1 PYTHONDONTWRITEBYTECODE= $(BIN)/python -m pytest

lint: install
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy
	$(BIN)/lint-imports

# The oldest libraries that are allowed, in an environment of their own; PYTHON is the oldest Python.
lower-bounds:
	PYTHON=$(PYTHON) .ci/lower-bounds .venv-lower-bounds

reproduce: install
	$(BIN)/hreach reproduce chain modified-chain --out results

bench: install
	$(BIN)/python benchmarks/speed.py
	$(BIN)/python benchmarks/continuous.py
	$(BIN)/python benchmarks/guarantees.py
	$(BIN)/python benchmarks/studies.py

# Against other solvers, in an environment of their own; run from it, see benchmarks/solving.py
bench-peers: .venv-peers/installed

.venv-peers/installed: pyproject.toml constraints.txt benchmarks/peers/requirements.txt
	@echo "setting up .venv-peers (once)"
	@$(PYTHON) -m venv .venv-peers
	@.venv-peers/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e . -r benchmarks/peers/requirements.txt
	@touch $@

# rlberry beside hreach, in an environment of its own: it needs an older Gymnasium.
bench-rlberry: install
	$(PYTHON) -m venv .venv-rlberry
	.venv-rlberry/bin/python -m pip install --quiet --disable-pip-version-check -r benchmarks/peers/rlberry.txt
	$(BIN)/python benchmarks/stepping.py .venv-rlberry/bin/python

# Long tests of faults: an hour at most; what they measure goes to benchmarks/FAULTS.md.
faults: install
	$(BIN)/python benchmarks/faults.py

docs: install
	$(BIN)/sphinx-build -W --keep-going -q -b html docs docs/_build/html
	@echo "docs: docs/_build/html/index.html"

clean:
	rm -rf $(VENV) .venv-lower-bounds .venv-peers .venv-rlberry results docs/_build benchmarks/reference/build .pytest_cache .mypy_cache .ruff_cache .import_linter_cache .hypothesis dist
	find . -name __pycache__ -type d -prune -exec rm -rf {} +
