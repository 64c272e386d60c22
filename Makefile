# Everything needs only Python 3.11 to 3.13, make and git; .venv is built on first use.

PYTHON ?= $(shell for p in python3 python3.13 python3.12 python3.11; do \
	$$p -c 'import sys; sys.exit(not (3, 11) <= sys.version_info[:2] <= (3, 13))' 2>/dev/null && echo $$p && break; done)
BIN := .venv/bin
# A failed test runs once more: tests of processes and time limits can fail on a busy machine.
RERUN := --reruns 1

# Tests start a thousand interpreters: each would compile all modules again.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: demo test test-slow test-long test-faults test-fuzz test-walls coverage mutation check format docs verified-checker clean

## demo: solve a real instance and prove that the schedule is optimal
demo: .venv/ready
	$(BIN)/cchybrid solve spidergon-8 AAS
	@echo "The engines' inner loops are compiled now, so that no later run waits for it."
	$(BIN)/cchybrid warm-up

## test: the tests that take less than about half a second each, with few examples of each property
test: .venv/ready-dev
	$(BIN)/python -m pytest -n 3 --dist worksteal $(RERUN) -m "not slow and not long and not faults and not fuzz"

## test-slow: the tests that take longer: whole runs, commands and benchmarks
test-slow: .venv/ready-dev
	$(BIN)/python -m pytest -n 3 --dist worksteal $(RERUN) -m "slow and not long and not faults and not fuzz"

## test-long: the tests that take long, and all examples of the properties
test-long: .venv/ready-dev
	$(BIN)/python -m pytest -n 3 --dist worksteal $(RERUN) -m "(long or hypothesis) and not fuzz" --hypothesis-profile all

## test-fuzz: a thousand mutants of the files of every reader
test-fuzz: .venv/ready-dev
	$(BIN)/python -m pytest -n 4 --dist worksteal -m fuzz tests/fuzz

## coverage: lines and branches of the referee and the checker that their own tests run; about a minute
coverage: .venv/ready-dev
	$(BIN)/python -m coverage run -m pytest -p no:xdist -m "not long" tests/referee tests/checker
	$(BIN)/python -m coverage report

## test-walls: plugins are deleted, and what is left passes its tests; about seven minutes
test-walls: .venv/ready-dev
	$(BIN)/python -m tests.walls

## test-faults: the standing suite of faults: kills, full disks, signals, plugins that do harm; each may fail twice, as the times of the system count
test-faults: .venv/ready-dev
	$(BIN)/python -m pytest -n 2 --dist worksteal --reruns 2 -m faults tests/faults tests/plugins/*/test_faults.py

## mutation: mutants of the referee and the checker, and their report; about an hour, later only those of functions that changed, or with MUTANTS='cchybrid.checker.sums*' some
mutation: .venv/ready-dev
	@# mutmut copies tests, but leaves those that are gone, and their names.
	rm -rf mutants/tests mutants/mutmut-stats.json
	@# A mutant that takes memory without end gets an error instead.
	ulimit -v 6000000 && nice $(BIN)/python tests/mutation/run.py run $(MUTANTS)
	$(BIN)/python -m tests.mutation

## check: style, types, layers
check: .venv/ready-dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/python -m pytest -q tests/test_layers.py

## format: put the code into its standard form
format: .venv/ready-dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

## docs: the documentation as static HTML in docs/_build/html; a warning is an error
docs: .venv/ready-dev
	$(BIN)/python -m sphinx -E -W --keep-going -q -b html docs docs/_build/html

## verified-checker: the second checker, extracted from proofs, for check --verified; needs Coq and OCaml; about a minute
verified-checker: build/verified-checker

PROOFS := cchybrid/checker/proofs
# Each file after those that it needs.
PROVED := Sums Model Facts Plain Walks Paths Prices Routes Sets Offers NestedSets Worth Verify \
	TickOffers TickSets TickRoutes TickLinear Clauses Refutation \
	Allreduce AllreduceBounds AllreduceParts AllreduceVerify AllreduceCheck Check Pieces

build/verified-checker: $(wildcard $(PROOFS)/*)
	@command -v coqc >/dev/null && command -v ocamlopt >/dev/null || \
		{ echo "coqc or ocamlopt is missing; install the Debian packages coq and ocaml-nox" >&2; exit 2; }
	rm -rf build/proofs $@ && mkdir -p build && cp -r $(PROOFS) build/proofs
	cd build/proofs && for file in $(PROVED); do coqc -q $$file.v || exit; done
	@# What each theorem assumes: nothing, or the build fails.
	cd build/proofs && coqc -q -w -extraction-opaque-accessed Extract.v >assumptions && cat assumptions
	@cd build/proofs && ! grep -qv '^Closed under the global context$$' assumptions && \
		test $$(grep -c . assumptions) -eq $$(grep -c '^Print Assumptions' Extract.v)
	cd build/proofs && ocamlopt -w -a verified.mli verified.ml && \
		ocamlopt verified.cmx json.ml main.ml -o ../verified-checker

.venv/bin/python:
	@test -n "$(PYTHON)" || { echo "no Python 3.11 to 3.13 found; set PYTHON=/path/to/python3" >&2; exit 2; }
	@# Debian splits ensurepip and pip off Python; without them pip is fetched by itself.
	@$(PYTHON) -c 'import ensurepip' 2>/dev/null && $(PYTHON) -m venv .venv || \
		{ $(PYTHON) -m venv --without-pip --clear .venv && \
		  $(PYTHON) .ci/fetch_pip.py $(BIN)/python; } || \
		{ rm -rf .venv; echo "cannot make a virtual environment; install python3-venv" >&2; exit 2; }

.venv/ready: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable .
	@touch $@

.venv/ready-dev: .venv/bin/python pyproject.toml
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --editable '.[dev]'
	@touch .venv/ready $@

clean:
	find . -name __pycache__ -prune -exec rm -rf {} +
	rm -rf docs/_build docs/generated .venv build *.egg-info .mypy_cache .ruff_cache .pytest_cache .hypothesis .coverage
