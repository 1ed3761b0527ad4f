################################################################################
#
# worstcase
#
################################################################################

# The tree that holds this file, at the commit that is checked out there.
WORSTCASE_TREE = $(realpath $(BR2_EXTERNAL_WORSTCASE_PATH)/../..)
WORSTCASE_VERSION = $(shell git -C $(WORSTCASE_TREE) rev-parse HEAD)
WORSTCASE_SITE = file://$(WORSTCASE_TREE)
WORSTCASE_SITE_METHOD = git
WORSTCASE_SUBDIR = crates/worstcase
WORSTCASE_LICENSE = GPL-2.0-or-later
WORSTCASE_LICENSE_FILES = LICENSE
# Its digest follows from the commit.
BR_NO_CHECK_HASH_FOR += $(WORSTCASE_SOURCE)

# Programs of the lab are for a PC's QEMU.
WORSTCASE_CARGO_ENV = WORSTCASE_LAB=no

$(eval $(cargo-package))
