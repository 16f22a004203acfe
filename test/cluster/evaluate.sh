#!/bin/bash
# `npm run test:cluster`: evaluates the bundled candidates on a cluster of two nodes on this machine,
# undisturbed and while the process that evaluates is killed. Needs root, and what cluster.sh needs.
# SWT_BENCH_TEST_IMAGE is an archive (`docker save`) of an image with Python and pytest for the
# bundled instance; its name is SWT_BENCH_TEST_IMAGE_NAME.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=${SWT_BENCH_CLUSTER:-$root/.cache/cluster}
archive=${SWT_BENCH_TEST_IMAGE:?an archive made by docker save}
image=${SWT_BENCH_TEST_IMAGE_NAME:?the name of the image in it}
[ -x "${SWT_BENCH_CLUSTER_BIN:-$folder/bin}/kubelet" ] || "$here/cluster.sh" build "$folder"
trap '"$here/cluster.sh" stop "$folder"' EXIT
"$here/cluster.sh" start "$folder"
"$here/cluster.sh" import "$folder" "$archive" > "$folder/import.log"
export KUBECONFIG=$folder/admin.conf
work=$(mktemp -d)
node -e '
  const [from, to, image] = process.argv.slice(1);
  const { readFileSync, writeFileSync } = require("node:fs");
  const row = JSON.parse(readFileSync(from, "utf8").split("\n")[0]);
  writeFileSync(to, JSON.stringify({ ...row, image }) + "\n");
' "$root/media/sample/instance.jsonl" "$work/set.jsonl" "$image"

evaluate() {
  exec node "$root/dist/cli.js" evaluate --dataset "$work/set.jsonl" \
    --predictions "$root/media/sample/predictions.jsonl" --engine kubernetes --memory 1g --cpus 0.5 \
    --source "tallybook/tallybook=$root/media/sample/repository" --run-id run \
    --storage "$work/storage-$1" --out "$work/$1" --workers 1 --pending-minutes 2
}
pods() { kubectl get pods --no-headers -l swt-bench.made=1 2> /dev/null; }
fail() { echo "FAILED: $1"; exit 1; }
entries() { wc -l < "$work/$1/runs/run/entries.jsonl"; }

evaluate whole > "$work/whole.log" 2>&1 &
seen=
while kill -0 $! 2> /dev/null; do
  seen="$seen $(kubectl get pods -o 'jsonpath={.items[*].spec.nodeName}')"
  sleep 1
done
for node in node-a node-b; do [[ $seen == *$node* ]] || fail "$node did not work"; done
echo "ok: both nodes worked"

evaluate killed > "$work/killed.log" 2>&1 &
id=$!
until [ -s "$work/killed/runs/run/entries.jsonl" ]; do
  kill -0 $id 2> /dev/null || break
  sleep 0.2
done
kill -KILL $id || fail 'the evaluation ended before it could be killed'
wait $id 2> /dev/null || true
echo "killed with $(entries killed) entries and $(pods | wc -l) pods"
(evaluate killed) > "$work/again.log" 2>&1 || true
[ "$(entries killed)" = "$(entries whole)" ] || fail 'a candidate has no entry, or two'
for report in "$work"/whole/evaluation_results/*.json; do
  cmp -s "$report" "$work/killed/evaluation_results/$(basename "$report")" || fail "$report differs"
done
echo "ok: the same reports, one entry a candidate"
for _ in $(seq 30); do [ -z "$(pods)" ] && break; sleep 1; done
[ -z "$(pods)" ] || fail 'pods are left'
echo "ok: no pod is left"
rm -rf "$work"
