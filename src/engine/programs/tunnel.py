"""The end of a tunnel in a container: tunnel.ts says how the two speak. For CPython 3.6 and later."""

import os, queue, socket, struct, sys, threading
DATA, END, CREDIT, READY = range(4)
source, target = sys.stdin.buffer, sys.stdout.buffer
lock = threading.Lock()
# The container's limit of processes counts threads too.
places = threading.BoundedSemaphore(60)
channels = {}

def send(kind, number, data=b""):
    with lock:
        try:
            target.write(struct.pack(">BII", kind, number, len(data)) + data)
            target.flush()
        except OSError:
            os._exit(0)

def outwards(number, client):
    try:
        while True:
            data = client.recv(1 << 15)
            if not data:
                break
            send(DATA, number, data)
    except OSError:
        pass
    send(END, number)

def inwards(number, client, waiting, other):
    is_open = True
    while True:
        data = waiting.get()
        if data is None:
            break
        try:
            if is_open:
                client.sendall(data)
        except OSError:
            # The sender must not wait for a reader that is gone, so credit is still given.
            is_open = False
        send(CREDIT, number, struct.pack(">I", len(data)))
    try:
        # The answer is complete, even if the client might still send.
        client.shutdown(socket.SHUT_RDWR)
    except OSError:
        pass
    other.join()
    client.close()
    channels.pop(number, None)
    places.release()

def accept(listener):
    number = 0
    while True:
        places.acquire()
        client, _ = listener.accept()
        number += 1
        waiting = queue.Queue()
        channels[number] = waiting
        try:
            other = threading.Thread(target=outwards, args=(number, client), daemon=True)
            other.start()
            threading.Thread(target=inwards, args=(number, client, waiting, other), daemon=True).start()
        except RuntimeError:
            client.close()
            channels.pop(number, None)
            places.release()

listener = socket.socket()
listener.bind(("127.0.0.1", 0))
listener.listen(256)
send(READY, listener.getsockname()[1])
threading.Thread(target=accept, args=(listener,), daemon=True).start()
while True:
    head = source.read(9)
    if len(head) < 9:
        os._exit(0)
    kind, number, length = struct.unpack(">BII", head)
    data = source.read(length)
    waiting = channels.get(number)
    if waiting is not None:
        waiting.put(data if kind == DATA else None)
