"""Says which addresses a sandbox reaches that it must not. For CPython 3.6 and later."""

import errno
import select
import socket
import time

# A connection that was made, and has been ended by the other side since.
ENDED = (errno.ECONNRESET, errno.EPIPE)


class Reach(object):
    """Connections that are begun at once and looked at later."""

    def __init__(self):
        self.until = 0
        self.opened = {}

    def begin(self, targets, seconds):
        """Connects to (address, port) pairs, which have at least so many seconds to answer."""
        self.until = max(self.until, time.monotonic() + seconds)
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
        """Names of those that have answered, after the time for it. Ends all connections."""
        poll = select.poll()
        for number in self.opened:
            poll.register(number, select.POLLOUT)
        found = set()
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
                    found.add(name)
        for connection, _ in self.opened.values():
            connection.close()
        self.opened = {}
        return sorted(found)
