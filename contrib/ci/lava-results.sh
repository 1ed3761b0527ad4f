#!/bin/sh
# Reports a gate to LAVA: a test case for each of its cells (INCONCLUSIVE is `unknown`), and one with the maximum of each
# cell and seed, which LAVA can chart. Runs on the device after gate.sh; needs jq.
set -eu
out=${OUT:-latency}
PATH=${WORSTCASE_HOME:-$PWD/.worstcase}/bin:$PATH
name() { printf %s "$1" | tr -c 'A-Za-z0-9.+_-' '-'; }

if [ ! -s "$out/gate.json" ]; then
    lava-test-case gate --result fail
    exit 0
fi
results='{PASS: "pass", FAIL: "fail", INCONCLUSIVE: "unknown"}'
jq --raw-output "$results as \$to | .cells[] | \"\(\$to[.outcome]) gate.\(.subject).\(.load).\(.probe)\"" "$out/gate.json" |
    while read -r result cell; do lava-test-case "$(name "$cell")" --result "$result"; done
lava-test-case gate --result "$(jq --raw-output "${results}[.outcome]" "$out/gate.json")"

worstcase show "$out/run" --csv | awk -F, '
    NR == 1 { for (i = 1; i <= NF; i++) at[$i] = i; next }
    $at["quantity"] == "latency" { print $at["id"], $at["max_ns"] }' |
    while read -r cell max; do lava-test-case "$(name "max.$cell")" --result pass --measurement "$max" --units ns; done
