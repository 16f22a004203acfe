"""The git repository in the tree of a sandbox: one commit, and an index with the present state of
the files."""

import hashlib
import io
import os
import struct
import tarfile

# https://git-scm.com/docs/index-format
HEADER = struct.Struct(">4sII")
STATS = struct.Struct(">10I")


class Repository(object):
    """Files of a repository by their paths in the tree. The engine made them."""

    INDEX = ".git/index"
    # Later than any time that the engine gives to a file. Otherwise git would read all files that
    # were changed at the same moment as the index.
    INDEX_TIME = 1600000000

    def __init__(self, archive, bytes_of_id):
        self.archive = archive
        self.hash = {20: hashlib.sha1, 32: hashlib.sha256}[bytes_of_id]
        self.bytes_of_id = bytes_of_id
        with tarfile.open(fileobj=io.BytesIO(archive), mode="r:") as members:
            self.index = bytearray(members.extractfile("index").read())
        self.at = self._places()

    def files(self):
        """(path in the tree, mode, contents, seconds) of all files but the index."""
        with tarfile.open(fileobj=io.BytesIO(self.archive), mode="r:") as members:
            return [
                (".git/" + member.name, "100644", members.extractfile(member).read(), member.mtime)
                for member in members
                if member.name != "index"
            ]

    def _places(self):
        """Maps each path to the offset of its entry in the index, in the format of version 2."""
        signature, version, count = HEADER.unpack_from(self.index)
        if (signature, version) != (b"DIRC", 2):
            raise ValueError("an index of another format")
        found = {}
        place = HEADER.size
        for _ in range(count):
            start = place + STATS.size + self.bytes_of_id + 2
            end = self.index.index(b"\0", start)
            found[os.fsdecode(bytes(self.index[start:end]))] = place
            # One to eight zeros end an entry.
            place += (end - place + 8) & ~7
        return found

    def stamp_all(self, path):
        """Updates the index entries of all files from the disk. The caller ensures that the files
        are those of the commit."""
        for relative, place in self.at.items():
            self._stamp(place, path(relative))

    def stamp(self, relative, mode, content, path):
        """Updates the entry of one written file if it is that of the commit; returns whether it is."""
        place = self.at.get(relative)
        if place is None:
            return False
        start = place + STATS.size
        known = bytes(self.index[start:start + self.bytes_of_id])
        written = self.hash(b"blob %d\0" % len(content) + content).digest()
        if written != known or STATS.unpack_from(self.index, place)[6] != int(mode, 8):
            return False
        self._stamp(place, path)
        return True

    def _stamp(self, place, path):
        try:
            info = os.lstat(path)
        except OSError:
            return
        mode = STATS.unpack_from(self.index, place)[6]
        if mode == 0o160000:
            return
        values = [
            info.st_ctime_ns // 10**9, info.st_ctime_ns % 10**9,
            info.st_mtime_ns // 10**9, info.st_mtime_ns % 10**9,
            info.st_dev, info.st_ino, mode, info.st_uid, info.st_gid, info.st_size,
        ]
        STATS.pack_into(self.index, place, *[value & 0xFFFFFFFF for value in values])

    def content(self):
        """The index as a file, with its digest at the end."""
        body = bytes(self.index[:-self.bytes_of_id])
        return body + self.hash(body).digest()
