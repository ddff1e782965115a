# The sidecar's page in a real browser: Debian's chromium, driven by playwright. PAGE_FLAGS is passed on to pytest.
# The pictures in the README are those that its tests make: make page PAGE_FLAGS="--pictures docs/images"
.PHONY: page chromium

page: install chromium ## the page at /-/ in a headless Chromium, in a minute and a half (installs Debian's chromium)
	$(BIN)/pytest tests/page $(PAGE_FLAGS)

chromium: $(VENV)/.page
	@command -v chromium >/dev/null || { echo "installing chromium"; export DEBIAN_FRONTEND=noninteractive; \
	  install="apt-get install --yes --quiet=2 --no-install-recommends -o DPkg::Lock::Timeout=60 chromium"; \
	  $$install >/dev/null 2>&1 || { apt-get update --quiet=2 && $$install >/dev/null; }; }

$(VENV)/.page: requirements/page.txt | $(VENV)/.installed
	$(UV) pip install --quiet --python $(BIN)/python --require-hashes -r requirements/page.txt
	@touch $@
