# The front door. `make help` lists what it opens.
SHELL := /bin/bash
.DEFAULT_GOAL := help
BUILD := build/dev
JOBS  ?= $(shell nproc)
# How often what failed is tried: CI gives a second chance and says so, people see each failure.
export ATTEMPTS ?= 1
CTEST := ctest --output-on-failure -j $(JOBS) --repeat until-pass:$(ATTEMPTS) --test-dir

.PHONY: help deps build demo test test-unit lint tidy format bench fuzz e2e cluster asan tsan image clean

help: ## this list
	@awk -F ':.*## ' '/^[a-z-]+:.*## /{printf "  make %-10s %s\n", $$1, $$2}' $(MAKEFILE_LIST)

deps: ## install what packages.txt lists and is missing (root or sudo)
	@tools/deps packages.txt

build: deps ## compile everything (build/dev)
	@cmake --preset dev > /dev/null
	@cmake --build --preset dev -j $(JOBS)

demo: build ## the whole product on simulated GPU machines, in a minute (KEEP=1 leaves the cluster running)
	@command -v kubectl > /dev/null || tools/deps <(echo kubernetes-client)
	@tools/demo $(BUILD)/gpu-operator

test: test-unit e2e ## everything: unit, embedded cluster, and the real control plane where Go is installed

test-unit: build ## unit tests and the embedded cluster
	@$(CTEST) $(BUILD)

e2e: build ## kubectl, helm, Python, the API suite, on the embedded and the real control plane (ENGINES="crio docker": those too)
	@e2e/run $(BUILD)

cluster: deps ## build the real control plane once (needs Go) and start it; `e2e/cluster/down RUN` ends it
	@bin=$$(e2e/cluster/build control-plane) && run=$$(mktemp -d) && e2e/cluster/up $$bin $$run && \
	  echo "export KUBECONFIG=$$run/admin.kubeconfig PATH=$$bin:\$$PATH   # e2e/cluster/down $$run ends it"

# Every room that has tests.
SAN_ROOMS := $(shell for room in $$(sed -n 's/^\([a-z]*\):.*/\1/p' LAYERS); do find src/$$room -name '*_test.cc' 2> /dev/null | grep -q . && echo $$room; done)
asan: deps ## every room under the address and undefined behaviour sanitizers (SAN_ROOMS="os net" for some)
	@cmake --preset asan > /dev/null && cmake --build --preset asan -j $(JOBS) --target $(SAN_ROOMS:%=%_test)
	@$(CTEST) build/asan -R '^($(subst $(eval) ,|,$(SAN_ROOMS)))$$'

TSAN_ROOMS := $(filter base net gpu machine kube,$(SAN_ROOMS))
tsan: deps ## the rooms with threads under the thread sanitizer
	@cmake --preset tsan > /dev/null && cmake --build --preset tsan -j $(JOBS) --target $(TSAN_ROOMS:%=%_test)
	@$(CTEST) build/tsan -R '^($(subst $(eval) ,|,$(TSAN_ROOMS)))$$'

lint: deps ## formatting, shell and Python syntax, heavy headers, words that must not be in the tree
	@tools/lint

tidy: deps ## clang-tidy on every source that changed since it was last clean (slow: half an hour when none was)
	@tools/tidy

format: deps ## clang-format everything
	@git ls-files '*.cc' '*.h' | xargs clang-format-19 -i

bench: deps ## measure what docs/benchmarks.md promises
	@bench/run

fuzz: deps ## every fuzz target for FUZZ_SECONDS (default 30) each, from the corpus in testdata/fuzz
	@cmake --preset fuzz > /dev/null && cmake --build --preset fuzz -j $(JOBS)
	@tools/fuzz build/fuzz

image: ## one OCI image of the stripped program (no daemon needed)
	@tools/image

clean: ## remove build/
	@rm -rf build
