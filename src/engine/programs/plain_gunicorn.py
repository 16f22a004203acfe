"""
Runs gunicorn, which closes a connection whose first byte begins a TLS handshake. It would wait for the
rest of a request, and a client without a timeout for the server's handshake.
"""

import socket
from gunicorn.app.wsgiapp import run
from gunicorn.workers.gthread import ThreadWorker
handle = ThreadWorker.handle
def handle_plain(self, conn):
    if conn.sock.recv(1, socket.MSG_PEEK) == b"\x16":
        return (False, conn)
    return handle(self, conn)
ThreadWorker.handle = handle_plain
run()
