"""
Says which addresses a sandbox can reach that it must not: the API server by its address in the cluster,
and the kubelets of nodes. For CPython 3.6 and later.
"""

import json, os, socket, threading
targets = [tuple(each) for each in json.loads(os.environ["TARGETS"])]
own = os.environ.get("KUBERNETES_SERVICE_HOST")
if own:
    targets.append((own, int(os.environ.get("KUBERNETES_SERVICE_PORT", "443"))))
reached = []
def attempt(target):
    try:
        socket.create_connection(target, 1.5).close()
        reached.append("%s:%d" % target)
    except OSError:
        # A refusal counts for no answer: some enforcers refuse rather than drop.
        pass
threads = [threading.Thread(target=attempt, args=(target,)) for target in targets]
for thread in threads:
    thread.start()
for thread in threads:
    thread.join()
print(json.dumps(sorted(reached)))
