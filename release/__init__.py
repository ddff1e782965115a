"""How a release is made: `make release`, docs/releasing.md. Nothing of it is in the wheel or in the image."""
