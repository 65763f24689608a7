#!/usr/bin/env bash
# Run a suite and comment its findings with their picture; exit as `biaswatch run --fail-on` does.
# Reads SUITE, TARGET, REPEATS, FAIL_ON, BRANCH, GH_REPO, GH_TOKEN and PULL_REQUEST.
set -euo pipefail
folder=$(mktemp -d)

code=0
biaswatch run "$SUITE" --target "$TARGET" --repeats "$REPEATS" --fail-on "$FAIL_ON" || code=$?
biaswatch report latest --figures "$folder" -o "$folder/report.md" || exit "$code"

# The picture is a file on a branch of its own, which comments can show.
publish_picture() {
	picture="pull-$PULL_REQUEST-$(sha256sum "$folder/gaps.png" | cut -c1-12).png"
	if ! gh api "repos/$GH_REPO/git/ref/heads/$BRANCH" --silent 2>/dev/null; then
		base=$(gh api "repos/$GH_REPO" --jq .default_branch)
		head=$(gh api "repos/$GH_REPO/git/ref/heads/$base" --jq .object.sha)
		gh api "repos/$GH_REPO/git/refs" -f ref="refs/heads/$BRANCH" -f sha="$head" --silent
	fi
	if ! gh api "repos/$GH_REPO/contents/$picture?ref=$BRANCH" --silent 2>/dev/null; then
		base64 --wrap=0 "$folder/gaps.png" >"$folder/content"
		gh api --method PUT "repos/$GH_REPO/contents/$picture" -f branch="$BRANCH" \
			-f message="Picture of a bias run" -F content=@"$folder/content" --silent
	fi
	echo "![Gaps with their intervals](https://github.com/$GH_REPO/blob/$BRANCH/$picture?raw=true)"
}

# The report up to its contents: what was found, and how sure it is.
{
	sed '/^## Contents/,$d' "$folder/report.md"
	[ ! -e "$folder/gaps.png" ] || publish_picture
} >"$folder/comment.md"
gh pr comment "$PULL_REQUEST" --repo "$GH_REPO" --body-file "$folder/comment.md" --edit-last --create-if-none
cat "$folder/comment.md" >>"${GITHUB_STEP_SUMMARY:-/dev/null}"
exit "$code"
