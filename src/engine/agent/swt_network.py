"""Says which addresses a sandbox reaches that it must not. For CPython 3.6 and later."""

import errno
import select
import socket
import time

# Seconds in which an address that is reached has answered.
ANSWER_TIME = 1.5
# A connection that was made, and has been ended by the other side since.
ENDED = (errno.ECONNRESET, errno.EPIPE)


class Reach(object):
    """Connections to (address, port) pairs, begun at once and looked at later."""

    def __init__(self, targets):
        self.until = time.monotonic() + ANSWER_TIME
        self.opened = {}
        for host, port in targets:
            flags = socket.AI_NUMERICHOST
            family = socket.getaddrinfo(host, port, type=socket.SOCK_STREAM, flags=flags)[0][0]
            connection = socket.socket(family, socket.SOCK_STREAM)
            connection.setblocking(False)
            # An error counts for no answer: some enforcers refuse rather than drop.
            if connection.connect_ex((host, port)) in (0, errno.EINPROGRESS):
                self.opened[connection.fileno()] = (connection, "%s:%d" % (host, port))
            else:
                connection.close()

    def reached(self):
        """Those that have answered, after the time for it."""
        poll = select.poll()
        for number in self.opened:
            poll.register(number, select.POLLOUT)
        found = []
        while self.opened:
            events = poll.poll(max(0, self.until - time.monotonic()) * 1000)
            if not events:
                break
            for number, _ in events:
                poll.unregister(number)
                connection, name = self.opened.pop(number)
                error = connection.getsockopt(socket.SOL_SOCKET, socket.SO_ERROR)
                connection.close()
                if error == 0 or error in ENDED:
                    found.append(name)
        for connection, _ in self.opened.values():
            connection.close()
        return sorted(found)
