# What a real API server says to the manifests, the certificates and the webhook. No root, no node, loopback only.
.PHONY: apiserver

apiserver: install ## a real kube-apiserver judges manifests, certificates and webhook (programs: make node-build)
	$(BIN)/pytest tests/apiserver
