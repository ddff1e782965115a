# Alert rules and dashboard, by Prometheus itself. RUNLEVEL=1: Debian's prometheus would otherwise start a server.
.PHONY: monitoring prometheus dashboard

monitoring: install prometheus ## alert rules and dashboard, asked of a real Prometheus (installs Debian's prometheus; half a minute)
	promtool check rules manifests/monitoring/rules.yaml
	cd manifests/monitoring && promtool test rules rules.test.yaml
	$(BIN)/pytest tests/monitoring

prometheus:
	@command -v promtool >/dev/null || { echo "installing prometheus"; export DEBIAN_FRONTEND=noninteractive RUNLEVEL=1; \
	  install="apt-get install --yes --quiet=2 --no-install-recommends -o DPkg::Lock::Timeout=60 prometheus"; \
	  $$install >/dev/null 2>&1 || { apt-get update --quiet=2 && $$install >/dev/null; }; }

dashboard: install ## write the Grafana dashboard from its questions
	$(BIN)/python -m manifests.monitoring.dashboard
