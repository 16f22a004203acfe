"""
Unpacks a tar of its standard input into a folder, says so, and ends its container once that was heard.
Zeros may follow the tar. It gives a sign of life every five seconds. For CPython 3.6 and later.
"""

import os, signal, sys, tarfile, threading, time
def beat():
    while True:
        os.write(1, b".")
        time.sleep(5)
threading.Thread(target=beat, daemon=True).start()
trust = {"filter": "fully_trusted"} if hasattr(tarfile, "fully_trusted_filter") else {}
try:
    with open(0, "rb", buffering=0) as source, tarfile.open(fileobj=source, mode="r|") as archive:
        archive.extractall(sys.argv[1], **trust)
        os.write(1, b"!")
        while True:
            piece = source.read(65536)
            if not piece or b"q" in piece:
                break
except (OSError, tarfile.TarError) as error:
    sys.exit(str(error))
os.kill(1, signal.SIGTERM)
