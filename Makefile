# Six commands: make demo, make test, make check, make bench, make docs and make audit. All but the last set themselves up;
# nothing clever inside.
SHELL := /bin/bash
VENV := .venv
BIN := $(VENV)/bin
PYTHON ?= python3
# One at a time where make works side by side (-j): all of them write into the same folders.
PIP = flock $(VENV)/.pip $(BIN)/python -m pip --quiet --disable-pip-version-check
SOURCES := $(shell find src studies workloads pyproject.toml hatch_build.py LICENSE README.md -type f -not -name '*.pyc' 2>/dev/null | sed 's/ /\\ /g')
PROBE_SOURCES := $(shell find probe -type f -not -path '*/target/*' 2>/dev/null)
CRATES := $(dir $(wildcard workloads/*/Cargo.lock))
TREE := $(CURDIR)
# What we start is told nothing of our own jobs: cargo counts its own, and tests start other makes.
unexport MAKEFLAGS MFLAGS

.PHONY: demo test test-rust test-python compiled check check-python check-rust check-rest bench docs audit setup setup-dev lock clean

demo: setup
	@$(BIN)/scalograph study thread-scaling --quick; code=$$?; \
	case $$code in 0) ;; 5) echo "No answer, or fewer clean runs than requested: see the verdict above.";; *) exit $$code;; esac

# Side by side: the tests of cargo wait more than they compute. Not $(MAKE), which `make -n` would carry out.
test: setup-dev compiled
	make --no-print-directory --jobs=2 test-rust test-python

test-rust:
	scripts/test-rust.sh probe $(CRATES)

test-python:
	@# Compiled tests are kept whatever the environment says: to compile them takes a quarter of a minute.
	env -u PYTHONDONTWRITEBYTECODE $(BIN)/python -m pytest --rerun-alone

compiled: $(VENV)/.prerequisites
	for crate in probe $(CRATES); do (cd $$crate && cargo test --locked --quiet --no-run) || exit 1; done

check: check-python check-rust check-rest

check-python: $(VENV)/.dev
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy

check-rust: $(VENV)/.prerequisites
	for crate in probe $(CRATES); do (cd $$crate && cargo fmt --check && \
		cargo clippy --locked --all-targets --quiet -- -D warnings) || exit 1; done

check-rest: $(VENV)/.dev
	@if command -v shellcheck >/dev/null; then shellcheck .ci/run scripts/*.sh probe/*.sh; \
	else echo "skipped: shellcheck is missing; install it with: apt-get install shellcheck" >&2; test "$$CI" != true; fi

	@if command -v tsc >/dev/null; then tsc -p src/scalograph/report/page/js; \
	else echo "skipped: tsc is missing; install it with: apt-get install node-typescript" >&2; test "$$CI" != true; fi

bench: setup-dev
	$(BIN)/python benchmarks/run_all.py

# A site of the pages as they lie here, with a report of each kept example, by tools that nothing else needs.
docs: $(VENV)/.runtime
	@test -x $(VENV)/docs/bin/python || $(PYTHON) -m venv $(VENV)/docs
	$(VENV)/docs/bin/python -m pip --quiet --disable-pip-version-check install --require-hashes -r requirements/docs.lock
	PYTHON=$(TREE)/$(BIN)/python scripts/docs-site.sh $(VENV)/docs/bin/mkdocs build/site

# Are faults known of what we depend on? Asks over the network, with tools of its own.
audit:
	scripts/audit.sh

setup: $(VENV)/.installed

setup-dev: setup $(VENV)/.dev $(VENV)/.kernel

# Each stamp is made when what it stands for is in place; a second call compares dates and is done.
$(VENV)/.prerequisites: scripts/prerequisites.sh
	@scripts/prerequisites.sh $(PYTHON)
	@mkdir -p $(VENV)
	@touch $@

$(VENV)/.runtime: requirements/runtime.lock | $(VENV)/.prerequisites
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@echo "setup: packages of requirements/runtime.lock"
	@$(PIP) install --require-hashes -r requirements/runtime.lock
	@touch $@

$(VENV)/.build: requirements/build.lock $(VENV)/.runtime
	@echo "setup: packages of requirements/build.lock"
	@$(PIP) install --require-hashes -r requirements/build.lock
	@touch $@

$(VENV)/.probe: $(PROBE_SOURCES) | $(VENV)/.prerequisites
	@rm -rf build/probe
	@echo "setup: the probe"
	@probe/build.sh build/probe
	@touch $@

# A workload in Rust is compiled when a study first uses it: what it is made of is here by then.
$(VENV)/.crates: $(CRATES:=Cargo.lock) | $(VENV)/.prerequisites
	@echo "setup: crates of workloads"
	@for crate in $(CRATES); do (cd $$crate && cargo fetch --locked --quiet --target "$$(rustc --print host-tuple)") || exit 1; done
	@touch $@

$(VENV)/.installed: $(SOURCES) $(VENV)/.build $(VENV)/.probe $(VENV)/.crates
	@rm -rf build/wheel
	@echo "setup: scalograph"
	@SCALOGRAPH_BUILT_PROBE=$(TREE)/build/probe/scalograph-probe \
		$(PIP) wheel --no-index --no-deps --no-build-isolation --wheel-dir build/wheel .
	@$(PIP) install --no-index --no-deps --force-reinstall build/wheel/*.whl
	@touch $@

$(VENV)/.dev: requirements/dev.lock scripts/test-prerequisites.sh $(VENV)/.build
	@scripts/test-prerequisites.sh
	@echo "setup: packages of requirements/dev.lock"
	@$(PIP) install --require-hashes -r requirements/dev.lock
	@touch $@

# What a test of guests boots: a test fetches nothing.
$(VENV)/.kernel: | $(VENV)/.installed $(VENV)/.dev
	@$(BIN)/python scripts/fetch_test_kernel.py
	@touch $@

# After a change of a range in pyproject.toml.
lock:
	scripts/lock.sh

clean:
	rm -rf $(VENV) build probe/target
