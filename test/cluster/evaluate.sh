#!/bin/bash
# Evaluates candidates on a cluster of two nodes on this machine, undisturbed and while nodes, pods
# and the process that evaluates are disturbed. run.mjs starts this script, with what it needs.
# SWT_BENCH_TEST_IMAGE is an archive (`docker save`) of an image with Python and pytest for the
# bundled instance; its name is SWT_BENCH_TEST_IMAGE_NAME. Arguments name the steps to run.
set -euo pipefail
here=$(cd "$(dirname "$0")" && pwd)
root=$(cd "$here/../.." && pwd)
folder=${SWT_BENCH_CLUSTER:?where the cluster is kept}
archive=${SWT_BENCH_TEST_IMAGE:?an archive made by docker save}
image=${SWT_BENCH_TEST_IMAGE_NAME:?the name of the image in it}
cluster=$here/cluster.sh
work=$(mktemp -d)
workers='--workers 1'
export KUBECONFIG=$folder/admin.conf PATH=${SWT_BENCH_CLUSTER_BIN:-$folder/bin}:$PATH

finish() {
  local status=$?
  for job in $(jobs -p); do kill -KILL "$job" 2> /dev/null || true; done
  "$cluster" stop "$folder" || true
  printf '\n%-30s %-7s %s\n' step result seen
  cat "$work/rows"
  if [ "$status" = 0 ]; then rm -rf "$work"; else echo "logs: $work"; fi
}
row() { printf '%-30s %-7s %s\n' "$step" "$1" "$2" >> "$work/rows"; echo "$1: $step: $2"; }
ok() { row ok "$1"; }
fail() { row FAILED "$1"; exit 1; }
# Ends what a step left running, and says so where it broke off without a word.
finish_step() {
  local status=$?
  for job in $(jobs -p); do kill -KILL "$job" 2> /dev/null || true; done
  [ "$status" = 0 ] || grep -q "^$step  *FAILED" "$work/rows" || row FAILED "a command ended with $status"
}
# Undoes what a failed step did to the cluster.
mend() {
  for node in a b; do "$cluster" thaw-node "$folder" $node 2> /dev/null || true; done
  kubectl delete quota --all > "$work/mended" || true
  kubectl taint nodes --all tests- >> "$work/mended" 2>&1 || true
  kubectl delete pods --all --grace-period 0 --force >> "$work/mended" 2>&1 || true
  "$cluster" enforce "$folder"
}

# run NAME CANDIDATES ENGINE OPTION…: becomes the process that evaluates candidates, with results in a
# folder of that name.
run() {
  local name=$1 candidates=$2 engine=$3
  shift 3
  exec node "$root/dist/cli.js" evaluate --dataset "$work/${dataset:-set}.jsonl" \
    --predictions "$work/$candidates.jsonl" --engine "$engine" --memory 1g --cpus 0.5 \
    --source "${source:-tallybook/tallybook=$root/media/sample/repository}" --run-id run \
    --storage "$work/storage-${storage:-$name}" --out "$work/$name" $workers "$@"
}
# In the background only: the shell becomes the process that evaluates, so that it can be killed.
begin() {
  local name=$1 candidates=$2
  shift 2
  run "$name" "$candidates" kubernetes --pending-minutes 3 "$@" > "$work/$name.log" 2>&1
}
evaluate() {
  begin "$@" &
  wait $!
}
pods() { kubectl get pods --no-headers -l swt-bench.made=1 2> /dev/null || true; }
pods_of() { kubectl get pods -o name -l swt-bench.made=1 --field-selector "spec.nodeName=node-$1"; }
entries() { cat "$work/$1/runs/run/entries.jsonl" 2> /dev/null | wc -l; }
same() { node "$here/compare.mjs" "$work/$1" "$work/$2" > "$work/difference" 2>&1 || fail "$(head -c 300 "$work/difference" | tr '\n' ' ')"; }
ends() { wait "$1" || fail "the evaluation ended with $?: $(tail -3 "$work/$2.log")"; }
# until_true SECONDS WHAT COMMAND…
until_true() {
  local end=$((SECONDS + $1)) what=$2
  shift 2
  until "$@" > /dev/null 2>&1; do
    [ $SECONDS -lt $end ] || fail "$what"
    sleep 0.2
  done
}
no_pods() { [ -z "$(pods)" ]; }
ready() { [ "$(kubectl get nodes --no-headers | grep -c ' Ready')" = 2 ]; }
has_entries() { [ "$(entries "$1")" -ge "$2" ]; }
says() { grep -q "$2" "$work/$1.log"; }

# Candidates: those of the sample; slow ones, to disturb; one that uses up the memory. Four instances
# for shards are the bundled one under other names.
material() {
  node -e '
    const [root, work, image] = process.argv.slice(1);
    const { readFileSync, writeFileSync } = require("node:fs");
    const lines = (file) => readFileSync(`${root}/media/sample/${file}.jsonl`, "utf8").trim().split("\n").map((line) => JSON.parse(line));
    const save = (name, rows) => writeFileSync(`${work}/${name}.jsonl`, rows.map((row) => `${JSON.stringify(row)}\n`).join(""));
    const [row] = lines("instance");
    const id = row.instance_id;
    const sample = lines("predictions");
    const test = (name, body) => ({
      instance_id: id,
      model_name_or_path: name,
      model_patch: `diff --git a/tests/test_added.py b/tests/test_added.py\nnew file mode 100644\n--- /dev/null\n+++ b/tests/test_added.py\n@@ -0,0 +1,6 @@\n+import time\n+import unittest\n+\n+class Added(unittest.TestCase):\n+    def test_added(self):\n+        ${body}\n`,
    });
    const names = [id, ...[1, 2, 3].map((each) => `tallybook__tallybook-90${each}`)];
    save("set", names.map((instance_id) => ({ ...row, instance_id, image })));
    save("plain", names.map((instance_id) => ({ ...row, instance_id })));
    save("sample", sample);
    save("slow", [sample[0], ...[1, 2].map((each) => test(`slow-${each}`, "time.sleep(12)"))]);
    save("greedy", [test("greedy", "held = [bytearray(1 << 20) for each in range(4096)]")]);
    save("many", names.flatMap((instance_id) => sample.slice(0, 2).map((each) => ({ ...each, instance_id }))));
  ' "$root" "$work" "$image"
}

step_equal() {
  step='1 as the docker engine'
  docker load -i "$archive" > "$work/load.log"
  (run docker sample docker) > "$work/docker.log" 2>&1 || fail 'the docker engine failed'
  begin whole sample &
  local id=$! seen=
  while kill -0 $id 2> /dev/null; do
    seen="$seen $(kubectl get pods -o 'jsonpath={.items[*].spec.nodeName}')"
    sleep 0.5
  done
  ends $id whole
  same docker whole
  ok "$(entries whole) candidates, entries and reports are equal; $(seconds_of docker whole)"
  step='2 both nodes worked'
  for node in node-a node-b; do [[ $seen == *$node* ]] || fail "$node did not work"; done
  ok "$(grep -o 'node node-.: [0-9]* seconds' "$work/whole.log" | tr '\n' ' ')"
}

# The undisturbed run of the slow candidates.
steady() {
  [ -d "$work/steady" ] || evaluate steady slow || fail 'the undisturbed run failed'
}

# disturb NAME: begins to evaluate the slow candidates, and returns while the first of them runs.
disturb() {
  begin "$1" slow &
  disturbed=$!
  until_true 120 'no candidate finished' has_entries "$1" 1
}

step_killed_node() {
  step='3 a node killed'
  steady
  disturb killed-node
  local began=$SECONDS
  [ -n "$(pods_of a)" ] || fail 'no pod is on the node to kill'
  "$cluster" kill-node "$folder" a
  until_true 60 'the loss was not noticed' says killed-node 'lost the pod'
  local noticed=$((SECONDS - began))
  ends $disturbed killed-node
  same steady killed-node
  ok "noticed after $noticed s; $(entries killed-node) entries, equal"
  "$cluster" restart-node "$folder" a
  until_true 60 'the node did not come back' ready
}

step_frozen_node() {
  step='4 a node frozen'
  steady
  disturb frozen-node
  [ -n "$(pods_of b)" ] || fail 'no pod is on the node to freeze'
  local began
  began=$(date +%s%N)
  "$cluster" freeze-node "$folder" b
  until_true 60 'the freeze was not noticed' says frozen-node 'lost the pod'
  local noticed=$((($(date +%s%N) - began) / 100000000))
  ends $disturbed frozen-node
  "$cluster" thaw-node "$folder" b
  [ $noticed -le 300 ] || fail "noticed only after $((noticed / 10)) s"
  same steady frozen-node
  ok "noticed after $((noticed / 10)).$((noticed % 10)) s; $(entries frozen-node) entries, equal"
  until_true 60 'the node did not come back' ready
}

step_evicted() {
  step='5 a pod evicted'
  steady
  disturb evicted
  local pod
  pod=$(pods | head -1 | cut -d' ' -f1)
  echo "{\"apiVersion\":\"policy/v1\",\"kind\":\"Eviction\",\"metadata\":{\"name\":\"$pod\",\"namespace\":\"default\"}}" |
    kubectl create --raw "/api/v1/namespaces/default/pods/$pod/eviction" -f - > "$work/eviction"
  until_true 60 'the eviction was not noticed' says evicted "lost the pod $pod"
  ends $disturbed evicted
  same steady evicted
  ok "$(grep -o "its pod of node.*" "$work/evicted.log" | head -1 | cut -c1-90); entries equal"
}

step_killed_coordinator() {
  step='6 the coordinator killed'
  steady
  disturb killed
  kill -KILL $disturbed || fail 'the evaluation ended before it could be killed'
  wait $disturbed 2> /dev/null || true
  local before
  before="$(entries killed) entries, $(pods | wc -l) pods left"
  evaluate killed slow || fail 'the second run failed'
  same steady killed
  until_true 60 'pods are left' no_pods
  ok "$before; then $(entries killed) entries, equal, no pod"
}

no_pod_runs() { ! pods | grep -qE 'Running|Pending'; }

step_orphans() {
  step='pods without coordinator'
  disturb orphans
  # The command keeps them every ten seconds; a candidate may end before.
  until_true 60 'no seconds of nodes are kept' test -s "$work/orphans/runs/run/nodes.jsonl"
  kill -KILL $disturbed || fail 'the evaluation ended before it could be killed'
  wait $disturbed 2> /dev/null || true
  local began=$SECONDS ended commands
  [ -n "$(pods)" ] || fail 'no pod was left'
  until_true 300 'pods go on' no_pod_runs
  ended="$(pods | wc -l) pods ended by themselves after $((SECONDS - began)) s"
  evaluate orphans slow || fail 'the second run failed'
  commands=$(grep -o '"command":"[0-9a-f]*"' "$work/orphans/runs/run/nodes.jsonl" | sort -u | wc -l)
  [ "$commands" = 2 ] || fail "the seconds of $commands commands are kept, not of both"
  node "$root/dist/cli.js" report "$work/orphans" > "$work/orphans.report"
  ok "$ended; report: $(grep -oE 'node-[ab] +[0-9]+' "$work/orphans.report" | tr -s ' \n' ' ')s with the killed command's"
}

step_placement() {
  step='placement'
  kubectl taint nodes node-b tests=only:NoSchedule > "$work/taint.log"
  kubectl create priorityclass tests --value=-10 > "$work/priority.log"
  begin placed sample --node-selector swt-bench.test/node=b --toleration tests=only:NoSchedule --priority-class tests &
  local id=$! seen= each='{range .items[*]}{.spec.nodeName}/{.spec.priority} {end}'
  while kill -0 $id 2> /dev/null; do
    seen+=" $(kubectl get pods -l swt-bench.made=1 -o "jsonpath=$each")"
    sleep 1
  done
  kubectl taint nodes node-b tests- >> "$work/taint.log"
  ends $id placed
  seen=$(tr ' ' '\n' <<< "$seen" | grep '^node' | sort -u | tr '\n' ' ')
  [ "$seen" = 'node-b/-10 ' ] || fail "pods were at $seen"
  ok 'only on the tainted node of the selector, with the priority of the class'
}

step_quota() {
  step='a quota'
  [ -d "$work/unsharded" ] || evaluate unsharded many || fail 'the undisturbed run failed'
  kubectl create quota five --hard=pods=5 > "$work/quotas.log"
  workers=
  evaluate quota many --pending-minutes 30 || fail "$(tail -2 "$work/quota.log")"
  says quota '2 workers' || fail "other workers: $(grep -m1 worker "$work/quota.log")"
  kubectl create quota three --hard=pods=3 >> "$work/quotas.log"
  workers='--workers 2'
  evaluate less many --pending-minutes 30 || fail "$(tail -2 "$work/less.log")"
  workers='--workers 1'
  kubectl delete quota five three >> "$work/quotas.log"
  for each in quota less; do same unsharded $each; done
  ok "2 workers for 5 pods; 2 workers with 3 pods: equal; $(grep -o 'waits for room.*' "$work/less.log" | head -1 | cut -c1-140)"
}

# fill MIB: pods that take all memory of the nodes but so much of each.
fill() {
  for node in a b; do
    local free
    free=$(kubectl get node "node-$node" -o 'jsonpath={.status.allocatable.memory}')
    kubectl create -f - > "$work/fill-$node" <<EOC
apiVersion: v1
kind: Pod
metadata: {name: filler-$node}
spec: {nodeName: node-$node, terminationGracePeriodSeconds: 0, containers: [{name: filler, image: "swt-bench.test/pause:1",
  imagePullPolicy: Never, resources: {requests: {memory: "$((${free%Ki} / 1024 - $1))Mi"}}}]}
EOC
  done
  kubectl wait --for=condition=Ready pod/filler-a pod/filler-b --timeout 60s > "$work/filled"
}

step_small_nodes() {
  step='7 nodes too small'
  fill 512
  begin small sample &
  local id=$!
  until_true 60 'nothing says why the pod waits' says small 'waits for room: 1 pending: no node has 1 GiB'
  kill -0 $id || fail 'the evaluation did not wait'
  [ "$(entries small)" = 0 ] || fail 'a candidate was evaluated without room'
  kubectl delete pod filler-a filler-b --wait=false > "$work/emptied"
  ends $id small
  [ -d "$work/whole" ] || evaluate whole sample || fail 'the undisturbed run failed'
  same whole small
  ok "$(grep -o 'waits for room.*' "$work/small.log" | head -1); then equal"
}

step_shards() {
  step='8 four shards merged'
  evaluate unsharded many || fail 'the unsharded run failed'
  local ids=
  for shard in 1 2 3 4; do
    begin "shard-$shard" many --shard "$shard/4" &
    ids="$ids $!"
  done
  for id in $ids; do wait "$id" || fail "a shard ended with $?"; done
  merge() { node "$root/dist/cli.js" merge "${@:2}" --out "$work/$1" > "$work/$1.log" 2>&1; }
  merge merged "$work"/shard-[1-4] || fail "they could not be merged: $(tail -2 "$work/merged.log")"
  same unsharded merged
  ! merge three "$work"/shard-[134] || fail 'a missing shard is not missed'
  says three 'missing: 2$' || fail 'the missing shard is not named'
  merge twice "$work"/shard-[1-4] "$work/shard-2" || fail 'a shard given twice is refused'
  same unsharded twice
  ok "$(entries merged) entries, equal; without one: $(sed -n 's/^run: //p' "$work/three.log")"
}

# Room for one pair, and two processes that open two pairs each. One that held a half for ever would
# wait for the other.
step_pairs() {
  step='pairs where room is short'
  [ -d "$work/unsharded" ] || evaluate unsharded many || fail 'the undisturbed run failed'
  fill 1536
  local ids=
  for each in 1 2; do
    begin "short-$each" many --workers 2 --pending-minutes 30 &
    ids="$ids $!"
  done
  for id in $ids; do wait "$id" || fail "a process ended with $?"; done
  kubectl delete pod filler-a filler-b --wait=false > "$work/emptied"
  for each in 1 2; do same unsharded "short-$each"; done
  ok "two processes with two workers each, room for two pods: equal; $(cat "$work"/short-[12].log | grep -c 'one was given back') halves given back"
}

step_memory() {
  step='a kill for memory'
  evaluate greedy greedy || fail "it was no result: $(tail -2 "$work/greedy.log")"
  node -e '
    const entry = JSON.parse(require("node:fs").readFileSync(process.argv[1], "utf8"));
    if (!entry.evaluated || entry.success || !/memory/.test(entry.explanation)) throw new Error(entry.explanation);
    console.log(entry.explanation);
  ' "$work/greedy/runs/run/entries.jsonl" > "$work/explanation" 2>&1 || fail "$(cat "$work/explanation")"
  ok "$(cat "$work/explanation")"
}

scheduled() { kubectl get events --field-selector reason=Scheduled --no-headers 2> /dev/null | wc -l; }

step_network() {
  step='no network policy enforced'
  "$cluster" relent "$folder"
  local before
  before=$(scheduled)
  if evaluate open sample; then fail 'tests were run with a network'; fi
  [ $(($(scheduled) - before)) -le 4 ] || fail 'further candidates opened pods, which were refused too'
  says open 'does not enforce network policies' || fail "the refusal does not say why: $(tail -2 "$work/open.log")"
  grep -q '"evaluated":true' "$work/open/runs/run/entries.jsonl" 2> /dev/null && fail 'a candidate was evaluated'
  evaluate accepted greedy --accept-network || fail 'it was refused although it is accepted'
  "$cluster" enforce "$folder"
  ok "$(grep -o 'Node node-. does not.*' "$work/open.log" | head -1 | cut -c1-110)"
}

# Nodes are on this machine, and take a registry of 127.0.0.1 without certificates.
step_registry() {
  step='images pushed and pulled'
  docker load -i "$archive" > "$work/load.log"
  [ -d "$work/docker" ] || (run docker sample docker) > "$work/docker.log" 2>&1 || fail 'the docker engine failed'
  local at=127.0.0.1:15000
  cat > "$work/registry.yml" <<EOC
{version: 0.1, storage: {filesystem: {rootdirectory: $work/registry}}, http: {addr: "$at"},
 auth: {htpasswd: {realm: test, path: $work/htpasswd}}}
EOC
  perl -e 'print "tester:", crypt("secret", q($2b$05$abcdefghijklmnopqrstuu)), "\n"' > "$work/htpasswd"
  docker-registry serve "$work/registry.yml" > "$work/registry.log" 2>&1 &
  local registry=$!
  until_true 20 'the registry does not answer' curl -s "http://$at/v2/"
  push() { DOCKER_CONFIG=$work node "$root/dist/cli.js" images push --registry "$at/swt" --ids tallybook__tallybook-217 --storage "$work/storage-docker" > "$work/$1.log" 2>&1; }
  if push refused; then fail 'it was pushed without a login'; fi
  says refused "docker login $at" || fail "the refusal does not say what to do: $(tail -1 "$work/refused.log")"
  local login
  login=$(printf tester:secret | base64)
  echo "{\"auths\": {\"$at\": {\"auth\": \"$login\"}}}" > "$work/config.json"
  push pushed || fail "$(tail -2 "$work/pushed.log")"
  kubectl create secret docker-registry tests --docker-server "$at" --docker-username tester --docker-password secret > "$work/secret.log"
  dataset=plain
  evaluate pulled sample --prebuilt "$at/swt" --pull-secret tests || fail "$(tail -2 "$work/pulled.log")"
  dataset=set
  same docker pulled
  kill $registry
  ok 'refused without a login; then pulled by the nodes, entries and reports are equal'
}

step_job() {
  step='the Job of shards'
  (cd "$work" && node "$root/dist/cli.js" shards --kubernetes 4 --image registry.example/swt-bench:1 --claim work \
    --service-account swt-bench evaluate --dataset set.jsonl --predictions sample.jsonl --engine kubernetes --out results) \
    > "$work/job.yaml" 2> "$work/job.log" || fail "$(cat "$work/job.log")"
  kubectl create --dry-run=server --validate=strict -f "$work/job.yaml" > "$work/created" 2>&1 || fail "$(cat "$work/created")"
  ok "$(cat "$work/created")"
}

# The tests that every engine passes, with the image of the bundled instance.
step_contract() {
  step='the contract of engines'
  mocha contract "SWT_BENCH_CLUSTER_IMAGE=$image" -- --timeout 1800000 -g 'kubernetes engine' \
    'test/contract/*.test.ts' test/containers/warmPair.test.ts
}

# mocha NAME ENVIRONMENT… -- ARGUMENT…: runs tests of the project, with their output in a log.
mocha() {
  local name=$1 variables=
  shift
  while [ "$1" != -- ]; do variables="$variables $1"; shift; done
  shift
  (cd "$root" && env $variables SWT_BENCH_TESTS=full node --import tsx node_modules/mocha/bin/mocha.js "$@") \
    > "$work/$name.log" 2>&1 || fail "$(grep -E '^ +[0-9]+ (passing|failing)' "$work/$name.log" | tr '\n' ' ')"
  ok "$(grep -oE '[0-9]+ passing.*' "$work/$name.log")"
}

# Agents with a program of their own, generation and the server of MCP, with made-up models.
step_agents() {
  step='agents, generation, MCP'
  mocha agents "SWT_BENCH_CLUSTER_IMAGE=$image" -- --timeout 1800000 -g 'kubernetes engine' test/containers/{acpAgents,neverTheAnswer}.test.ts
}

# What nodes were used for, as `report` shows it.
step_nodes() {
  step='seconds of nodes'
  mocha nodes "SWT_BENCH_CLUSTER_IMAGE=$image" -- --timeout 1800000 test/cluster/nodeUse.test.ts
}

# A window of VS Code on the bundled instance, which opens while the nodes have no room.
step_editor() {
  step='a window of VS Code'
  fill 512
  (cd "$root" && SWT_BENCH_CLUSTER_IMAGE=$image node test/windows/run.mjs kubernetes) > "$work/editor.log" 2>&1 ||
    fail "$(grep -E '✗|passed' "$work/editor.log" | tail -3 | tr '\n' ' ')"
  ok "$(grep -oE '[0-9]+ passed.*' "$work/editor.log" | tail -1)"
}

# Not one of the steps by default: it writes a file of the project.
step_record() {
  step='answers of the API'
  local file=$root/test/unit/engine/kubernetes/recordedApi.json
  node "$here/recordApi.mjs" "$image" "$file" > "$work/record.log" 2>&1 || fail "$(tail -2 "$work/record.log")"
  ok "$(wc -c < "$file") bytes"
}

step_validate() {
  step='validate'
  for engine in docker kubernetes; do
    node "$root/dist/cli.js" validate tallybook__tallybook-217 --dataset "$work/set.jsonl" --engine $engine --memory 1g \
      --cpus 0.5 --source "tallybook/tallybook=$root/media/sample/repository" --storage "$work/storage-validate" \
      > "$work/validate-$engine" 2> "$work/validate-$engine.log" || fail "$engine: $(tail -2 "$work/validate-$engine.log")"
  done
  diff <(sed -E 's/[0-9.]+ s\b//g' "$work/validate-docker") <(sed -E 's/[0-9.]+ s\b//g' "$work/validate-kubernetes") \
    > "$work/difference" || fail "$(head -c 300 "$work/difference" | tr '\n' ' ')"
  ok "as on docker: $(head -1 "$work/validate-kubernetes" | cut -c1-90)"
}

step_slurm() {
  step='9 an array of Slurm'
  mocha slurm "PATH=${SWT_BENCH_TEST_PYTHON:?folder of a python3 with pytest}:$PATH" -- --timeout 0 test/cluster/slurm.test.ts
}

# SymPy's environment is built with Docker from the source release, pushed, and pulled by the nodes.
step_real() {
  step='a real instance'
  local data=${SWT_BENCH_DATA:-$root/../shared/data/swe-bench-lite.dev.jsonl} id=sympy__sympy-24152 at=127.0.0.1:15001
  [ -f "$data" ] || { row skipped "no dataset at $data (set SWT_BENCH_DATA)"; return; }
  python3 -m pip download --quiet --disable-pip-version-check --no-deps --no-binary :all: --dest "$work" sympy==1.11.1
  node -e '
    const [data, id, work] = process.argv.slice(1);
    const { readFileSync, writeFileSync } = require("node:fs");
    const line = readFileSync(data, "utf8").split("\n").find((each) => each.includes(`"${id}"`));
    const { test_patch } = JSON.parse(line);
    writeFileSync(`${work}/real.jsonl`, `${line}\n`);
    const test = (name, body) => ({ instance_id: id, model_name_or_path: name, model_patch: `diff --git a/sympy/physics/quantum/tests/test_added.py b/sympy/physics/quantum/tests/test_added.py\nnew file mode 100644\n--- /dev/null\n+++ b/sympy/physics/quantum/tests/test_added.py\n@@ -0,0 +1,6 @@\n+from sympy.physics.quantum import TensorProduct as TP\n+from sympy.physics.quantum.operator import Operator\n+\n+def test_added():\n+    A, B = Operator("A"), Operator("B")\n+    assert ${body}\n` });
    const rows = [
      { instance_id: id, model_name_or_path: "golden", model_patch: test_patch },
      test("reproduces", "TP(2*A + B, A + B).expand(tensorproduct=True) == 2*TP(A, A) + 2*TP(A, B) + TP(B, A) + TP(B, B)"),
      test("passes", "TP(A, B) != TP(B, A)"),
      test("fails", "TP(A, B) == TP(B, A)"),
    ];
    writeFileSync(`${work}/sympy.jsonl`, rows.map((each) => `${JSON.stringify(each)}\n`).join(""));
    const further = test("further", "TP(A, B) * 2 == 2 * TP(A, B)");
    writeFileSync(`${work}/further.jsonl`, `${JSON.stringify(further)}\n`);
  ' "$data" "$id" "$work"
  cat > "$work/open-registry.yml" <<EOC
{version: 0.1, storage: {filesystem: {rootdirectory: $work/open-registry}}, http: {addr: "$at"}}
EOC
  docker-registry serve "$work/open-registry.yml" > "$work/open-registry.log" 2>&1 &
  local registry=$!
  until_true 20 'the registry does not answer' curl -s "http://$at/v2/"
  dataset=real source=$(ls "$work"/sympy-*.tar.gz)
  local base=${SWT_BENCH_TEST_BASE_IMAGE:-swt-test/python:{python\}-bookworm}
  (run sympy-docker sympy docker --prebuilt '' --base-image "$base") \
    > "$work/sympy-docker.log" 2>&1 || fail "the docker engine failed: $(tail -2 "$work/sympy-docker.log")"
  node "$root/dist/cli.js" images push --registry "$at/swt" --ids "$id" --storage "$work/storage-sympy-docker" \
    > "$work/sympy-pushed.log" 2>&1 || fail "$(tail -2 "$work/sympy-pushed.log")"
  # The nodes pull the image here, which the docker engine has already.
  evaluate pulling further --prebuilt "$at/swt" || fail "$(tail -2 "$work/pulling.log")"
  evaluate sympy sympy --prebuilt "$at/swt" || fail "$(tail -2 "$work/sympy.log")"
  # A further command has the base and golden runs already, so its one candidate tells what opening takes.
  storage=sympy-docker
  (run further-docker further docker --prebuilt '' --base-image "$base") > "$work/further-docker.log" 2>&1 ||
    fail "the docker engine failed: $(tail -2 "$work/further-docker.log")"
  storage=sympy
  evaluate further further --prebuilt "$at/swt" || fail "$(tail -2 "$work/further.log")"
  dataset= source= storage=
  kill $registry
  same sympy-docker sympy
  same further-docker further
  ok "$(entries sympy) candidates of $id, entries and reports are equal; $(seconds_of sympy-docker sympy further-docker further)"
}

# seconds_of DOCKER PODS [FURTHER-DOCKER FURTHER-PODS]: seconds of grades on both engines, whose sandboxes
# have the same limits: of the first candidate, for which the pair is opened, and of the later ones. With
# results of further commands, what opening takes of the first. The load tells what the figures are worth.
seconds_of() {
  node -e '
    const [work, ...folders] = process.argv.slice(1);
    const { readFileSync } = require("node:fs");
    const { loadavg } = require("node:os");
    const all = folders.map((each) => readFileSync(`${work}/${each}/runs/run/entries.jsonl`, "utf8").trim().split("\n").map((line) => JSON.parse(line).seconds));
    const [docker, pod] = [0, 1].map((engine) => {
      const [first, ...rest] = all[engine];
      const later = rest.reduce((sum, each) => sum + each, 0) / rest.length;
      return { first, later, opening: all[engine + 2]?.[0] - later };
    });
    const both = (what, of, digits) => `${what} ${of(pod).toFixed(digits)} s (Docker ${of(docker).toFixed(digits)}), ratio ${(of(pod) / of(docker)).toFixed(2)}`;
    const opened = ({ first, opening }) => first - opening;
    console.log([
      both("first grade", ({ first }) => first, 1),
      ...(all.length > 2 ? [both("opening", ({ opening }) => opening, 1), both("first grade of an open pair", opened, 1)] : []),
      both("later ones", ({ later }) => later, 2),
      `load ${loadavg()[0].toFixed(1)}`,
    ].join("; "));
  ' "$work" "$@"
}

step=start
: > "$work/rows"
[ -x "${SWT_BENCH_CLUSTER_BIN:-$folder/bin}/kubectl" ] || "$cluster" build "$folder"
trap finish EXIT
"$cluster" start "$folder"
"$cluster" import "$folder" "$archive" > "$work/import.log"
material
result=0
for name in ${@:-equal killed_node frozen_node evicted killed_coordinator orphans small_nodes shards slurm pairs quota placement memory network registry job validate contract agents nodes editor real}; do
  began=$SECONDS
  # In the background, where a failed command still ends the step.
  (
    trap finish_step EXIT
    "step_$name"
    until_true 120 'pods are left' no_pods
  ) &
  wait $! || { result=1; mend; }
  echo "$name took $((SECONDS - began)) s"
done
exit $result
