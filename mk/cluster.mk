# A real Kubernetes node with real KubeRay operators on this machine, and the users' stories told on it.
# With KUBECONFIG set, the stories run on that cluster and nothing is started here.
CLUSTER_PAIRS ?= 1.0.0x2.9.3 1.6.2x2.60.0
NODE := $(BIN)/python -m tests.cluster.node

.PHONY: cluster cluster-all cluster-baseline cluster-chaos cluster-seen cluster-with-holdfast node-build node-up node-down node-status

cluster: install ## the core of the stories, without Holdfast and with it, oldest and newest pair (CLUSTER_PAIRS chooses)
	$(BIN)/python -m tests.cluster --core --pairs="$(CLUSTER_PAIRS)"

cluster-baseline: install ## every story on every pair without Holdfast, and docs/baseline.md from what was measured
	$(BIN)/python -m tests.cluster --pages $(if $(BASELINE_PAIRS),--pairs="$(BASELINE_PAIRS)")

cluster-with-holdfast: install ## every story with Holdfast installed, and docs/compatibility.md from what was measured
	$(BIN)/python -m tests.cluster --holdfast --pages $(if $(HOLDFAST_PAIRS),--pairs="$(HOLDFAST_PAIRS)")

cluster-all: cluster-baseline cluster-with-holdfast ## every story on every pair, both ways, and both pages (four hours)

cluster-chaos: install ## ten minutes in which something dies every half minute, on the newest pair
	$(BIN)/python -m tests.cluster --holdfast --long --pairs=1.6.2x2.60.0 -k acknowledged_holds

cluster-seen: install chromium prometheus ## page and dashboard on a real node, by a browser and a Prometheus
	$(BIN)/python -m tests.cluster --holdfast --seen --pairs=1.6.2x2.60.0 -k test_x_seen

node-build: install ## build the node's programs into the cache (about 15 minutes, once)
	$(NODE) build

node-up: install ## a Kubernetes node on this machine: needs root, no Docker
	@$(NODE) up

node-down: install ## stop that node and leave nothing behind
	@$(NODE) down

node-status: install ## what of that node runs, and what is left of it
	@$(NODE) status || true
