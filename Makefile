# worstcase: what a user or a developer does. Everything needs a Rust toolchain; the rest is installed when it is missing.
CARGO ?= cargo

# For another machine: make build TARGET=aarch64-unknown-linux-gnu. A static executable, without the lab; CC of the target is
# the linker.
TARGET ?=
# `dist`: smaller, and longer to build.
PROFILE ?= release
WORSTCASE := target/$(TARGET:%=%/)$(PROFILE)/worstcase
# What tells manual, completions and licences: one that this machine can run.
TELL ?= $(WORSTCASE)

# Where `make install` puts things; DESTDIR is for packagers.
PREFIX ?= /usr/local
DESTDIR ?=
BIN := $(DESTDIR)$(PREFIX)/bin
SHARE := $(DESTDIR)$(PREFIX)/share

.PHONY: build install uninstall demo demo-arm64 site deb rpm tarball test bench lint prepare

build: $(if $(TARGET),,prepare)
ifeq ($(TARGET),)
	$(CARGO) build --profile $(PROFILE) --locked
else
	CARGO="$(CARGO)" scripts/build-for $(TARGET) --profile $(PROFILE)
endif

# What was built: the program, its manual and its completions, its licence and those of what it carries. Builds nothing, so that
# root need not.
install:
	@test -x $(WORSTCASE) || { echo "$(WORSTCASE) is not there; give 'make build' first" >&2; exit 1; }
	install -d $(BIN) $(SHARE)/man/man1 $(SHARE)/bash-completion/completions $(SHARE)/zsh/site-functions $(SHARE)/fish/vendor_completions.d $(SHARE)/doc/worstcase
	install -m 755 $(WORSTCASE) $(BIN)/worstcase
	$(TELL) man --output $(SHARE)/man/man1
	$(TELL) completions bash > $(SHARE)/bash-completion/completions/worstcase
	$(TELL) completions zsh > $(SHARE)/zsh/site-functions/_worstcase
	$(TELL) completions fish > $(SHARE)/fish/vendor_completions.d/worstcase.fish
	install -m 644 LICENSE $(SHARE)/doc/worstcase/LICENSE
	$(TELL) licences > $(SHARE)/doc/worstcase/licences.txt

uninstall:
	rm -f $(BIN)/worstcase $(SHARE)/man/man1/worstcase.1 $(SHARE)/man/man1/worstcase-*.1
	rm -f $(SHARE)/bash-completion/completions/worstcase $(SHARE)/zsh/site-functions/_worstcase
	rm -f $(SHARE)/fish/vendor_completions.d/worstcase.fish $(SHARE)/doc/worstcase/LICENSE $(SHARE)/doc/worstcase/licences.txt
	rmdir $(SHARE)/doc/worstcase 2>/dev/null || true

# Two kernels, four subjects, three loads.
demo: build
	$(WORSTCASE) kernels get debian:6.1 debian:6.1-rt
	$(WORSTCASE) lab run --kernel debian:6.1,debian:6.1-rt --preempt none,voluntary,full,rt --load shm,procread,fork \
		--probe wakeup --seeds 5 --samples 1000 --criterion 100us --output demo-run

# Two kernels for boards, and the same loads.
demo-arm64:
	scripts/prepare-board
	$(MAKE) build
	$(WORSTCASE) kernels get debian:6.12/arm64 debian:6.12-rt/arm64
	$(WORSTCASE) lab run --kernel debian:6.12/arm64,debian:6.12-rt/arm64 --load shm,procread,fork \
		--probe wakeup --seeds 5 --samples 1000 --criterion 100us --output demo-run-arm64

# The smallest executable as a package in target/packages.
deb rpm:
	$(MAKE) build PROFILE=dist
	WORSTCASE=target/dist/worstcase scripts/package $@

# A static executable, for any distribution of this machine's kind, or of TARGET's.
tarball:
	CARGO="$(CARGO)" scripts/build-for $(or $(TARGET),$(shell uname -m)-unknown-linux-gnu) --profile dist
	TARGET=$(TARGET) scripts/package tar

# The documents as pages for any server of files: target/site.
site:
	scripts/site

test: prepare
	scripts/prepare-tests
	scripts/test

# Longer measurements: the lab's speed against plain QEMU, fixed cost of a cell, one job against two; a gate asked again and
# again on a busy machine; `host` in a virtual board of arm64; what asking a watch for its metrics adds to its latencies; a commit planted in a kernel's git tree,
# and found (needs flex, bison, bc and pahole); delays planted in newer kernels (needs root and debootstrap).
# Then what must not break it: stops of QEMU, kills and full disks (root) at any instant, bytes that nobody chose, and units
# under a sanitizer. Last the packages, each put into a fresh Debian, used and taken away (root); an image (buildah); the host part
# on an old kernel; the recipes of other builders, where these are; and what the lab promises, with this machine's QEMU.
bench: build
	scripts/bench
	scripts/bench-host
	scripts/bench-board
	scripts/bench-follow
	scripts/check-follow
	scripts/check-time
	scripts/bench-scrape
	scripts/bench-gate
	scripts/bench-bisect
	scripts/planted
	scripts/bench-statistics
	scripts/stop-qemu
	scripts/kill-commands
	scripts/kill-commands --victim qemu --instants 20
	scripts/kill-host
	scripts/fill-disk
	scripts/fuzz
	scripts/sanitize
	$(MAKE) deb rpm tarball
	scripts/bench-packages
	scripts/image
	scripts/check-oldest
	scripts/check-recipes
	scripts/check-qemu
	contrib/qemu/rep-under-icount

# scripts/deny: licences, duplicates and sources of all dependencies, and known defects where the list of them can be had.
lint:
	$(CARGO) fmt --all --check
	$(CARGO) clippy --locked --workspace --all-targets -- -D warnings
	$(CARGO) clippy --locked --package worstcase-plugin --all-targets --no-default-features --features api-v4 -- -D warnings
	$(CARGO) clippy --locked --package worstcase-plugin --all-targets --no-default-features --features api-v7 -- -D warnings
	scripts/deny

# QEMU, a linker and make, from the distribution.
prepare:
	scripts/prepare
