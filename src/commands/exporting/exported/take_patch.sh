#!/bin/sh
# Prints what an agent has left in the folder of R, as a patch on R. Agents may stage and commit, so
# it compares with the commit that the image names, through an index of its own.
set -e
cd "${1:?the folder of R}"
commit=$(cat /opt/swt-bench/commit)
GIT_INDEX_FILE=$(mktemp)
export GIT_INDEX_FILE
trap 'rm -f "$GIT_INDEX_FILE"' EXIT
git read-tree "$commit"
git add --all
git -c core.quotePath=true diff --cached --binary --no-color --no-ext-diff --no-textconv \
  --no-renames --src-prefix=a/ --dst-prefix=b/ "$commit" --
