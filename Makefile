# What one does with Weir's source. `make help` lists it.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

CARGO ?= cargo
CARGO_DENY_VERSION := 0.20.2

.PHONY: help run test testbed lint deny bench fmt fuzz crds

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ## see a promotion: a server, a repository and four clusters that play Flux, on this machine
	@$(CARGO) build --quiet --locked --bin weir
	@exec ./target/debug/weir demo

test: lint testbed ## everything that has to pass
	$(CARGO) test --workspace --locked
	@echo "everything passed"

testbed: ## build the servers that tests run against: once, a quarter of an hour, needs Go
	@testbed/build

lint: deny ## formatting, lints, dependencies
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

# Licences, sources and banned crates. Advisories need a download from outside the registries: `cargo deny check`.
deny:
	@$(CARGO) deny --version 2>/dev/null | grep -qF '$(CARGO_DENY_VERSION)' \
	  || $(CARGO) install --quiet --locked cargo-deny --version $(CARGO_DENY_VERSION)
	$(CARGO) deny --locked check --hide-inclusion-graph bans licenses sources

bench: ## measure; what was measured is in bench/README.md
	$(CARGO) bench --workspace --locked

fmt: ## format the source
	$(CARGO) fmt --all

crds: ## write deploy/crds anew from the types
	$(CARGO) run --quiet --bin weir -- export crds --dir deploy/crds

fuzz: ## fuzz the YAML editor for two minutes a target; needs a nightly toolchain
	@$(CARGO) fuzz --version >/dev/null 2>&1 || $(CARGO) install --quiet --locked cargo-fuzz
	cd crates/yaml && for target in $$($(CARGO) +nightly fuzz list); do \
	  $(CARGO) +nightly fuzz run "$$target" -- -max_total_time=120; done
