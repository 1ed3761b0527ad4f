SUMMARY = "How late Linux can be, measured and explained"
DESCRIPTION = "Measures wake-up latencies of this machine, and explains the worst of them. The lab, which needs a PC, is not in it."
SECTION = "console/utils"
# Its own licence and those of the crates that it holds; with Apache-2.0 among them the executable as a whole is under GPL version 3
# or later. `worstcase licences` tells all notices.
LICENSE = "GPL-2.0-or-later AND 0BSD AND Apache-2.0 AND BSD-2-Clause AND LGPL-2.1-or-later AND MIT AND Zlib"
LIC_FILES_CHKSUM = "file://LICENSE;md5=b234ee4d69f5fce4486a80fdaf4a4263"

# The tree that holds this layer, at the commit that is checked out there. Who keeps it on a server sets both in local.conf:
#     WORSTCASE_GIT = "git://SERVER/worstcase.git;protocol=https;branch=main"
#     SRCREV:pn-worstcase = "COMMIT"
WORSTCASE_GIT ?= "git://${@os.path.realpath(os.path.join(d.getVar('THISDIR'), '../../../..'))};protocol=file;usehead=1;nobranch=1"
SRC_URI = "${WORSTCASE_GIT}"
SRCREV ?= "${AUTOREV}"
PV = "0.1.0+git"

inherit cargo cargo-update-recipe-crates systemd

# The list of crates: once, and after each change of Cargo.lock, `bitbake -c update_crates worstcase` writes it beside this file.
include ${BPN}-crates.inc

COMPATIBLE_HOST = "(x86_64|aarch64|riscv64).*-linux"
CARGO_BUILD_FLAGS += "--package worstcase"
# Programs of the lab are for a PC's QEMU.
export WORSTCASE_LAB = "no"

SYSTEMD_SERVICE:${PN} = "worstcase-host.service worstcase-watch.service"
SYSTEMD_AUTO_ENABLE = "disable"

do_install:append() {
    if ${@bb.utils.contains('DISTRO_FEATURES', 'systemd', 'true', 'false', d)}; then
        install -d ${D}${systemd_system_unitdir}
        for unit in ${SYSTEMD_SERVICE:${PN}}; do
            sed 's#/usr/local/bin/#${bindir}/#' ${S}/contrib/$unit > ${D}${systemd_system_unitdir}/$unit
        done
    fi
}
