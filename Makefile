# Everything from a bare python3 with pip and venv.
#   make demo   set up, then the main job on real data
#   make test   set up, then every test
#   make prove  set up, then the proofs that take minutes
#   make lint   set up, then ruff and mypy
PYTHON ?= python3
BIN := .venv/bin
PACKAGES := core $(patsubst %/pyproject.toml,%,$(sort $(wildcard plugins/*/pyproject.toml)))

demo: .venv/ready
	$(BIN)/python examples/demo.py

test: .venv/ready
	$(BIN)/python -m pytest -n auto --dist worksteal

prove: .venv/ready
	$(BIN)/python -m pytest -m prove -s

lint: .venv/ready
	$(BIN)/ruff check .
	$(BIN)/ruff format --check .
	$(BIN)/mypy $(addsuffix /src,$(PACKAGES)) examples/staircase/src

# pip refuses hashed constraints together with -e, so the pinned packages come first.
.venv/ready: constraints.txt $(addsuffix /pyproject.toml,$(PACKAGES))
	$(PYTHON) -m venv .venv
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --require-hashes -r constraints.txt
	$(BIN)/python -m pip install --quiet --disable-pip-version-check --no-deps --no-build-isolation $(addprefix -e ,$(PACKAGES))
	$(BIN)/python -m pip check
	touch $@

# By hand, after a dependency changes; needs uv. uv.lock names the registry it read, so git ignores it.
constraints:
	uv export --quiet --all-packages --all-extras --group dev --no-emit-workspace \
	  --no-header --no-annotate --format requirements.txt -o constraints.txt

.PHONY: demo test prove lint constraints
