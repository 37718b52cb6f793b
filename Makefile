# Each target sets up what it needs; the second time there is nothing left to set up.
PYTHON ?= python3
VENV := .venv
BIN := $(VENV)/bin
READY := $(VENV)/.ready
# Beside the source, or elsewhere where that is read-only.
export COVERAGE_FILE ?= $(shell test -w . && echo .coverage || mktemp -u)

.PHONY: demo page test test-browser coverage test-elsewhere test-data test-slow lint format docs results studies benchmarks cora clean clean-kernels

demo: $(READY)
	$(BIN)/pugnn demo

test: $(READY)
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow and not network and not browser"

# The pages in headless Chromium, where there is one.
test-browser: $(READY)
	$(BIN)/pytest -n 2 --dist worksteal -m "browser and not slow"

# Both, with the lines that no test reaches.
coverage: $(READY)
	$(BIN)/pytest -n 2 --dist worksteal -m "not slow and not network" --cov --cov-report=term

# Numerical tests again, rounded as on another machine: by other instructions and other code of the libraries, and by
# kernels of their own.
ELSEWHERE = ATEN_CPU_CAPABILITY=default MKL_CBWR=COMPATIBLE OPENBLAS_CORETYPE=Haswell NUMBA_CPU_NAME=generic \
  OMP_NUM_THREADS=1 NUMBA_NUM_THREADS=1
NUMERICAL = golden losses models views methods regularisers graph priors metrics evidence explain/test_view_parts.py training
test-elsewhere: $(READY)
	kernels=$$(mktemp -d) && trap 'rm -rf "$$kernels"' EXIT && export $(ELSEWHERE) NUMBA_CACHE_DIR="$$kernels" && \
	  $(BIN)/pytest -n 2 --dist worksteal -m "not slow and not network" $(addprefix tests/,$(NUMERICAL))

# Those that need data sets which do not ship with the package; PUGNN_DATA names their folder.
test-data: $(READY)
	$(BIN)/pytest -m "data and not slow and not network"

test-slow: $(READY)
	$(BIN)/pytest -m "slow or network"

lint: $(READY)
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/typos
	$(BIN)/mypy
	$(BIN)/lint-imports

format: $(READY)
	$(BIN)/ruff check --fix .
	$(BIN)/ruff format .

# site/: the documentation; a warning is an error.
docs: $(READY)
	NO_MKDOCS_2_WARNING=1 $(BIN)/mkdocs build --strict
	PUGNN_SITE=$(CURDIR)/site $(BIN)/pytest -q tests/docs/test_site.py

# src/pugnn/explore/page: the page of the case room from explorer/; needs Node.js. Fails if what is committed differs.
page:
	cd explorer && npm ci --no-audit --no-fund && npm run build
	git diff --exit-code -- src/pugnn/explore/page

# docs/results: every table of the paper, hours on two cores; needs PUGNN_DATA for DBLP. Stopped, it goes on next time.
results: $(READY)
	$(BIN)/pugnn reproduce all --draws 10 --out docs/results
	$(BIN)/pugnn reproduce table3 --reading all --draws 10 --out docs/results
	$(BIN)/pugnn reproduce table2 --reading all --methods naive,nnpu,dist-pu,pu-gnn --datasets cora --draws 10 \
	  --out docs/results
	$(BIN)/pugnn reproduce checks --draws 10 --out docs/results

# The studies beside the paper's tables, as far as an hour on two cores allows, half of it for rare positives; needs
# PUGNN_DATA.
YARDSTICKS = views,views-no-prior,smoothed-logistic,smoothed-logistic-no-prior,centroid,centroid-no-prior,dist-pu,nnpu,label-propagation
GRAPHS = cora,citeseer,cora_ml,squirrel_filtered,polblogs,tolokers,pubmed,dblp,amazon_cs,twitch_de
THINNED = cora,citeseer,cora_ml,squirrel_filtered,tolokers,pubmed,dblp,amazon_cs,twitch_de
studies: $(READY)
	$(BIN)/pugnn reproduce graphs --draws 2 --datasets $(GRAPHS) --methods $(YARDSTICKS) --out docs/results
	$(BIN)/pugnn reproduce wrong-prior --draws 3 --out docs/results
	$(BIN)/pugnn reproduce biased-labels --draws 2 --datasets cora,citeseer,cora_ml --methods $(YARDSTICKS) --out docs/results
	$(BIN)/pugnn reproduce rare --draws 1 --datasets $(THINNED) --out docs/results

# benchmarks/results/: an hour on a quiet machine; needs PUGNN_DATA for DBLP. trust.py, feedback.py, minibatch.py,
# check_up.py and paired.py, which take longer, say themselves how they are run.
benchmarks: $(READY)
	cd benchmarks && for name in busy step scaling variance training views explain attention ids fit tables sql wide_tables structural_features shared_batches smoothing memory ray_cluster scale; do \
	  ../$(BIN)/python $$name.py > results/$$name.tmp && mv results/$$name.tmp results/$$name.txt || exit 1; done

# src/pugnn/datasets/files/cora.npz from its source.
cora: $(READY)
	$(BIN)/python scripts/build_cora.py

$(READY): pyproject.toml constraints.txt
	$(PYTHON) -c 'import sys; sys.exit(sys.version_info < (3, 11) and "pugnn needs Python 3.11 or newer: make PYTHON=python3.11")'
	$(PYTHON) -m venv $(VENV)
	@# torch first and by its exact version: later requirements then find it and fetch no other build.
	$(BIN)/pip install --quiet -c constraints.txt torch==$$(sed -n 's/^torch==//p' constraints.txt)
	$(BIN)/pip install --quiet -c constraints.txt -e ".[dev]"
	touch $(READY)

# Compiled kernels, see CONTRIBUTING.md.
clean-kernels:
	find src -name '*.nb[ic]' -delete

clean: clean-kernels
	rm -rf $(VENV) build dist site .coverage* .mypy_cache .pytest_cache .ruff_cache
