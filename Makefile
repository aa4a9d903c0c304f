# `make` alone prints the targets. Each target does its own set-up: Python 3.11+ with pip is all it needs.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PY := $(BIN)/python
SEED ?=
EDITION ?= industry
GAMES ?= 1000
SCHEDULES ?= 10000
SECTION ?=
PROTOS := $(shell find proto -name '*.proto' 2>/dev/null)
TESTS ?= tests

.DEFAULT_GOAL := help
# gRPC's handlers run in each child between fork and exec, where one was seen to end by a segmentation fault.
export GRPC_ENABLE_FORK_SUPPORT := 0
.PHONY: help setup proto proto-check proto-baseline fmt lint test test-full play play-distributed demo bench profile rules-coverage \
	mutants games golden lock clean settings chaos chaos-defects outages simulate
.DELETE_ON_ERROR:

help: ## Print this list
	@printf 'Magnate: make TARGET\n\n'
	@sed -n 's/^\([a-z-]*\):[^#]*## \(.*\)/  \1|\2/p' $(MAKEFILE_LIST) | \
		awk -F'|' '{ printf "  %-16s %s\n", $$1, $$2 }'
	@printf '\nVariables: SEED=7 EDITION=industry (demo), GAMES=1000 (games), TESTS=tests/rules (test)\n'

# ---- set-up -------------------------------------------------------------------------------------------------------
# Two stamps: the site needs the runtime only, development needs all. pip checks every file against the lock's hashes.

$(PY):
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || \
		{ echo 'Magnate needs Python 3.11 or newer; name one with: make PYTHON=python3.12 ...' >&2; exit 1; }
	@echo 'setup: making $(VENV)'
	@$(PYTHON) -m venv $(VENV) || { $(PYTHON) -m pip install --quiet virtualenv && $(PYTHON) -m virtualenv -q $(VENV); }

$(VENV)/.runtime: requirements.lock | $(PY)
	@echo 'setup: installing the runtime (half a minute)'
	@lock=requirements.lock; if [ -f $(VENV)/.development ]; then lock=requirements-dev.lock; fi; \
		$(PY) -m pip install -qq --disable-pip-version-check --no-deps --require-hashes -r $$lock
	@mkdir -p gen/python/magnate
	@$(PY) -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@

$(VENV)/.development: requirements-dev.lock | $(PY)
	@echo 'setup: installing the tools of development (half a minute)'
	@$(PY) -m pip install -qq --disable-pip-version-check --no-deps --require-hashes -r requirements-dev.lock
	@mkdir -p gen/python/magnate
	@$(PY) -m pip install -qq --disable-pip-version-check --no-deps --no-build-isolation -e .
	@touch $@ $(VENV)/.runtime

gen/.stamp: $(PROTOS) scripts/generate_protos.py $(VENV)/.runtime
	@$(PY) scripts/generate_protos.py
	@touch $@

setup: $(VENV)/.development gen/.stamp ## Make .venv with everything for development and generate the code

lock: $(VENV)/.development ## Renew the lock files after a change of pyproject.toml
	@$(BIN)/uv pip compile pyproject.toml --extra source --universal --python-version 3.11 --generate-hashes \
		--no-emit-index-url --no-annotate --no-header -q -o requirements.lock
	@$(BIN)/uv pip compile pyproject.toml --extra source --extra local --extra dev -c requirements.lock --universal \
		--python-version 3.11 --generate-hashes --no-emit-index-url --no-annotate --no-header -q -o requirements-dev.lock

# ---- contracts ----------------------------------------------------------------------------------------------------

proto: $(VENV)/.runtime ## Generate the code of the contracts into gen/
	@$(PY) scripts/generate_protos.py
	@touch gen/.stamp

proto-check: $(VENV)/.development ## Lint the contracts and look for breaking changes against proto/baseline.binpb
	@cd proto && ../$(BIN)/buf lint
	@if [ -f proto/baseline.binpb ]; then cd proto && ../$(BIN)/buf breaking --against baseline.binpb; \
		else echo 'proto/baseline.binpb is missing: make proto-baseline' >&2; exit 1; fi
	@echo 'contracts: lint and compatibility are fine'

proto-baseline: $(VENV)/.development ## Renew proto/baseline.binpb from the present contracts
	@cd proto && ../$(BIN)/buf build --exclude-source-info -o baseline.binpb

# ---- checks -------------------------------------------------------------------------------------------------------

fmt: $(VENV)/.development ## Format the code and fix what can be fixed
	@$(BIN)/ruff format .
	@$(BIN)/ruff check --fix .

lint: setup proto-check ## Style, types, imports and contracts
	@$(BIN)/ruff format --check .
	@$(BIN)/ruff check .
	@$(BIN)/mypy
	@$(BIN)/lint-imports --no-logo

settings: setup ## Renew docs/settings.md, the table of all environment variables
	@$(PY) -m tests.tools.settings_table

# Those of whole sites wait for processes most of the time, those of the parts less: they run side by side.
PART_TESTS := $(addprefix tests/,bots clock deploy gateway kit property rules simulation table)

test: setup ## Run the tests (the share that fits CI); TESTS= names a part
	@if [ '$(TESTS)' != tests ]; then exec $(PY) -m pytest $(TESTS) -q; fi; \
		$(PY) -m pytest $(PART_TESTS) -q >$(VENV)/part-tests.log 2>&1 & parts=$$!; \
		trap 'kill $$parts; exit 130' INT TERM; \
		$(PY) -m pytest tests $(PART_TESTS:%=--ignore=%) -q; sites=$$?; \
		echo 'tests of the parts:'; wait $$parts; parts=$$?; cat $(VENV)/part-tests.log; \
		exit $$((sites | parts))

test-full: setup ## Run the tests in their long form
	@MAGNATE_TEST_FULL=1 $(PY) -m pytest $(TESTS) -q

rules-coverage: setup ## List each statement of the ledgers with the tests that name it
	@$(PY) -m tests.tools.rules_coverage

mutants: setup ## Change the core in many small ways and see the tests notice
	@$(PY) -m tests.tools.mutants

games: setup ## Play GAMES whole games of bots of EDITION (or all) without a network
	@$(PY) -m tests.tools.games $(GAMES) --edition $(EDITION)

golden: setup ## Keep a dozen games of each edition that has none (tests/golden)
	@$(PY) -m tests.tools.golden

chaos: setup ## Kill, stop and restart every part of a distributed site under load, and judge (SEED=, FAULTS=, TABLES=)
	@GRPC_VERBOSITY=ERROR $(PY) -m tests.chaos $(if $(SEED),--seed $(SEED)) $(if $(FAULTS),--faults $(FAULTS)) $(if $(TABLES),--tables $(TABLES))

chaos-defects: setup ## Plant defects in such a site, and see the judgement find each
	@MAGNATE_TEST_FULL=1 $(PY) -m pytest tests/chaos/test_chaos.py -q -k defect

simulate: setup ## Play SCHEDULES seeded schedules of faults on virtual time, or one of them with its trace (SEED=)
	@$(PY) -m tests.simulation $(if $(SEED),--seed $(SEED),--schedules $(SCHEDULES))

bench: setup ## Measure; prints the figures and writes bench.json (SECTION=clock,idle: only these)
	@$(PY) -m tests.bench $(if $(SECTION),--only $(SECTION))

outages: setup ## Kill and stop every part under live games; renews the table of docs/outages.md (ten minutes; SEED=)
	@GRPC_VERBOSITY=ERROR $(PY) -m tests.outages $(if $(SEED),--seed $(SEED))

profile: setup ## Show where the time of the embedded site goes
	@$(PY) -m tests.bench.profile

# ---- the program --------------------------------------------------------------------------------------------------

play: gen/.stamp ## Start the whole site and print where to connect
	@exec $(BIN)/magnate up

play-distributed: setup ## Start a distributed site on this machine: two replicas of everything, Postgres and Redis
	@exec $(BIN)/magnate up --distributed

demo: gen/.stamp ## Play a whole game of four bots through the gateway, export and replay it (SEED=, EDITION=)
	@exec $(BIN)/magnate demo --edition $(EDITION) $(if $(SEED),--seed $(SEED))

clean: ## Remove what is generated, and the environment
	rm -rf $(VENV) gen build dist .mypy_cache .ruff_cache .pytest_cache .import_linter_cache .hypothesis
	find services gateway tests scripts -name __pycache__ -type d -prune -exec rm -rf {} +
