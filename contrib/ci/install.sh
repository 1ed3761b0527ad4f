#!/bin/sh
# Builds worstcase and puts it into .worstcase (or $WORSTCASE_HOME), unless that version is there already.
#
#   WORSTCASE_GIT   where its repository is
#   WORSTCASE_REF   the commit or tag: pin it, for another version may measure other paths
#
# Needs Debian or Ubuntu with git and a Rust toolchain, and root (or sudo) where a library is missing. The system that runs
# worstcase must not be older than the one that built it.
set -eu
: "${WORSTCASE_GIT:?the address of the repository of worstcase}" "${WORSTCASE_REF:?a commit or tag of it}"
home=${WORSTCASE_HOME:-$PWD/.worstcase}
if [ "$(cat "$home/ref" 2>/dev/null)" = "$WORSTCASE_REF" ]; then
    echo "install: $("$home/bin/worstcase" --version) is there"
    exit 0
fi
src=$(mktemp -d)
trap 'rm -rf "$src"' EXIT
git clone --quiet --no-checkout "$WORSTCASE_GIT" "$src"
git -C "$src" checkout --quiet "$WORSTCASE_REF"
"$src/scripts/prepare"
make -C "$src" build
make -C "$src" install PREFIX="$home"
echo "$WORSTCASE_REF" > "$home/ref"
echo "install: $("$home/bin/worstcase" --version) is in $home"
