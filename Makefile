# What one does with Weir's source. `make help` lists it.
.DEFAULT_GOAL := help
SHELL := /bin/bash
.SHELLFLAGS := -euo pipefail -c

CARGO ?= cargo
CARGO_DENY_VERSION := 0.20.2

.PHONY: help run test testbed ui chromium images lint deny bench fmt fuzz crds

UI_PARTS := ui/node_modules/.package-lock.json
UI_PAGES := ui/dist/index.html

help: ## list the targets
	@awk -F ':.*## ' '/^[a-z-]+:.*## / { printf "make %-8s %s\n", $$1, $$2 }' $(MAKEFILE_LIST)

run: ui ## see a promotion: a server, a repository and four clusters that play Flux, on this machine
	@$(CARGO) build --quiet --locked --bin weir
	@exec ./target/debug/weir demo

test: lint testbed chromium ## everything that has to pass
	$(CARGO) test --workspace --locked
	$(CARGO) build --quiet --locked --bin weir
	cd ui && npm test --silent
	@echo "everything passed"

testbed: ## build the servers that tests run against: once, a quarter of an hour, needs Go
	@testbed/build

ui: $(UI_PAGES) ## build the web pages that are part of the program; needs Node

$(UI_PAGES): $(UI_PARTS) docs/reference/openapi.json ui/index.html $(shell find ui/src ui/public ui/scripts ui/*.ts -type f)
	@cd ui && npm run --silent build

$(UI_PARTS): ui/package.json ui/package-lock.json
	@command -v npm >/dev/null || { echo "the web pages are built with Node 20.19 or newer: install it" >&2; exit 1; }
	@cd ui && npm install --no-save --silent && touch node_modules/.package-lock.json

# The browser that tests look at the pages with.
chromium:
	@command -v chromium >/dev/null || [ -n "$${CHROMIUM:-}" ] || { apt-get update -q && apt-get install -qy chromium; }

lint: deny ui ## formatting, lints, dependencies
	cd ui && npm run --silent lint
	$(CARGO) fmt --all --check
	$(CARGO) clippy --workspace --all-targets --locked -- -D warnings

# Licences, sources and banned crates. Advisories need a download from outside the registries: `cargo deny check`.
deny:
	@$(CARGO) deny --version 2>/dev/null | grep -qF '$(CARGO_DENY_VERSION)' \
	  || $(CARGO) install --quiet --locked cargo-deny --version $(CARGO_DENY_VERSION)
	$(CARGO) deny --locked check --hide-inclusion-graph bans licenses sources

bench: ui chromium ## measure; what was measured is in bench/README.md
	$(CARGO) bench --workspace --locked
	$(CARGO) build --quiet --release --locked --bin weir
	cd ui && WEIR=$(CURDIR)/target/release/weir npm run --silent bench

fmt: $(UI_PARTS) ## format the source
	$(CARGO) fmt --all
	cd ui && npm run --silent format

images: ui chromium ## make the pictures of the documentation anew
	$(CARGO) build --quiet --locked --bin weir
	cd ui && SCREENSHOTS=1 npm test --silent -- tests/pages

crds: ## write deploy/crds anew from the types
	$(CARGO) run --quiet --bin weir -- export crds --dir deploy/crds

fuzz: ## fuzz the YAML editor for two minutes a target; needs a nightly toolchain
	@$(CARGO) fuzz --version >/dev/null 2>&1 || $(CARGO) install --quiet --locked cargo-fuzz
	cd crates/yaml && for target in $$($(CARGO) +nightly fuzz list); do \
	  $(CARGO) +nightly fuzz run "$$target" -- -max_total_time=120; done
