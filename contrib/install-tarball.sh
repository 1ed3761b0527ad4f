#!/bin/sh
# Puts worstcase in place, or takes it away: ./install.sh [--remove] [PREFIX]     PREFIX: /usr/local
set -eu
cd "$(dirname "$0")"
remove=""
if [ "${1:-}" = --remove ]; then
    remove=1
    shift
fi
prefix=${1:-/usr/local}
for file in $(find bin share -type f); do
    if [ -n "$remove" ]; then
        rm -f "$prefix/$file"
    else
        mkdir -p "$prefix/$(dirname "$file")"
        cp "$file" "$prefix/$file"
    fi
done
if [ -n "$remove" ]; then
    rmdir "$prefix/share/doc/worstcase" 2>/dev/null || true
    echo "worstcase is no longer in $prefix"
else
    echo "$("$prefix/bin/worstcase" --version | head -n 1) is in $prefix/bin; units to copy are in units/"
fi
