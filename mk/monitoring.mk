# The alert rules, by Prometheus' own tool. RUNLEVEL=1: Debian's prometheus would otherwise start a server.
.PHONY: monitoring

monitoring: install ## the alert rules, checked and tested by promtool (installs Debian's prometheus)
	@command -v promtool >/dev/null || { echo "installing prometheus"; export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1; \
	  install="apt-get install --yes --quiet=2 --no-install-recommends -o DPkg::Lock::Timeout=60 prometheus"; \
	  $$install >/dev/null 2>&1 || { apt-get update --quiet=2 && $$install >/dev/null; }; }
	promtool check rules manifests/monitoring/rules.yaml
	cd manifests/monitoring && promtool test rules rules.test.yaml
