"""Frames between the agent and the engine: a line of JSON, and as many bytes as its `bytes`
says."""

import json
import os
import select
import threading
import time


class Wire(object):
    """Frames on two file descriptors."""

    def __init__(self, source, sink):
        self.source = source
        self.sink = sink
        self.rest = b""
        self.ended = False
        self.beats = False
        self.sending = threading.Lock()
        # When something was last received; None while the agent works and does not listen.
        self.heard = None

    def silence(self):
        """Seconds that the agent has listened without receiving anything."""
        heard = self.heard
        return 0 if heard is None else time.monotonic() - heard

    def has_more(self):
        """Whether something can be received at once, or the input has ended."""
        return b"\n" in self.rest or bool(select.select([self.source], [], [], 0)[0])

    def send(self, kind, payload=b"", **header):
        header["kind"] = kind
        header["bytes"] = len(payload)
        data = json.dumps(header).encode("ascii") + b"\n" + payload
        view = memoryview(data)
        with self.sending:
            while view:
                view = view[os.write(self.sink, view):]

    def _fill(self):
        data = os.read(self.source, 1 << 20)
        if not data:
            self.ended = True
        self.rest += data
        return bool(data)

    def receive(self):
        """The next frame as (header, payload); None at the end of input."""
        self.heard = time.monotonic()
        try:
            return self._receive()
        finally:
            self.heard = None

    def _receive(self):
        while b"\n" not in self.rest:
            if not self._fill():
                return None
            self.heard = time.monotonic()
        line, self.rest = self.rest.split(b"\n", 1)
        header = json.loads(line.decode("ascii"))
        size = header.get("bytes", 0)
        pieces = [self.rest[:size]]
        have = len(pieces[0])
        self.rest = self.rest[size:]
        while have < size:
            data = os.read(self.source, min(1 << 20, size - have))
            if not data:
                self.ended = True
                return None
            self.heard = time.monotonic()
            pieces.append(data)
            have += len(data)
        return header, b"".join(pieces)
