# The short commands. Each says what it does and ends with one clear line.
# PYTHON: an interpreter of version 3.11 or later. SITE_URL, REPO_URL, EDIT_URI: see mkdocs.yml.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
PORT ?= 8000
# One worker of the tests more than cores: browsers and servers keep it waiting now and then.
JOBS ?= $(shell expr $$(nproc 2>/dev/null || echo 2) + 1)
PIP = $(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r
# uv takes a tenth of pip's time; pip knows indexes of its own configuration, which uv does not read.
INSTALL = $(BIN)/uv pip install --quiet --python $(BIN)/python --require-hashes -r $< 2>/dev/null || $(PIP) $<
GITHUB_FILE = $(BIN)/check-jsonschema --quiet --builtin-schema vendor.github
PYTEST = $(BIN)/python -m pytest -n $(JOBS) --dist worksteal
# click and MkDocs print in colour; Material would print a notice on every run.
export DISABLE_MKDOCS_2_WARNING := true
export NO_MKDOCS_2_WARNING := 1
# Hundreds of processes load the same modules: one compiles them for all, whatever an image has set.
unexport PYTHONDONTWRITEBYTECODE

.PHONY: help serve build check check-code check-notes test test-all links diagrams programs format new lock clean

help: ## List the commands
	@grep -hE '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 12

$(VENV)/site.stamp: requirements/site.lock
	@echo "Creating the environment in $(VENV) from requirements/site.lock, which takes up to a minute …"
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "Python 3.11 or later is needed; set PYTHON=…")'
	@test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	@sed -n '/^uv==/,/[^\\]$$/p' requirements/dev.lock >$(VENV)/uv.lock
	@$(PIP) $(VENV)/uv.lock
	@$(INSTALL)
	@touch $@

$(VENV)/dev.stamp: requirements/dev.lock $(VENV)/site.stamp
	@echo "Installing the tools of tests and checks from requirements/dev.lock, which takes up to a minute …"
	@$(INSTALL)
	@touch $@

serve: $(VENV)/site.stamp ## Browse the handbook at http://127.0.0.1:8000/ with live reload
	@echo "Serving at http://127.0.0.1:$(PORT)/ (Chinese; English under /en/). Stop with Ctrl-C."
	@$(BIN)/python -m mkdocs serve --no-strict --livereload --dev-addr 127.0.0.1:$(PORT) $(SERVE_FLAGS)

build: $(VENV)/site.stamp ## Write site/ and dist/*-offline.zip
	@echo "Building site/ …"
	@$(BIN)/python -m mkdocs build --strict  # never --quiet: it would silence the counting of warnings
	@$(BIN)/python -m hooks zip
	@echo "build: done. Open site/index.html, or unzip the archive anywhere."

diagrams: $(VENV)/dev.stamp ## Draw the diagrams that have no drawing yet, and delete drawings of none (needs Chromium)
	@$(BIN)/python tools/browser.py
	@$(BIN)/python -m tools.diagrams

check: check-code check-notes ## Check notes, data, diagrams and code without building
	@echo "check: all clean."

check-code: $(VENV)/dev.stamp
	@$(BIN)/ruff check --quiet . && $(BIN)/ruff format --quiet --check . || (echo "check: run 'make format'"; exit 1)
	@$(BIN)/mypy --no-error-summary
	@mkdir -p .cache; $(BIN)/lint-imports --no-cache >.cache/rooms.txt 2>&1 || (cat .cache/rooms.txt; exit 1)
	@$(BIN)/zizmor --offline --quiet --persona auditor --strict-collection .github >.cache/zizmor.txt 2>&1 || (cat .cache/zizmor.txt; exit 1)
	@$(GITHUB_FILE)-workflows .github/workflows/*.yml
	@$(GITHUB_FILE)-issue-forms $(filter-out %/config.yml,$(wildcard .github/ISSUE_TEMPLATE/*.yml))
	@$(GITHUB_FILE)-issue-config .github/ISSUE_TEMPLATE/config.yml
	@$(BIN)/check-jsonschema --quiet --builtin-schema vendor.dependabot .github/dependabot.yml
	@$(BIN)/python -m bench pages --check

check-notes: $(VENV)/dev.stamp
	@$(BIN)/python -m hooks check $(CHECK_FLAGS)

links: $(VENV)/dev.stamp ## Ask other sites whether the links to them live, and write .cache/external/report.md
	@mkdir -p .cache/external
	@cd .cache/external && find ../../docs -name '*.md' -o -path '*/data/*.yml' | ../../$(BIN)/lychee \
		--config ../../lychee.toml --no-progress --format markdown --output report.md --files-from -; \
		test $$? -lt 3 && echo "links: see .cache/external/report.md"

# HANDBOOK_SITE: a site that was just built for the addresses of tests/conftest.py; else one is built.
test: $(VENV)/dev.stamp ## Run the tests (installs a browser where none is found)
	@$(BIN)/python tools/browser.py
	@$(PYTEST) -m "not slow and not release" $(TEST_FLAGS)
	@echo "test: all passed."

test-all: $(VENV)/dev.stamp ## Run all of them, as before a release; CI leaves out those marked release
	@$(BIN)/python tools/browser.py
	@$(PYTEST) $(TEST_FLAGS)
	@echo "test-all: all passed."

CUDA := .venv-cuda
$(CUDA)/cuda.stamp: requirements/cuda.lock
	@echo "Creating the environment of the CUDA compiler from requirements/cuda.lock …"
	@test -x $(CUDA)/bin/python || $(PYTHON) -m venv $(CUDA)
	@$(CUDA)/bin/python -m pip install --quiet --disable-pip-version-check --require-hashes -r $<
	@touch $@

programs: $(if $(filter cuda,$(or $(PROGRAMS),cuda)),$(CUDA)/cuda.stamp) ## Compile the programs of the notes and run them; PROGRAMS="cuda mpi" names kinds
	@tools/programs.sh $(PROGRAMS)

format: $(VENV)/dev.stamp ## Format the code
	@$(BIN)/ruff check --quiet --fix . && $(BIN)/ruff format --quiet .
	@echo "format: done."

new: $(VENV)/site.stamp ## Start a note: make new NOTE=link/topo/example
	@test -n "$(NOTE)" || (echo "new: say which note, such as make new NOTE=link/topo/example"; exit 2)
	@$(BIN)/python -m hooks new "$(NOTE)"

lock: $(VENV)/dev.stamp ## Resolve the dependencies anew, with hashes
	@for part in site dev; do \
	  extra=; test $$part = site || extra="--extra $$part"; \
	  against=; test $$part = site || against="--constraint requirements/site.lock"; \
	  $(BIN)/uv pip compile --quiet --upgrade --universal --python-version 3.11 --generate-hashes \
	    --no-emit-index-url --no-header $$extra $$against pyproject.toml -o requirements/$$part.lock || exit 1; \
	done
	@echo "lock: requirements/*.lock written."

clean: ## Remove what the other commands made
	@rm -rf site dist .cache .site-* .pytest_cache .mypy_cache .ruff_cache
	@echo "clean: done (the environment in $(VENV) is kept)."
