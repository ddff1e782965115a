# `make perf`: the proxy beside its peers. A peer that cannot be installed here is left out, and the report says so.
HOLDFAST_CACHE ?= $(HOME)/.cache/holdfast
MITMPROXY := $(HOLDFAST_CACHE)/mitmproxy
MITMPROXY_PINS := tests/perf/peers/mitmproxy.txt
NGINX_LUA := nginx libnginx-mod-http-lua lua-cjson

.PHONY: perf perf-admissions perf-journal perf-nginx perf-mitmproxy

perf: install perf-nginx perf-mitmproxy ## latency, CPU and memory beside nginx, nginx+Lua, mitmproxy (QUICK=1: a minute)
	$(BIN)/pytest --quiet tests/perf
	$(BIN)/python -m tests.perf --mitmdump $(MITMPROXY)/bin/mitmdump $(if $(QUICK),--quick) $(PERF)

perf-admissions: install ## head pods by the thousand through a real API server and two replicas (programs: make node-build)
	$(BIN)/python -m tests.perf.admissions $(PERF)

perf-journal: install ## the journal of a thousand RayServices on a real API server (programs: make node-build)
	$(BIN)/python -m tests.perf.journal $(PERF)

# RUNLEVEL=1: Debian's nginx would otherwise start a server on port 80.
perf-nginx:
	@set -- $$(dpkg-query --show --showformat '$${db:Status-Status} ' $(NGINX_LUA) 2>/dev/null); \
	if [ "$$*" = "installed installed installed" ]; then exit 0; fi; \
	if [ "$$(id -u)" != 0 ] || ! command -v apt-get >/dev/null; then \
	  echo "nginx with Lua is left out; to have it beside: apt-get install $(NGINX_LUA)"; exit 0; fi; \
	echo "installing $(NGINX_LUA)"; \
	export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1; \
	install="apt-get install --yes --quiet=2 --no-install-recommends -o DPkg::Lock::Timeout=60 $(NGINX_LUA)"; \
	$$install >/dev/null 2>&1 || { apt-get update --quiet=2 && $$install >/dev/null; } \
	  || echo "nginx with Lua could not be installed and is left out"

perf-mitmproxy: $(UV)
	@cmp --silent $(MITMPROXY_PINS) $(MITMPROXY)/.installed && exit 0; \
	echo "installing mitmproxy into $(MITMPROXY)"; \
	$(UV) venv --quiet --clear --python $(BIN)/python $(MITMPROXY) \
	  && $(UV) pip install --quiet --python $(MITMPROXY)/bin/python -r $(MITMPROXY_PINS) \
	  && cp $(MITMPROXY_PINS) $(MITMPROXY)/.installed \
	  || echo "mitmproxy could not be installed and is left out"
