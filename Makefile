# `make` or `make help` lists what there is. The environment lives in .venv and is made on demand
# from the locks in requirements/; stamps inside it make a second run quick.

SHELL := bash
.SHELLFLAGS := -euo pipefail -c
.DELETE_ON_ERROR:
.DEFAULT_GOAL := help
MAKEFLAGS += --no-builtin-rules

# The Python that makes the environment (3.11 or newer).
PYTHON ?= python3
# The Cargo profile of the extension: `release` for measurements, `fast` for a quicker build.
PROFILE ?= release
# Whether a recorded profile guides the optimisation: of the wheel `auto` where a tool is found that
# reads what this rustc measures, `1` or not at all, `0` never; of the extension only with `1`.
PGO ?= auto
# Processes that run the Python tests: a number, `auto` or `0` for none beside the first.
PYTEST_WORKERS ?= auto
# More arguments for pytest, such as `PYTEST_ARGS="-k framing"`.
PYTEST_ARGS ?=
# Seconds that `make fuzz` spends on each target, and the toolchain it does so with.
FUZZ_SECONDS ?= 30
FUZZ_TOOLCHAIN ?= nightly

# In automation a stale Cargo.lock is an error; at a desk Cargo brings it up to date.
LOCKED := $(if $(CI),--locked)

VENV := $(CURDIR)/.venv
BIN := $(VENV)/bin
PIP := $(BIN)/python -m pip --disable-pip-version-check
STAMPS := $(VENV)/.stamps

export PATH := $(BIN):$(PATH)
# maturin and mypy look for the environment here. Cargo finds its interpreter the same way.
export VIRTUAL_ENV := $(VENV)
unexport PYTHONHOME
unexport PYTHONPATH
unexport CONDA_PREFIX

RUST_SOURCES := Cargo.toml Cargo.lock \
	$(wildcard rust/core/Cargo.toml rust/py/Cargo.toml rust/core/build.rs rust/py/build.rs) \
	$(shell find rust/core/src rust/py/src -name '*.rs' 2>/dev/null)
# What of this repository is Python; the folders that are not there yet are left out.
PYTHON_FOLDERS := $(wildcard python tests benches examples docs)
TYPED_FOLDERS := $(wildcard python/turntape tests benches examples)

.PHONY: help
help: ## List the targets
	@grep -hE '^[a-z-]+:.*## ' $(MAKEFILE_LIST) \
		| awk 'BEGIN { FS = ":.*## " } { printf "  %-12s %s\n", $$1, $$2 }'
	@printf '\nVariables: PYTHON PROFILE PGO PYTEST_WORKERS PYTEST_ARGS FUZZ_SECONDS FUZZ_TOOLCHAIN (see the Makefile)\n'

# The main job ---------------------------------------------------------------------------------

.PHONY: demo
demo: build ## Make the environment, build, and decode the bundled streams
	$(BIN)/python examples/demo.py

# Environment and build ------------------------------------------------------------------------

$(STAMPS)/created:
	@command -v $(PYTHON) >/dev/null \
		|| { echo "make: '$(PYTHON)' is not there: install Python 3.11 or newer, or set PYTHON=" >&2; exit 1; }
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' \
		|| { echo "make: turntape needs Python 3.11 or newer, $(PYTHON) is $$($(PYTHON) -V 2>&1): set PYTHON=" >&2; exit 1; }
	@command -v cargo >/dev/null \
		|| { echo "make: 'cargo' is not there: install a Rust toolchain, by rustup for instance" >&2; exit 1; }
	$(PYTHON) -m venv --clear $(VENV)
	@mkdir -p $(STAMPS)
	@touch $@

$(STAMPS)/dependencies: requirements/dev.txt $(STAMPS)/created
	$(PIP) install --quiet --require-hashes --requirement requirements/dev.txt
	@touch $@

$(STAMPS)/docs: requirements/docs.txt $(STAMPS)/dependencies
	$(PIP) install --quiet --require-hashes --requirement requirements/docs.txt
	@touch $@

$(STAMPS)/peers: requirements/peers.txt $(STAMPS)/dependencies
	$(PIP) install --quiet --require-hashes --requirement requirements/peers.txt
	@touch $@

# One stamp for each profile, and only the last one built stays: a change of profile rebuilds.
GUIDED := $(filter 1,$(PGO))
EXTENSION := $(STAMPS)/extension-$(PROFILE)$(if $(GUIDED),-pgo)
$(EXTENSION): $(RUST_SOURCES) pyproject.toml $(STAMPS)/dependencies
	@rm -f $(STAMPS)/extension-*
	$(if $(GUIDED),tool=$$($(BIN)/python -m benches.profdata); PATH="$$tool:$$PATH" MATURIN_PGO=1) PIP_QUIET=1 $(BIN)/maturin develop --profile $(PROFILE)
	@touch $@

.PHONY: environment build
environment: $(STAMPS)/dependencies ## Make .venv with the locked development dependencies
build: $(EXTENSION) ## Build the extension module into .venv

# Checks ---------------------------------------------------------------------------------------

.PHONY: test test-rust test-python
test: test-rust test-python ## Make the environment, build, run all tests (Rust and Python)

# The bindings hold conversions and nothing else; the Python tests cover them. Testing them from
# Cargo would need a shared libpython to link with, which many machines do not have.
test-rust: ## Run the Rust tests
	cargo test $(LOCKED) --workspace --exclude turntape-py

test-python: build ## Run the Python tests
	$(BIN)/python -m pytest --numprocesses $(PYTEST_WORKERS) $(PYTEST_ARGS)

.PHONY: lint lint-python lint-rust
lint: lint-python lint-rust ## Formatting, linters, type checkers and the check of the stubs

lint-python: build
	$(BIN)/ruff check $(PYTHON_FOLDERS)
	$(BIN)/ruff format --check $(PYTHON_FOLDERS)
	$(BIN)/mypy $(TYPED_FOLDERS)
	$(BIN)/pyright --warnings
	$(BIN)/python -m mypy.stubtest --mypy-config-file pyproject.toml turntape._native

lint-rust: environment
	cargo fmt --all --check
	cargo clippy $(LOCKED) --workspace --all-targets -- --deny warnings

.PHONY: format
format: environment ## Format everything and apply the safe fixes
	$(BIN)/ruff check --fix $(PYTHON_FOLDERS)
	$(BIN)/ruff format $(PYTHON_FOLDERS)
	cargo fmt --all

# Measurements ---------------------------------------------------------------------------------

BENCH := $(BIN)/python -m pytest benches --benchmark-enable --benchmark-only \
	--benchmark-disable-gc --timeout 0 $(PYTEST_ARGS)

.PHONY: bench bench-peers
bench: build ## Measure turntape (CONTRIBUTING says how to read the tables)
	$(BENCH) -m "not peer"
	cargo bench $(LOCKED) --package turntape-core

bench-peers: build $(STAMPS)/peers ## Measure turntape beside its peers; renews the table and chart
	$(BENCH) -m peer --peer-report README.md

# Fuzzing --------------------------------------------------------------------------------------

.PHONY: fuzz
fuzz: ## Run each fuzz target for FUZZ_SECONDS (needs cargo-fuzz and a nightly toolchain)
	@cargo +$(FUZZ_TOOLCHAIN) --version >/dev/null 2>&1 \
		|| { echo "make fuzz: no '$(FUZZ_TOOLCHAIN)' toolchain: rustup toolchain install $(FUZZ_TOOLCHAIN)" >&2; exit 1; }
	@cargo +$(FUZZ_TOOLCHAIN) fuzz --version >/dev/null 2>&1 \
		|| { echo "make fuzz: no cargo-fuzz: cargo install cargo-fuzz" >&2; exit 1; }
	@targets=$$(cargo +$(FUZZ_TOOLCHAIN) fuzz list --fuzz-dir rust/fuzz); \
	for target in $$targets; do \
		echo "== $$target, $(FUZZ_SECONDS) s"; \
		mkdir -p "rust/fuzz/corpus/$$target"; \
		cargo +$(FUZZ_TOOLCHAIN) fuzz run --fuzz-dir rust/fuzz "$$target" \
			"rust/fuzz/corpus/$$target" "rust/fuzz/seeds/$$target" -- \
			-dict=rust/fuzz/tokens.dict -max_len=4096 \
			-max_total_time=$(FUZZ_SECONDS) -timeout=10 -rss_limit_mb=2048 -print_final_stats=1; \
	done

# Documents and packages -----------------------------------------------------------------------

# Sphinx, because it reads docstrings from the imported package, stubs of a native module or not,
# runs their examples as tests, and is maintained by a community (MkDocs and its themes are not at
# present). Pages are Markdown, through MyST.
.PHONY: docs
docs: build $(STAMPS)/docs ## Build the documentation into docs/_build/html and test its examples
	$(BIN)/python -m sphinx --builder html --fail-on-warning --keep-going docs docs/_build/html
	$(BIN)/python -m sphinx --builder doctest --fail-on-warning docs docs/_build/doctest

# With a profile there are two builds and the training between them (benches/train.py), in an
# environment of its own. `turntape.build_info()` tells which it was.
.PHONY: wheel
wheel: environment ## Build the wheel and the source distribution into dist/ (PGO=0 is quicker)
	rm -rf dist
	case "$(PGO)" in \
		0) tool= ;; \
		1) tool=$$($(BIN)/python -m benches.profdata) ;; \
		auto) tool=$$($(BIN)/python -m benches.profdata) || tool= ;; \
		*) echo "make wheel: PGO is auto, 1 or 0, not $(PGO)" >&2; exit 1 ;; \
	esac; \
	if [[ -n "$$tool" ]]; then \
		PATH="$$tool:$$PATH" $(BIN)/maturin build --release --pgo --out dist; \
		$(BIN)/maturin sdist --out dist; \
	else \
		echo "make wheel: without profile-guided optimisation"; \
		$(BIN)/maturin build --release --sdist --out dist; \
	fi

# Only this target needs uv, and it gets its own environment for it. No index is written down.
LOCK := target/lock/bin/uv pip compile --quiet --universal --python-version 3.11 \
	--generate-hashes --no-emit-index-url --no-emit-find-links \
	--custom-compile-command "make lock" $(LOCK_ARGS)

.PHONY: lock
lock: ## Renew the locks from pyproject.toml and Cargo.toml (LOCK_ARGS=--upgrade takes new versions)
	$(PYTHON) -m venv target/lock
	target/lock/bin/python -m pip install --quiet --upgrade uv
	$(LOCK) --group dev --output-file requirements/dev.txt
	for group in test docs peers; do \
		$(LOCK) --group $$group --constraints requirements/dev.txt \
			--output-file requirements/$$group.txt; \
	done
	cargo metadata --format-version 1 >/dev/null

.PHONY: clean
clean: ## Remove everything that was made here: environment, builds, caches
	rm -rf .venv dist docs/_build target rust/fuzz/target .pytest_cache .mypy_cache .ruff_cache \
		.hypothesis .benchmarks python/turntape/_native*.so python/turntape/_native*.pyd
	find python tests benches examples docs -name __pycache__ -type d -prune -exec rm -rf {} + \
		2>/dev/null || true
