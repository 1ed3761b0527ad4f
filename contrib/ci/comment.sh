#!/bin/sh
# Posts the Markdown of a gate as a comment on the merge request (GitLab) or pull request (GitHub) of this job. The comment
# of an earlier push is replaced. Needs curl and jq.
#
#   GitLab   GITLAB_TOKEN: a project access token with the scope `api` (a masked variable of the project)
#   GitHub   GITHUB_TOKEN, with the permission `pull-requests: write`, and PULL_REQUEST, its number
#
# Usage: comment.sh latency/gate.md
set -eu
if [ -n "${CI_MERGE_REQUEST_IID:-}" ]; then
    auth="PRIVATE-TOKEN: ${GITLAB_TOKEN:?a project access token with the scope api}"
    thread=$CI_API_V4_URL/projects/$CI_PROJECT_ID/merge_requests/$CI_MERGE_REQUEST_IID/notes
    one=$thread change=PUT
elif [ -n "${PULL_REQUEST:-}" ]; then
    auth="Authorization: Bearer ${GITHUB_TOKEN:?the token of the job}"
    repository=$GITHUB_API_URL/repos/$GITHUB_REPOSITORY
    thread=$repository/issues/$PULL_REQUEST/comments
    one=$repository/issues/comments change=PATCH
else
    echo "comment: this is no merge request or pull request"
    exit 0
fi
[ -s "$1" ] || { echo "comment: $1 is empty or not there" >&2; exit 1; }
call() { curl --silent --show-error --fail --header "$auth" "$@"; }

work=$(mktemp -d)
trap 'rm -rf "$work"' EXIT
# GitHub takes 65536 characters: a longer one goes without its folded parts.
if [ "$(wc -c < "$1")" -gt 65000 ]; then sed '/^<details>/,/^<\/details>/d' "$1"; else cat "$1"; fi > "$work/body"
jq --raw-input --slurp '{body: .}' "$work/body" > "$work/request"
old=$(call "$thread?per_page=100" | jq '[.[] | select(.body | startswith("### worstcase gate")) | .id] | last // empty')
url=$thread
if [ -n "$old" ]; then url=$one/$old; else change=POST; fi
call --request "$change" --header "Content-Type: application/json" --data "@$work/request" "$url" > "$work/answer"
echo "comment: $change $url"
