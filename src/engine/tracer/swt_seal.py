"""Takes the key of a run and seals the records of this process with it.

For each run, the engine writes a fresh key into a file. The first process reads and removes it
before any code of the repository can run. From then on no program can find the key. It is not in
the environment, the configuration, an argument, an open file, or any object of Python. Only the
inner state of a hash object remains, after two blocks: the key and zeros, then only zeros. The
zeros overwrite the key in the buffer of the object.

The file contains 32 bytes of key, and after them the number of a derived key in decimal, if it is
one. A seal is 32 hexadecimal digits of SHA-256(key, 96 zero bytes, b"NAME NUMBER TEXT"). NAME is
that of the journal, NUMBER counts its records from 0 on, and TEXT is the record. As the hash is cut
to half, nobody can derive the seal of a longer text from it. A derived key is SHA-256(key, 96 zero
bytes, b"relay NUMBER").

A limit of this: a program can find the hash object through the closures of this process, and use
it. So swt_tracer lets only the recorder write, and records any other code that tries.
"""

import os
from itertools import count

_KEY = 32
_BLOCK = 64


def _sha256():
    """The hash without OpenSSL, which takes milliseconds to load.

    sitecustomize ensures that these are modules of the interpreter, not of the repository.
    """
    for name in ("_sha256", "_sha2", "hashlib"):
        try:
            return __import__(name).sha256
        except (ImportError, AttributeError):
            continue
    raise ImportError("SHA-256 is missing from this interpreter")


def take(path):
    """Reads and removes the file at `path`; None if another process has taken it.

    Gives `seals`, which returns the function that seals the records of a journal, by its name.
    Gives `relay`, which puts the next derived key into the file. Gives the number of this key, None
    for the first.
    """
    block = bytearray(_BLOCK)
    try:
        stream = open(path, "rb", 0)
    except OSError:
        return None
    try:
        # Read into memory of ours, which is overwritten afterwards: a bytes object could not be.
        size = stream.readinto(memoryview(block)[:_KEY])
        number = stream.read(20)
    finally:
        stream.close()
    os.unlink(path)
    if size != _KEY:
        raise ValueError("the key of the run is cut off")
    keyed = _sha256()()
    keyed.update(block)
    for index in range(_KEY):
        block[index] = 0
    keyed.update(block)

    def seals(name):
        begun = keyed.copy()
        begun.update(("%s " % name).encode("ascii"))

        def seal(text, number):
            at = b"%d " % number
            made = begun.copy()
            made.update(at + text)
            return text + b"\t" + at + made.hexdigest()[:32].encode("ascii")

        return seal

    relays = count(1)

    def relay():
        at = b"%d" % next(relays)
        made = keyed.copy()
        made.update(b"relay " + at)
        flags = os.O_WRONLY | os.O_CREAT | os.O_TRUNC | getattr(os, "O_CLOEXEC", 0)
        file = os.open(path, flags, 0o600)
        try:
            os.write(file, made.digest() + at)
        finally:
            os.close(file)

    return seals, relay, int(number) if number else None
