# worstcase: what a user or a developer does. Everything needs a Rust toolchain; the rest is installed when it is missing.
CARGO ?= cargo
WORSTCASE := target/release/worstcase

.PHONY: build demo test bench lint prepare

build: prepare
	$(CARGO) build --release --locked

# Two kernels, four subjects, three loads: the study preemption-models in its quick form.
demo: build
	$(WORSTCASE) kernels get debian:6.1 debian:6.1-rt
	$(WORSTCASE) study run preemption-models --quick --output demo-run

test: prepare
	scripts/prepare-tests
	scripts/test

# Longer measurements: the lab's speed against plain QEMU, fixed cost of a cell, one job against two.
bench: build
	scripts/bench
	scripts/bench-host

lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) clippy --locked --package worstcase-plugin --all-targets --no-default-features --features api-v4 -- -D warnings
	$(CARGO) clippy --locked --package worstcase-plugin --all-targets --no-default-features --features api-v7 -- -D warnings

# QEMU, a linker and make, from the distribution.
prepare:
	scripts/prepare
