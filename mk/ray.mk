# Real Ray: one environment a version, outside the tree, and the scenarios that run on them.
RAY_VERSIONS ?= 2.9.3 2.40.0 2.52.1 2.60.0
RAY_PYTHON ?= $(BIN)/python
RAY_CACHE := $(or $(HOLDFAST_CACHE),$(HOME)/.cache/holdfast)

.PHONY: ray ray-fake ray-lock

ray: install $(RAY_VERSIONS:%=ray-env-%) ## the scenarios on the fake and on real Ray (RAY_VERSIONS="2.9.3 2.60.0" chooses)
	$(BIN)/pytest tests/ray --ray-versions="$(RAY_VERSIONS)" --ray-cache="$(RAY_CACHE)" $(RAY_FLAGS)

ray-fake: install ## the same scenarios on the fake dashboard only: no Ray needed
	$(BIN)/pytest tests/ray --ray-versions=""

# The stamp holds the lock's hash and not a time: a fresh clone has new times but the same lock.
ray-env-%: $(UV)
	@lock=requirements/ray-$*.txt; env="$(RAY_CACHE)/ray-$*"; \
	test -f $$lock || { echo "No lock for Ray $*: write requirements/ray-$*.in, then make ray-lock RAY_VERSIONS=$*"; exit 1; }; \
	wanted=$$(cksum < $$lock); \
	test "$$(cat "$$env/.lock-installed" 2>/dev/null)" != "$$wanted" || exit 0; \
	echo "Ray $*: making $$env (about 500 MB, a minute or two)"; \
	mkdir -p "$(RAY_CACHE)" && $(UV) venv --quiet --clear --python $(RAY_PYTHON) "$$env" && \
	$(UV) pip install --python "$$env/bin/python" --require-hashes -r $$lock || { \
	  echo "Ray $* could not be installed for $$($(RAY_PYTHON) --version). If a wheel is missing above: that Ray has none for this Python or this machine."; \
	  echo "Choose another interpreter (make RAY_PYTHON=/path/to/python3.11 ...) or other versions (make ray RAY_VERSIONS=2.60.0)."; exit 1; }; \
	echo "$$wanted" > "$$env/.lock-installed"

ray-lock: $(UV) ## resolve Ray's dependencies again and write requirements/ray-*.txt
	@for version in $(RAY_VERSIONS); do \
	  $(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header requirements/ray-$$version.in -o requirements/ray-$$version.txt || exit 1; \
	done
