# The documentation as a site, and the pages whose commands a test types.
SITE := $(or $(HOLDFAST_CACHE),$(HOME)/.cache/holdfast)/site
SITE_PINS := requirements/site.txt

.PHONY: site cluster-docs

site: $(UV) ## build the documentation as a site into site/; a broken link or a page without a place fails
	@cmp --silent $(SITE_PINS) $(SITE)/.installed || { \
	  echo "installing the site's generator into $(SITE)"; \
	  $(UV) venv --quiet --clear --python $(BIN)/python $(SITE) \
	    && $(UV) pip install --quiet --python $(SITE)/bin/python --require-hashes -r $(SITE_PINS) \
	    && cp $(SITE_PINS) $(SITE)/.installed; }
	$(SITE)/bin/zensical build --clean --strict

cluster-docs: install ## the pages whose readers type along, typed by a test on a real node
	$(BIN)/python -m tests.cluster --walkthroughs --pairs=1.6.2x2.60.0
