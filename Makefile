# `make` and `make help` list the targets.
.PHONY: help run test torture torture-mutants mutants faults attack pipelines fuzz generated-client simulate bench docs-check lint format clean

SECONDS ?= 60
PIPELINES ?= 10000
SEED ?= 1

help: ## Lists the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1	\2/p' Makefile

run: ## Serves sample news on http://127.0.0.1:8080 from a private PostgreSQL cluster, until Ctrl-C
	@scripts/run

test: ## Runs all tests beside a throwaway PostgreSQL cluster
	@scripts/install-dependencies openssl
	@for program in pgbouncer nginx varnishd promtool strace wget aria2c faketime; do scripts/install-dependencies $$program || \
	  echo "make test: its tests are left out without $$program" >&2; done
	@scripts/test

torture: ## Breaks servers and databases under writers and followers for SECONDS=60 with the random SEED=1
	@scripts/install-dependencies nginx openssl
	@TIDINGS_TORTURE_SECONDS=$(SECONDS) TIDINGS_TORTURE_SEED=$(SEED) \
	  scripts/with-cluster swift test --disable-xctest --filter TortureTests

torture-mutants: ## Shows that the torture finds out what is broken on purpose
	@scripts/install-dependencies nginx openssl patch
	@scripts/torture-mutants

mutants: ## Measures how many faults of one line the tests notice, for an hour
	@scripts/install-dependencies openssl python3 nginx strace
	@scripts/mutants

faults: ## Breaks servers, databases, disks, networks and clocks, and makes a table of what was seen
	@scripts/install-dependencies nginx faketime ip
	@scripts/faults

attack: ## Attacks a release build beside a reader, and makes a table of response times and memory
	@scripts/install-dependencies
	@scripts/attack

pipelines: ## Opens PIPELINES=10000 connections with several requests, from the random SEED=1 on
	@scripts/install-dependencies
	@TIDINGS_PIPELINES=$(PIPELINES) TIDINGS_PIPELINES_SEED=$(SEED) \
	  scripts/with-cluster swift test --disable-xctest --filter NewsAPITests.PipelineTests

fuzz: ## Sends the server random requests for SECONDS=60 with the random SEED=1
	@scripts/install-dependencies
	@TIDINGS_FUZZ_SECONDS=$(SECONDS) TIDINGS_FUZZ_SEED=$(SEED) \
	  scripts/with-cluster swift test --disable-xctest --filter 'RequestFuzzTests|HotPathTests'

simulate: ## Compares the schedule of wakes with fixed intervals, over weeks of many readers
	@scripts/install-dependencies
	@swift test -c release --disable-xctest --filter FetchSimulatorTests

bench: ## Measures the server on this machine, for an hour or more
	@scripts/install-dependencies wrk nginx
	@status=0; for bench in bench bench-live bench-client bench-media bench-scale; do \
	  scripts/$$bench || status=$$?; done; exit $$status

docs-check: ## Follows the documentation line by line on a fresh Debian 12 in a folder; needs root
	@swift build --product tidings
	@swift build --product tidings-fetch
	@scripts/check-docs

generated-client: ## Makes a Python client from openapi.yaml and uses it against a server; needs PyPI
	@scripts/install-dependencies
	@scripts/check-generated-client

lint: ## Checks format, sizes, imports, migrations and scripts
	@scripts/lint

format: ## Rewrites the Swift sources in the project's format, and those made by scripts/embed
	@scripts/embed
	@swift format --in-place --parallel --recursive --configuration .swift-format \
	  Package.swift Sources Tests $(wildcard Benchmarks)

clean: ## Deletes the build folder and the cluster of `make run` with its data
	@scripts/run --remove
	@rm -rf .build .tidings
