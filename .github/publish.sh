#!/usr/bin/env bash
# publish.sh BRANCH COMMAND…   makes the files that COMMAND writes the next commit of BRANCH, and pushes it to origin.
#
# COMMAND gets the folder `branch` as its last argument. The branch's history.csv lies in it, if there is one. Nothing is
# checked out, and nothing is forced: where somebody else pushed meanwhile, all begins anew, after a pause that grows.
set -euo pipefail
name=$1
shift
export GIT_AUTHOR_NAME=grade GIT_AUTHOR_EMAIL=grade@users.noreply.github.com
export GIT_COMMITTER_NAME=$GIT_AUTHOR_NAME GIT_COMMITTER_EMAIL=$GIT_AUTHOR_EMAIL
index=$(git rev-parse --absolute-git-dir)/published

for try in {1..10}; do
  rm -rf branch "$index"
  mkdir branch
  tip=$(git ls-remote origin "refs/heads/$name" | cut -f 1)
  if [ "$tip" ]; then
    git fetch --quiet --depth=1 origin "$tip"
    if git cat-file -e "$tip:history.csv" 2>/dev/null; then
      git show "$tip:history.csv" >branch/history.csv
    fi
  fi
  "$@" branch
  GIT_INDEX_FILE=$index git -C branch --work-tree=. add --all --force
  tree=$(GIT_INDEX_FILE=$index git write-tree)
  commit=$(git commit-tree "$tree" ${tip:+-p "$tip"} -m "${name^} of $GITHUB_SHA")
  if git push --quiet origin "$commit:refs/heads/$name"; then
    exit 0
  fi
  sleep "$((RANDOM % (try * ${PAUSE:-4} + 1)))"
done
echo "::error::The branch $name could not be pushed, ten times: see above whether it is protected; else run this again."
exit 1
