# A release: wheel, sdist, chart, image and bills of materials of the commit that is checked out. docs/releasing.md
IMAGE_BASE ?=
RELEASE_TOOLS := $(or $(HOLDFAST_CACHE),$(HOME)/.cache/holdfast)/release-tools
RELEASE_PINS := requirements/release.txt

.PHONY: release release-rehearsal release-tools release-lock

release: install release-tools ## wheel, chart, image, SBOM into dist/, built twice and checked (IMAGE_BASE=NAME@sha256:...)
	$(BIN)/python -m release --tools="$(RELEASE_TOOLS)" --image-base="$(IMAGE_BASE)"

release-rehearsal: install ## the same where no registry can be asked, on a base image of this machine's Debian packages
	@mkdir -p .cache/release
	$(BIN)/python -m tests.release.base .cache/release/base.tar
	$(MAKE) release IMAGE_BASE=oci-archive:$(CURDIR)/.cache/release/base.tar

release-tools: $(UV)
	@cmp --silent $(RELEASE_PINS) $(RELEASE_TOOLS)/.installed && exit 0; \
	echo "installing the tools of a release into $(RELEASE_TOOLS)"; \
	$(UV) venv --quiet --clear --python $(BIN)/python $(RELEASE_TOOLS) \
	  && $(UV) pip install --quiet --python $(RELEASE_TOOLS)/bin/python --require-hashes -r $(RELEASE_PINS) \
	  && cp $(RELEASE_PINS) $(RELEASE_TOOLS)/.installed

release-lock: $(UV) ## resolve the tools of a release again and write requirements/release.txt
	$(UV) pip compile --quiet --universal --python-version 3.11 --generate-hashes --no-header requirements/release.in -o $(RELEASE_PINS)
