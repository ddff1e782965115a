# The whole story on this machine, on a real Ray. DEMO_FLAGS="--plain --json observations.json" is passed on.
DEMO_RAY ?= 2.60.0

.PHONY: demo

demo: install ray-env-$(DEMO_RAY) ## see what is lost without Holdfast, and kept with it, on a real Ray (two minutes)
	@$(BIN)/holdfast demo --ray-env "$(RAY_CACHE)/ray-$(DEMO_RAY)" $(DEMO_FLAGS)
