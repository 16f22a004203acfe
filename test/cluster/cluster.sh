#!/bin/bash
# A Kubernetes cluster of two nodes on this machine: `cluster.sh build|start|stop|status FOLDER`.
#
# `build` compiles the control plane, the kubelet and kubectl from Go modules (5 to 15 minutes the
# first time). `start` needs root and Debian's packages of run.mjs. All state is below FOLDER; `stop`
# ends only processes whose ids are there.
set -euo pipefail
action=$1
folder=$(mkdir -p "$2" && cd "$2" && pwd)
version=1.34.4
bin=${SWT_BENCH_CLUSTER_BIN:-$folder/bin}
cni=${SWT_BENCH_CNI:-/usr/lib/cni}
api=16443
nodes="a b"
programs="kube-apiserver kube-controller-manager kube-scheduler kubelet kubectl"
export KUBECONFIG=$folder/admin.conf PATH=$bin:$PATH

build() {
  mkdir -p "$bin" "$folder/module"
  cd "$folder/module"
  export GOFLAGS=-mod=mod GOTOOLCHAIN=local CGO_ENABLED=0
  local source
  source=$(go mod download -json "k8s.io/kubernetes@v$version" | sed -n 's/^\t"Dir": "\(.*\)",\{0,1\}$/\1/p')
  {
    echo "module swtbench.test/cluster"
    echo "go 1.24.0"
    echo "require k8s.io/kubernetes v$version"
    echo "replace ("
    # The staging modules are published under versions of their own: v1.34.4 as v0.34.4.
    sed -nE "s|^[[:space:]]+(\S+) => \./staging/src/\S+|\t\1 => \1 v0.${version#1.}|p" "$source/go.mod"
    echo ")"
  } > go.mod
  {
    echo "//go:build tools"
    echo "package tools"
    for each in $programs; do
      echo "import _ \"k8s.io/kubernetes/cmd/$each\""
    done
  } > tools.go
  local at=k8s.io/component-base/version
  for each in $programs; do
    nice -n 10 go build -trimpath -o "$bin/" \
      -ldflags "-s -w -X $at.gitVersion=v$version -X $at.gitMajor=1 -X $at.gitMinor=34" \
      "k8s.io/kubernetes/cmd/$each"
  done
  mkdir -p "$folder/pause"
  cat > "$folder/pause/main.go" <<'GO'
package main

import (
	"os"
	"os/signal"
	"syscall"
)

func main() {
	ended := make(chan os.Signal, 1)
	signal.Notify(ended, syscall.SIGTERM, syscall.SIGINT)
	<-ended
}
GO
  (cd "$folder/pause" && GOFLAGS= GO111MODULE=off go build -ldflags "-s -w" -o pause main.go)
}

# Starts a program in the background and keeps its id: run NAME COMMAND…
run() {
  local name=$1
  shift
  setsid nohup "$@" > "$folder/$name.log" 2>&1 < /dev/null &
  echo $! > "$folder/pids/$name"
}

configuration() {
  cat > "$folder/$1.conf" <<EOC
apiVersion: v1
kind: Config
clusters: [{name: test, cluster: {server: "https://127.0.0.1:$api", insecure-skip-tls-verify: true}}]
users: [{name: $1, user: {token: $1-token}}]
contexts: [{name: test, context: {cluster: test, user: $1}}]
current-context: test
EOC
}

control_plane() {
  [ -f "$folder/accounts.key" ] || openssl genrsa -out "$folder/accounts.key" 2048 2> /dev/null
  echo 'admin-token,admin,admin,"system:masters"' > "$folder/tokens.csv"
  configuration admin
  run etcd etcd --data-dir "$folder/etcd" --unsafe-no-fsync --logger=zap --log-level error \
    --listen-client-urls http://127.0.0.1:12379 --advertise-client-urls http://127.0.0.1:12379 \
    --listen-peer-urls http://127.0.0.1:12380
  run kube-apiserver "$bin/kube-apiserver" --etcd-servers http://127.0.0.1:12379 \
    --secure-port "$api" --bind-address 0.0.0.0 --cert-dir "$folder/certificates" \
    --service-cluster-ip-range 10.239.0.0/24 --authorization-mode AlwaysAllow \
    --token-auth-file "$folder/tokens.csv" --kubelet-preferred-address-types InternalIP \
    --service-account-issuer https://test.invalid --service-account-key-file "$folder/accounts.key" \
    --service-account-signing-key-file "$folder/accounts.key" --api-audiences https://test.invalid
  until kubectl get --raw /readyz > /dev/null 2>&1; do sleep 0.5; done
  run kube-controller-manager "$bin/kube-controller-manager" --kubeconfig "$KUBECONFIG" \
    --service-account-private-key-file "$folder/accounts.key" --leader-elect=false \
    --bind-address 127.0.0.1 --secure-port 10357 --cert-dir "$folder/certificates"
  run kube-scheduler "$bin/kube-scheduler" --kubeconfig "$KUBECONFIG" --leader-elect=false \
    --bind-address 127.0.0.1 --secure-port 10359 --cert-dir "$folder/certificates"
}

# node NAME NUMBER
node() {
  local name=$1 number=$2
  local own=$folder/node-$name
  mkdir -p "$own/net.d" "$own/kubelet"
  cat > "$own/containerd.toml" <<EOC
version = 2
root = "$own/root"
state = "$own/state"
oom_score = 0
[grpc]
  address = "$own/containerd.sock"
[plugins."io.containerd.grpc.v1.cri"]
  sandbox_image = "swt-bench.test/pause:1"
  restrict_oom_score_adj = true
  [plugins."io.containerd.grpc.v1.cri".cni]
    bin_dir = "$cni"
    conf_dir = "$own/net.d"
[plugins."io.containerd.internal.v1.opt"]
  path = "$own/opt"
EOC
  # Each pod has a link of its own to the host, so that all it sends passes the rules of iptables.
  cat > "$own/net.d/10-test.conflist" <<EOC
{"cniVersion": "0.4.0", "name": "test-$name", "plugins": [{"type": "ptp", "ipMasq": false,
 "ipam": {"type": "host-local", "dataDir": "$own/addresses", "ranges": [[{"subnet": "10.231.$number.0/24"}]], "routes": [{"dst": "0.0.0.0/0"}]}}]}
EOC
  cat > "$own/kubelet.yaml" <<EOC
apiVersion: kubelet.config.k8s.io/v1beta1
kind: KubeletConfiguration
authentication: {anonymous: {enabled: true}, webhook: {enabled: false}}
authorization: {mode: AlwaysAllow}
cgroupDriver: cgroupfs
cgroupRoot: /swt-bench-$name
failSwapOn: false
port: $((10248 + 2 * number))
healthzPort: $((10348 + 2 * number))
readOnlyPort: 0
makeIPTablesUtilChains: false
podPidsLimit: 1024
containerRuntimeEndpoint: unix://$own/containerd.sock
imageGCHighThresholdPercent: 100
evictionHard: {memory.available: 100Mi, nodefs.available: "1%", imagefs.available: "1%"}
systemReserved: {memory: ${SWT_BENCH_CLUSTER_RESERVED:-8Gi}}
maxPods: 60
nodeStatusUpdateFrequency: 5s
enableControllerAttachDetach: false
localStorageCapacityIsolation: true
EOC
  # The kubelet places its pods below a group that must exist.
  for each in /sys/fs/cgroup/*/; do
    [ -e "$each/cgroup.procs" ] && mkdir -p "$each/swt-bench-$name"
  done
  [ -e /sys/fs/cgroup/cgroup.procs ] && mkdir -p "/sys/fs/cgroup/swt-bench-$name"
  if [ -e "/sys/fs/cgroup/cpuset/swt-bench-$name" ]; then
    cat /sys/fs/cgroup/cpuset/cpuset.cpus > "/sys/fs/cgroup/cpuset/swt-bench-$name/cpuset.cpus"
    cat /sys/fs/cgroup/cpuset/cpuset.mems > "/sys/fs/cgroup/cpuset/swt-bench-$name/cpuset.mems"
  fi
  run "containerd-$name" containerd --config "$own/containerd.toml"
  until ctr --address "$own/containerd.sock" version > /dev/null 2>&1; do sleep 0.2; done
  ctr --address "$own/containerd.sock" -n k8s.io images import "$folder/pause.tar" > /dev/null
  kubelet "$name"
}

kubelet() {
  local own=$folder/node-$1
  run "kubelet-$1" "$bin/kubelet" --config "$own/kubelet.yaml" --root-dir "$own/kubelet" \
    --cert-dir "$own/certificates" --kubeconfig "$KUBECONFIG" --hostname-override "node-$1" \
    --node-labels "swt-bench.test/node=$1"
}

pause_image() {
  local work=$folder/pause
  mkdir -p "$work/layer"
  cp "$work/pause" "$work/layer/pause"
  tar -C "$work/layer" --mtime=@0 --owner=0 --group=0 -cf "$work/layer.tar" pause
  local id
  id=$(sha256sum "$work/layer.tar" | cut -d' ' -f1)
  echo "{\"architecture\":\"amd64\",\"os\":\"linux\",\"config\":{\"Entrypoint\":[\"/pause\"]},\"rootfs\":{\"type\":\"layers\",\"diff_ids\":[\"sha256:$id\"]}}" > "$work/config.json"
  echo '[{"Config":"config.json","RepoTags":["swt-bench.test/pause:1"],"Layers":["layer.tar"]}]' > "$work/manifest.json"
  tar -C "$work" -cf "$folder/pause.tar" manifest.json config.json layer.tar
}

# Drops connections that pods begin, which is what an enforcer does with a policy that denies all.
enforce() {
  for chain in INPUT FORWARD; do
    iptables -w -I "$chain" 1 -s 10.231.0.0/16 -m conntrack --ctstate NEW -j DROP
  done
}

relent() {
  for chain in INPUT FORWARD; do
    while iptables -w -D "$chain" -s 10.231.0.0/16 -m conntrack --ctstate NEW -j DROP 2> /dev/null; do :; done
  done
}

start() {
  # What a killed run left.
  [ -d "$folder/pids" ] && stop
  mkdir -p "$folder/pids"
  pause_image
  control_plane
  local number=0
  for each in $nodes; do
    number=$((number + 1))
    node "$each" "$number"
  done
  # Packets between pods pass the host, whatever rule another program set for them.
  iptables -w -C FORWARD -s 10.231.0.0/16 -j ACCEPT 2> /dev/null || iptables -w -I FORWARD -s 10.231.0.0/16 -j ACCEPT
  enforce
  until [ "$(kubectl get nodes --no-headers 2> /dev/null | grep -c ' Ready ')" = 2 ] &&
    kubectl get serviceaccount default > /dev/null 2>&1; do sleep 0.5; done
}

# Ends the process of a name, and waits for it.
end() {
  local file=$folder/pids/$1
  [ -f "$file" ] || return 0
  local id
  id=$(cat "$file")
  kill -CONT "$id" 2> /dev/null || true
  kill "${2:--TERM}" "$id" 2> /dev/null || true
  for _ in $(seq 50); do
    kill -0 "$id" 2> /dev/null || break
    sleep 0.2
  done
  kill -KILL "$id" 2> /dev/null || true
  rm -f "$file"
}

# Ids of the shims of a node's containerd, and of all that runs in its pods.
processes_of() {
  for each in /sys/fs/cgroup/memory/swt-bench-"$1" /sys/fs/cgroup/swt-bench-"$1"; do
    [ -d "$each" ] && find "$each" -name cgroup.procs -exec cat {} + 2> /dev/null
  done
  for each in /proc/[0-9]*; do
    { tr '\0' ' ' < "$each/cmdline"; } 2> /dev/null | grep -q "shim.*$folder/node-$1/" && basename "$each"
  done
  true
}

stop() {
  relent
  iptables -w -D FORWARD -s 10.231.0.0/16 -j ACCEPT 2> /dev/null || true
  for each in $nodes; do
    end "kubelet-$each"
    for id in $(processes_of "$each"); do kill -KILL "$id" 2> /dev/null || true; done
    end "containerd-$each"
  done
  for each in kube-scheduler kube-controller-manager kube-apiserver etcd; do end "$each"; done
  grep -o "$folder/node-[^ ]*" /proc/mounts | sort -r | while read -r mounted; do umount -l "$mounted" || true; done
  ip -o link | sed -nE 's/^[0-9]+: (veth[0-9a-f]+)@.*/\1/p' | while read -r link; do
    ip -4 addr show dev "$link" | grep -q 'inet 10\.231\.' && ip link delete "$link" || true
  done
  for each in $nodes; do
    find /sys/fs/cgroup -depth -type d -path "*/swt-bench-$each*" -exec rmdir {} + 2> /dev/null || true
  done
  rm -rf "$folder"/node-* "$folder/etcd" "$folder"/certificates "$folder/pids"
}

case $action in
  build) build ;;
  start) start ;;
  stop) stop ;;
  enforce) relent; enforce ;;
  relent) relent ;;
  # cluster.sh kill-node FOLDER NAME: the machine loses power.
  kill-node)
    kill -KILL "$(cat "$folder/pids/kubelet-$3")" "$(cat "$folder/pids/containerd-$3")" || true
    for id in $(processes_of "$3"); do kill -KILL "$id" 2> /dev/null || true; done
    ;;
  freeze-node) kill -STOP "$(cat "$folder/pids/kubelet-$3")" "$(cat "$folder/pids/containerd-$3")" $(processes_of "$3") ;;
  thaw-node) kill -CONT "$(cat "$folder/pids/kubelet-$3")" "$(cat "$folder/pids/containerd-$3")" $(processes_of "$3") ;;
  restart-node)
    own=$folder/node-$3
    run "containerd-$3" containerd --config "$own/containerd.toml"
    until ctr --address "$own/containerd.sock" version > /dev/null 2>&1; do sleep 0.2; done
    kubelet "$3"
    ;;
  import) # cluster.sh import FOLDER ARCHIVE
    for each in $nodes; do ctr --address "$folder/node-$each/containerd.sock" -n k8s.io images import "$3"; done ;;
  *) echo "cluster.sh build|start|stop|… FOLDER" >&2; exit 2 ;;
esac
