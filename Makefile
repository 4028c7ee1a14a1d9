# Pendula from a bare Python: `make demo` and `make test` need Python 3.11 or newer and its pip, nothing else.
# Everything goes into .venv in this folder; the exact versions are in requirements.lock.
# `make bench` has an environment of its own, .venv-bench, so that other engines never mix with ours; other Pythons have
# theirs: `make VENV=.venv-3.12 PYTHON=python3.12 test`.

SHELL := /bin/sh
.DEFAULT_GOAL := help
.DELETE_ON_ERROR:
.PHONY: help setup demo gallery book test test-all test-short test-second ready-to-test kernels-runs kernels-recursion bench docs lint format lock clean moved

# Recursive on purpose: the targets of .venv-bench set VENV for themselves.
VENV = .venv
BIN = $(VENV)/bin
RUN = $(BIN)/python -m

# Settings of the caller that would lead installs or imports away from .venv, or leave them without bytecode.
unexport PYTHONPATH PYTHONHOME PYTHONSTARTUP VIRTUAL_ENV CONDA_PREFIX __PYVENV_LAUNCHER__
unexport PIP_TARGET PIP_PREFIX PIP_ROOT PIP_PYTHON PIP_CONSTRAINT PIP_REQUIRE_VIRTUALENV
unexport PYTHONDONTWRITEBYTECODE PIP_NO_COMPILE
unexport UV_PYTHON UV_SYSTEM_PYTHON UV_TARGET UV_PREFIX UV_CONSTRAINT UV_PROJECT_ENVIRONMENT
export PYTHONNOUSERSITE := 1
export PIP_USER := 0
export PIP_DISABLE_PIP_VERSION_CHECK := 1

help:
	@echo "make demo       two double pendulums from description to report; leaves a page in demo/"
	@echo "make gallery    live pages of all library mechanisms, with an index, in gallery/"
	@echo "make test       lint, then the tests (a few minutes)"
	@echo "make test-all   also the slow tests, the other engines and the examples in the docs"
	@echo "make test-short those that depend most on the Python: kernels, interrupts, files"
	@echo "make test-second  lint and test-short with the newest other Python of this machine, if there is one"
	@echo "make bench      our figures next to those of other engines (into .venv-bench); docs/benchmarks.md anew"
	@echo "                ONLY=ensemble,forward: parts; WITH=jax,octave: these as well; QUICK=1: fewer repeats, no page"
	@echo "make book       the documentation as a site in book/: every example run, every figure drawn; no network needed"
	@echo "make docs       run every Python example of README.md and docs/"
	@echo "make lint       ruff, mypy and the import rules of the rooms"
	@echo "make format     put the code into shape"
	@echo "make setup      only make .venv (all others do it when needed)"
	@echo "make lock       resolve the versions in the lock files anew"
	@echo "make clean      remove what make has made, .venv included"
	@echo "PYTHON=...      the Python that .venv is made from (3.11 or newer; otherwise the first one found)"

# --- setting up --------------------------------------------------------------------------------------

# The stamp .venv/.ready holds the folder it was made in: a .venv that was copied or moved is made anew,
# because its scripts and its link to the sources still point to the old place.
was_moved = $(if $(wildcard $(1)/.ready),$(if $(filter-out $(CURDIR),$(shell cat $(1)/.ready)),moved))
MOVED := $(call was_moved,$(VENV))
BENCH_MOVED := $(call was_moved,.venv-bench)

PYTHONS := python3 python3.13 python3.12 python3.11 python3.14 /usr/bin/python3
IS_NEW_ENOUGH := import sys; sys.exit(sys.version_info < (3, 11))

setup: $(VENV)/.ready
	@echo "Ready: $(BIN)/pendula --help"

# An environment from the first Python that is new enough, unless there is one already.
define make_venv
set -e; \
if [ -z "$(MOVED)" ] && $(BIN)/python -c '$(IS_NEW_ENOUGH)' 2>/dev/null; then exit 0; fi; \
found=; \
for candidate in $(if $(PYTHON),"$(PYTHON)",$(PYTHONS)); do \
    if "$$candidate" -c '$(IS_NEW_ENOUGH)' >/dev/null 2>&1; then \
        found=$$("$$candidate" -c 'import sys; print(sys._base_executable or sys.executable)'); break; \
    fi; \
done; \
if [ -z "$$found" ]; then \
    echo "Pendula needs Python 3.11 or newer; there is none among: $(or $(PYTHON),$(PYTHONS))" >&2; \
    echo "Install one, or name it: make $(or $(MAKECMDGOALS),setup) PYTHON=/path/to/python3" >&2; exit 1; \
fi; \
pip=; \
if ! "$$found" -c 'import ensurepip, venv' 2>/dev/null; then \
    pip=--without-pip; \
    if ! "$$found" -c 'import venv' 2>/dev/null || ! command -v uv >/dev/null; then \
        echo "$$found cannot make a virtual environment with pip in it." >&2; \
        echo "On Debian or Ubuntu: apt install python3-venv; then run make again." >&2; \
        exit 1; \
    fi; \
fi; \
echo "Making $(VENV) with $$("$$found" -V) ($$found)"; \
"$$found" -m venv --clear $$pip $(VENV)
endef

# install ARGUMENTS: by uv if there is one on the PATH, else by the uv of the lock in the environment, else by pip.
# install_each LOCK: all of it, or as much of it as can be had here, naming what cannot.
# uv does not read pip's settings: an index or a certificate that was set for pip is handed on.
define installer
set -e; \
uv=$$(command -v uv || echo $(BIN)/uv); \
set_for_pip() { $(RUN) pip config list 2>/dev/null | sed -n "s/^[^=]*\.$$1='\(.*\)'$$/\1/p" | head -n 1; }; \
index=$$(set_for_pip index-url); cert=$$(set_for_pip cert); \
if [ -n "$$index" ]; then export UV_DEFAULT_INDEX="$${UV_DEFAULT_INDEX:-$$index}"; fi; \
if [ -n "$$cert" ]; then export SSL_CERT_FILE="$${SSL_CERT_FILE:-$$cert}"; fi; \
install() { \
    if command -v "$$uv" >/dev/null; then \
        "$$uv" pip install --quiet --python $(BIN)/python --no-deps "$$@" && return; \
        echo "uv could not (see above); once more with pip, which takes longer"; \
    fi; \
    $(RUN) pip --version >/dev/null 2>&1 || $(RUN) ensurepip >/dev/null; \
    $(RUN) pip install --quiet --no-deps "$$@"; \
}; \
install_each() { \
    install -r "$$1" && return; \
    echo "Not all of $$1 can be had here; one by one"; \
    grep == "$$1" | while IFS= read -r line; do \
        install "$$line" >/dev/null 2>&1 || echo "  left out, could not be installed: $$line"; \
    done; \
}
endef

# Bytecode of all that was installed, without the packages' own tests (a third of it) and tools that are seldom imported.
# Only for benchmarks: elsewhere Python writes that of what it imports, a third of the rest, and no one waits for more.
SELDOM_IMPORTED := /(tests?|pip|setuptools|mypy|mypyc|debugpy)/
compile_all = $(RUN) compileall -q -j 0 -x '$(SELDOM_IMPORTED)' $(VENV)/lib >/dev/null || true

# uv itself, from a lock, if there is none on the PATH.
define get_uv
if ! command -v uv >/dev/null && [ ! -x $(BIN)/uv ]; then \
    echo "Getting uv into $(VENV), to install the rest faster"; \
    $(RUN) pip install --quiet --no-deps --only-binary :all: "$$(grep '^uv==' $(1))" || \
        echo "There is no uv for this machine; pip will do"; \
fi
endef

$(VENV)/.ready: requirements.lock pyproject.toml $(MOVED)
	@rm -f $(VENV)/.ready
	@$(make_venv)
	@$(call get_uv,requirements.lock)
	@$(installer); \
	echo "Installing the packages of requirements.lock ($$(grep -c == requirements.lock)) into $(VENV)"; \
	install -r requirements.lock; \
	echo "Installing pendula itself, editable"; \
	install --no-build-isolation -e .
	@printf '%s\n' "$(CURDIR)" > $(VENV)/.ready

$(VENV)/.ready-peers: $(VENV)/.ready requirements-peer.lock
	@$(installer); \
	echo "Installing the other engines of requirements-peer.lock into $(VENV)"; \
	install -r requirements-peer.lock
	@touch $@

$(VENV)/.ready-book: $(VENV)/.ready requirements-book.lock
	@$(installer); \
	echo "Installing Sphinx and its theme of requirements-book.lock into $(VENV)"; \
	install -r requirements-book.lock
	@touch $@

bench .venv-bench/%: VENV = .venv-bench
bench .venv-bench/%: MOVED = $(BENCH_MOVED)

.venv-bench/.ready: requirements-bench.lock pyproject.toml $(BENCH_MOVED)
	@rm -f .venv-bench/.ready
	@$(make_venv)
	@$(call get_uv,requirements-bench.lock)
	@$(installer); \
	echo "Installing pendula's packages and the other engines of requirements-bench.lock into .venv-bench"; \
	install_each requirements-bench.lock; \
	install --no-build-isolation -e .
	@$(compile_all)
	@printf '%s\n' "$(CURDIR)" > .venv-bench/.ready

.venv-bench/.ready-jax: .venv-bench/.ready requirements-bench-jax.lock
	@$(installer); \
	echo "Installing JAX and diffrax into .venv-bench"; \
	install_each requirements-bench-jax.lock
	@$(compile_all)
	@touch $@

# --- using it ----------------------------------------------------------------------------------------

demo: $(VENV)/.ready
	@echo "Demo: two double pendulums, described, derived, checked, linearized, simulated and reported in one page"
	$(BIN)/python examples/demo.py demo
	@echo "Next: $(BIN)/pendula --help"

gallery: $(VENV)/.ready
	$(BIN)/python docs/make_gallery.py gallery

# Warnings are errors: a broken link, a missing page, an example that fails, a figure that no example draws.
book: $(VENV)/.ready-book
	$(RUN) sphinx -W --keep-going -q -b html -d docs/generated/doctrees docs book
	@echo "Open book/index.html"

lint: $(VENV)/.ready
	@echo "Lint: ruff, mypy, import rules"
	$(BIN)/ruff check
	$(BIN)/ruff format --check
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo

# loadgroup: tests that share compiled systems run in one process (tests/conftest.py says which).
# Two processes with two BLAS threads each, or with a third one that compiles, would wait for each other on two cores.
ALONE = OPENBLAS_NUM_THREADS=1 PENDULA_COMPILE_AHEAD=0
TESTS = $(ALONE) $(RUN) pytest -q -n 2 --dist loadgroup

# One core compiles kernels of the tests; the other does lint and then the rest of the kernels.
ready-to-test:
	@$(MAKE) --no-print-directory -j 2 lint kernels-runs kernels-recursion

kernels-runs: $(VENV)/.ready
	@$(ALONE) $(RUN) tests.kernels_ahead runs proofs lanes

kernels-recursion: $(VENV)/.ready
	@$(ALONE) $(RUN) tests.kernels_ahead recursion callbacks

test: ready-to-test
	@echo "Tests: all but the slow ones and those against other engines (make test-all)"
	$(TESTS) -m "not slow and not peer"

test-all: $(VENV)/.ready-peers ready-to-test
	@echo "Tests: all of them"
	$(TESTS)
	$(BIN)/python docs/check_examples.py

# What depends most on the Python it runs in.
SHORT := tests/numerics/test_kernel_keys.py tests/numerics/test_kernel_cache.py tests/numerics/test_ahead.py \
    tests/simulation/test_interrupts.py tests/app/test_interrupted_commands.py tests/parallel \
    tests/test_files.py tests/tables tests/earlier $(wildcard tests/crossings)

test-short: $(VENV)/.ready
	@echo "Tests: kernels, interrupts and files"
	$(TESTS) -m "not slow and not peer" $(SHORT)

test-second: $(VENV)/.ready
	@python=$$($(RUN) tests.other_python) && \
	if [ -z "$$python" ]; then \
	    echo "No second round: there is no other Python on this machine that pyproject.toml names"; \
	else \
	    echo "Second round, with $$("$$python" -V) ($$python)"; \
	    version=$$("$$python" -c 'import sys; print("%d.%d" % sys.version_info[:2])') && \
	    again="$(MAKE) --no-print-directory VENV=.venv-$$version"; \
	    if $$again PYTHON="$$python" setup; then $$again lint test-short; \
	    else echo "No second round: what it needs cannot be installed here for this Python"; fi; \
	fi

comma := ,
parts = $(subst $(comma), ,$(1))

bench: .venv-bench/.ready $(if $(filter jax,$(call parts,$(WITH))),.venv-bench/.ready-jax)
	$(RUN) benchmarks $(call parts,$(ONLY)) $(if $(WITH),--with $(WITH)) $(if $(QUICK),--quick)

docs: $(VENV)/.ready
	$(BIN)/python docs/check_examples.py

format: $(VENV)/.ready
	$(BIN)/ruff check --fix-only
	$(BIN)/ruff format

# One resolution for all platforms and for Python 3.11 and later. The peers' lock holds only what it adds.
COMPILE := pip compile --quiet --upgrade --universal --python-version 3.11 \
    --no-header --no-annotate --no-emit-index-url --no-emit-find-links pyproject.toml
HEAD := \# Exact versions of what make installs
# Packages whose robots the tests read, as files: without what these packages need to run.
ROBOTS := dm-control example-robot-data gymnasium mujoco-mjx

lock: $(VENV)/.ready
	@$(installer); \
	echo "Resolving the five lock files"; \
	"$$uv" $(COMPILE) --extra plot --extra dev -o $(VENV)/main.lock >/dev/null; \
	"$$uv" $(COMPILE) --extra peer -c $(VENV)/main.lock -o $(VENV)/peer.lock >/dev/null; \
	{ echo "$(HEAD); made by make lock."; cat $(VENV)/main.lock; } > requirements.lock; \
	{ echo "$(HEAD) for test-all, on top of requirements.lock; made by make lock."; \
	  { grep -vxFf $(VENV)/main.lock $(VENV)/peer.lock; \
	    printf '%s\n' $(ROBOTS) | "$$uv" $(filter-out pyproject.toml,$(COMPILE)) --no-deps -; } | sort; \
	  } > requirements-peer.lock; \
	"$$uv" $(COMPILE) --extra book -c $(VENV)/main.lock -o $(VENV)/book.lock >/dev/null; \
	{ echo "$(HEAD) for the book, on top of requirements.lock; made by make lock."; \
	  grep -vxFf $(VENV)/main.lock $(VENV)/book.lock; } > requirements-book.lock; \
	cat $(VENV)/main.lock $(VENV)/peer.lock | sort -u > $(VENV)/known.lock; \
	"$$uv" $(COMPILE) --extra plot --extra peer --extra bench -c $(VENV)/known.lock -o $(VENV)/bench.lock >/dev/null; \
	"$$uv" $(COMPILE) --extra bench-jax -c $(VENV)/bench.lock -o $(VENV)/jax.lock >/dev/null; \
	{ echo "$(HEAD) for bench, into an environment of its own; made by make lock."; \
	  cat $(VENV)/bench.lock; } > requirements-bench.lock; \
	{ echo "$(HEAD) for bench WITH=jax, on top of requirements-bench.lock; made by make lock."; \
	  grep -vxFf $(VENV)/bench.lock $(VENV)/jax.lock; } > requirements-bench-jax.lock

clean:
	rm -rf .venv .venv-bench .venv-3.* demo gallery book docs/generated build dist .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find src tests docs benchmarks examples -name __pycache__ -prune -exec rm -rf {} + 2>/dev/null || true
