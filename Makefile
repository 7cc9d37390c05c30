# `make` and `make help` list the targets.
.PHONY: help run test torture torture-mutants mutants embargo faults attack pipelines fuzz sanitize browser generated-client schemathesis simulate fleet bench docs docs-check schema settings lint format clean

SECONDS ?= 60
ITEMS ?= 1000
PIPELINES ?= 10000
SEED ?= 1

help: ## Lists the targets
	@sed -nE 's/^([a-z-]+):.*## (.*)/  make \1	\2/p' Makefile

run: ## Serves sample news on http://127.0.0.1:8080 from a private PostgreSQL cluster, until Ctrl-C; PUSH=1 adds mocks of push services
	@scripts/run

test: ## Runs all tests with a temporary PostgreSQL cluster
	@scripts/install-dependencies openssl
	@for program in pgbouncer nginx varnishd promtool strace wget aria2c faketime jq feedparser jing newsboat dbus node verifiers; do scripts/install-dependencies $$program || \
	  echo "make test: the tests that need $$program are skipped" >&2; done
	@scripts/test

torture: ## Breaks servers and databases while clients write and follow, for SECONDS=60 with the random SEED=1
	@scripts/install-dependencies nginx openssl
	@TIDINGS_TORTURE_SECONDS=$(SECONDS) TIDINGS_TORTURE_SEED=$(SEED) \
	  scripts/with-cluster swift test --disable-xctest --filter SystemTests.TortureTests

torture-mutants: ## Verifies that the torture test detects deliberate faults
	@scripts/install-dependencies nginx openssl patch
	@scripts/torture-mutants

embargo: ## Kills servers and the database while ITEMS=1000 scheduled items become due
	@scripts/install-dependencies faketime
	@TIDINGS_EMBARGO_ITEMS=$(ITEMS) scripts/with-cluster swift test --disable-xctest --filter SystemTests.EmbargoTests

mutants: ## Measures how many one-line faults the tests detect; takes hours
	@scripts/install-dependencies openssl python3 nginx strace
	@scripts/mutants

faults: ## Breaks servers, databases, disks, networks and clocks, and prints a table of the observations
	@scripts/install-dependencies nginx faketime ip
	@scripts/faults

attack: ## Attacks a release build while a reader uses it, and prints a table of response times and memory
	@scripts/install-dependencies
	@scripts/attack

pipelines: ## Opens PIPELINES=10000 connections with several requests each, starting from the random SEED=1
	@scripts/install-dependencies
	@TIDINGS_PIPELINES=$(PIPELINES) TIDINGS_PIPELINES_SEED=$(SEED) \
	  scripts/with-cluster swift test --disable-xctest --filter NewsAPITests.PipelineTests

fuzz: ## Sends the server random requests for SECONDS=60 with the random SEED=1
	@scripts/install-dependencies
	@TIDINGS_FUZZ_SECONDS=$(SECONDS) TIDINGS_FUZZ_SEED=$(SEED) \
	  scripts/with-cluster swift test --disable-xctest --no-parallel --filter 'RequestFuzzTests|RepeatedReadTests|ConsoleFormFuzzTests'

sanitize: ## Runs the tests of the libraries with the sanitizers for data races and for wrong uses of memory
	@scripts/install-dependencies openssl
	@scripts/sanitize

simulate: ## Compares the schedule of wakes with fixed intervals, over weeks and for many readers
	@scripts/install-dependencies
	@swift test -c release --disable-xctest --filter FetchSimulatorTests

fleet: ## Simulates a day of PHONES=10000 phones, of DAY=release, with EDGES=20; CHECK=1 compares a small one with real processes
	@scripts/install-dependencies $(if $(CHECK),nginx openssl)
	@scripts/fleet

bench: ## Measures the server on this machine; takes an hour or more
	@scripts/install-dependencies wrk nginx go h2load openssl
	@status=0; for bench in bench bench-reads bench-writes bench-live bench-delivery bench-client bench-media bench-console \
	  bench-fleet bench-scale; do scripts/$$bench || status=$$?; done; exit $$status

docs: ## Builds the documentation of the libraries as a website in .build/docs, for the path BASE= of its host
	@scripts/install-dependencies
	@scripts/docs $(BASE)

docs-check: ## Follows the documentation line by line on a fresh Debian 12 in a folder; needs root
	@swift build --product tidings
	@swift build --product tidings-fetch
	@scripts/check-docs

browser: ## Drives Chromium through a newsroom's day, checks all pages, and stores pictures of them in .build/browser; needs PyPI
	@scripts/browser

generated-client: ## Generates a Python client from openapi.yaml and uses it against a server; needs PyPI
	@scripts/install-dependencies openssl
	@scripts/check-generated-client

schemathesis: ## Sends generated requests for all of openapi.yaml, with a key of each scope; needs PyPI
	@scripts/install-dependencies jq openssl
	@scripts/schemathesis

schema: ## Writes docs/schema.sql, the schema after all migrations
	@TIDINGS_WRITE_SCHEMA=1 scripts/test 'NewsStoreTests\.SchemaTests'

settings: ## Writes docs/settings.md and deploy/environment.example from the table of settings
	@swift build --product tidings
	@.build/debug/tidings settings --format markdown > docs/settings.md
	@.build/debug/tidings settings --format environment > deploy/environment.example

lint: ## Checks format, sizes, imports, migrations and scripts
	@scripts/lint

format: ## Formats the Swift sources
	@swift format --in-place --parallel --recursive --configuration .swift-format \
	  Package.swift Sources Tests Tools

clean: ## Deletes the build folder and the cluster of `make run` with its data
	@scripts/run --remove
	@rm -rf .build .tidings
