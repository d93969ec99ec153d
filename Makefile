# run: the app. test: everything, with what it needs. coverage: the same, measured; takes half as long again. test-windows: what asks the system, under Wine. test-clients: with nine real AI clients,
# which take 2 GB. check: style, types, imports.
# bench: measures, into build/figures.json; bench-search SETS=folder: how well tools are found, and tokens; figures: the tables of docs and README from that. soak: a million calls. conformance: the official suite and others' SDKs, direct and behind the hub. docs: the site.
# ci-full: .ci/run with what takes long besides. package: files to install, in dist/ (ONLY="deb archive python"); package-windows: those for Windows, in dist/windows; package-test: tries them. lock: newer dependencies.
.PHONY: run test coverage test-windows test-clients check bench bench-search figures soak conformance conformance-of-rest conformance-of-mcp docs package package-windows package-windows-test package-test ci-full lock prepare
.DELETE_ON_ERROR:

PIP = -m pip --disable-pip-version-check --no-input install --quiet
# lock files name everything, so nothing is resolved again: a release of today must not make pip look for another version
LOCKED = $(PIP) --require-hashes --no-deps --only-binary :all:

run: .venv/.run
	@trap : INT; .venv/bin/tooltray || { code=$$?; test $$code -eq 130 || exit $$code; }  # Ctrl-C is how one ends it

test: prepare
	.venv/bin/python scripts/run_tests.py

coverage: prepare
	.venv/bin/python -m coverage erase
	.venv/bin/python scripts/run_tests.py --coverage
	.venv/bin/python -m coverage combine --quiet
	@rm -f .coverage.*  # of programs killed while they wrote it
	.venv/bin/python -m coverage report; report=$$?; .venv/bin/python scripts/check_branches.py && exit $$report

check: .venv/.dev
	@git grep -nE '^(<{7}|>{7}) '; test $$? -eq 1  # what a merge has left; 1: it found nothing
	.venv/bin/ruff check .
	.venv/bin/ruff format --check .
	.venv/bin/mypy
	.venv/bin/mypy --config-file scripts/mypy_windows.ini
	.venv/bin/lint-imports
	.venv/bin/python scripts/languages.py
	.venv/bin/python scripts/verb_table.py --check
	.venv/bin/python scripts/figures.py --check
	.venv/bin/python scripts/words.py
	.venv/bin/python scripts/licences.py
	.venv/bin/python packaging/macos/check.py
	@$(MAKE) --silent .cache/audit/.installed || true  # without an index the next line says that nothing was looked up
	.venv/bin/python scripts/audit.py .cache/audit/bin/pip-audit

bench: prepare .cache/installers/.installed
	.venv/bin/python -m tests.bench.run

bench-search: .venv/.dev
	.venv/bin/python -m tests.bench.search_rows tests/data/search $(SETS)
	.venv/bin/python -m tests.bench.task_tokens
	.venv/bin/python -m tests.bench.steps

figures: .venv/.dev
	.venv/bin/python scripts/figures.py build/figures.json

soak: .venv/.dev
	.venv/bin/python -m tests.bench.soak

CONFORMANCE = tests/npm/node_modules/.installed .cache/fastmcp/.installed .cache/serena/.installed .cache/confined/.installed \
    tests/confined/node_modules/.installed
conformance: .venv/.dev
	@$(MAKE) --silent --jobs=2 $(CONFORMANCE)  # they mostly wait for the network
	@scripts/system_packages.sh browser
	@$(MAKE) --jobs=2 --output-sync=target conformance-of-rest conformance-of-mcp

conformance-of-rest:  # each takes one core for about as long as the other
	.venv/bin/python -m pytest tests/conformance/test_rest_schema.py

conformance-of-mcp:
	.venv/bin/python -m pytest tests/conformance --ignore tests/conformance/test_rest_schema.py
	.venv/bin/python tests/conformance/run.py

docs: .venv/.run .cache/docs/.installed
	rm -rf build/reference
	.venv/bin/python scripts/docs_reference.py build/reference
	.cache/docs/bin/python -m mkdocs build --strict --quiet

package: .cache/package/.installed
	@scripts/system_packages.sh package
	.cache/package/bin/python packaging/build.py $(addprefix --only ,$(ONLY))

# on Linux too, by Wine: what only Windows has, and the unit tests of what asks the system for files, programs and connections
ON_WINDOWS = carriers/control carriers/http_server config/foreign_configs config/secrets config/settings consent/tokens foundation/files \
    foundation/home foundation/installs records/log servers/launch servers/transports sources/project_files sources/projects \
    tooltray_bridge
test-windows:
	scripts/windows_python.sh -m pytest -c tests/windows/pytest.ini --rootdir . --confcutdir tests/windows tests/windows
	scripts/windows_python.sh -m pytest -c tests/windows/pytest.ini --rootdir . --confcutdir . $(addprefix tests/unit/,$(ON_WINDOWS))

# not in .ci/run: the clients are 2 GB of other people's programs, most of them not free to be redistributed
test-clients: .venv/.dev tests/ai_clients/node_modules/.installed
	.venv/bin/python -m pytest tests/ai_clients

package-windows: .cache/package/.installed
	.cache/package/bin/python packaging/windows/build.py

package-windows-test:
	python3 packaging/windows/selftest.py

package-test: .venv/.run .cache/installers/.installed
	@scripts/system_packages.sh package-test
	.venv/bin/python packaging/selftest.py $(PARTS)

ci-full:
	bash .ci/run full

lock:
	scripts/lock.sh

# what tests and benchmarks need
PREPARED = .cache/fastmcp/.installed .cache/serena/.installed .cache/rmcp/.installed .cache/installers/.installed tests/npm/node_modules/.installed
prepare: .venv/.dev
	@scripts/system_packages.sh tests & system=$$!; \
	$(MAKE) --silent --jobs=2 $(PREPARED); made=$$?; wait $$system && exit $$made  # they mostly wait for the network

.venv/.run: requirements/build.txt requirements/run.txt pyproject.toml desktop/tooltray/__init__.py
	@scripts/make_venv.sh .venv
	@echo "Installing what Tooltray needs into .venv ..."
	@.venv/bin/python $(LOCKED) -r requirements/build.txt
	@.venv/bin/python $(LOCKED) -r requirements/run.txt
	@.venv/bin/python $(PIP) --no-deps --no-build-isolation --editable .
	@touch $@

.venv/.dev: .venv/.run requirements/dev.txt
	@echo "Installing what tests and checks need into .venv ..."
	@.venv/bin/python $(LOCKED) -r requirements/dev.txt
	@touch $@

.cache/fastmcp/.installed: requirements/fastmcp.txt
	@scripts/make_venv.sh .cache/fastmcp
	@echo "Installing FastMCP into .cache/fastmcp ..."
	@.cache/fastmcp/bin/python $(LOCKED) -r requirements/fastmcp.txt
	@touch $@

.cache/serena/.installed: requirements/serena.txt
	@scripts/make_venv.sh .cache/serena
	@echo "Installing Serena into .cache/serena ..."
	@.cache/serena/bin/python $(LOCKED) --no-binary proxy-tools -r requirements/serena.txt
	@touch $@

.cache/rmcp/.installed: requirements/rmcp.txt
	@scripts/make_venv.sh .cache/rmcp
	@echo "Installing servers of early rmcp into .cache/rmcp ..."
	@.cache/rmcp/bin/python $(LOCKED) -r requirements/rmcp.txt
	@touch $@

.cache/confined/.installed: requirements/confined.txt
	@scripts/make_venv.sh .cache/confined
	@echo "Installing the servers that are tried confined into .cache/confined ..."
	@.cache/confined/bin/python $(LOCKED) -r requirements/confined.txt
	@touch $@

.cache/package/.installed: requirements/package.txt requirements/build.txt
	@scripts/make_venv.sh .cache/package
	@echo "Installing what makes the packages into .cache/package ..."
	@.cache/package/bin/python $(LOCKED) -r requirements/build.txt
	@.cache/package/bin/python $(LOCKED) -r requirements/package.txt
	@touch $@

.cache/installers/.installed: requirements/installers.txt
	@scripts/make_venv.sh .cache/installers
	@echo "Installing what installs the wheel into .cache/installers ..."
	@.cache/installers/bin/python $(LOCKED) -r requirements/installers.txt
	@touch $@

.cache/audit/.installed: requirements/audit.txt
	@scripts/make_venv.sh .cache/audit
	@echo "Installing pip-audit into .cache/audit ..."
	@.cache/audit/bin/python $(LOCKED) -r requirements/audit.txt
	@touch $@

.cache/docs/.installed: requirements/docs.txt
	@scripts/make_venv.sh .cache/docs
	@echo "Installing what builds the site into .cache/docs ..."
	@.cache/docs/bin/python $(LOCKED) -r requirements/docs.txt
	@touch $@

tests/npm/node_modules/.installed: tests/npm/package.json tests/npm/package-lock.json requirements/node.txt
	@echo "Installing the npm servers of the tests ..."
	@scripts/npm_install.sh tests/npm
	@touch $@

tests/confined/node_modules/.installed: tests/confined/package.json tests/confined/package-lock.json requirements/node.txt
	@echo "Installing the npm servers that are tried confined ..."
	@scripts/npm_install.sh tests/confined
	@touch $@

tests/ai_clients/node_modules/.installed: tests/ai_clients/package.json tests/ai_clients/package-lock.json requirements/node.txt
	@echo "Installing the AI clients (2 GB) ..."
	@scripts/npm_install.sh tests/ai_clients
	@touch $@
