#!/bin/sh
# Measures, and asks whether it is worse than the baseline. The exit code is that of `worstcase gate`: 0 PASS, 1 FAIL,
# 10 INCONCLUSIVE; 2 no baseline yet; another one if it could not be measured.
#
#   MEASURE    what is measured: the words after `worstcase`, without quotes and without -o
#   GATE       more options of `worstcase gate`, e.g. --exact
#   BASELINE   the baseline's file (baseline.json)
#   OUT        the folder of the results (latency): run/, gate.md, gate.xml, gate.json, and baseline.json, which is this run
#              as a baseline: commit it when the change is meant. The run of the time before is kept in run.before/
set -eu
: "${MEASURE:=lab run --kernel debian:6.1 --preempt full --load idle,shm,procread --samples 1000 --seeds 6}"
: "${GATE:=}" "${BASELINE:=baseline.json}" "${OUT:=latency}"
PATH=${WORSTCASE_HOME:-$PWD/.worstcase}/bin:$PATH

mkdir -p "$OUT"
if [ -e "$OUT/run" ]; then
    rm -rf "$OUT/run.before"
    mv "$OUT/run" "$OUT/run.before"
fi
# shellcheck disable=SC2086
worstcase $MEASURE --output "$OUT/run"
worstcase gate "$OUT/run" --write-baseline "$OUT/baseline.json"
if [ ! -e "$BASELINE" ]; then
    told="there is no $BASELINE; look at the run, and commit $OUT/baseline.json as $BASELINE"
    echo "gate: $told" >&2
    printf '### worstcase gate: no baseline\n\n%s\n' "$told" > "$OUT/gate.md"
    exit 2
fi
# shellcheck disable=SC2086
worstcase gate "$OUT/run" --baseline "$BASELINE" $GATE --json > "$OUT/gate.json" || case $? in 1 | 10) ;; *) exit $? ;; esac
# shellcheck disable=SC2086
exec worstcase gate "$OUT/run" --baseline "$BASELINE" $GATE --junit "$OUT/gate.xml" --markdown "$OUT/gate.md"
