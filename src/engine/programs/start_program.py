"""
Starts a program in a container with its standard input and output at connections of the loopback: what
arrives where it reads for the end of one, what it writes for the other.

Arguments: the port, and the program with its arguments. For CPython 3.6 and later.
"""

import os, socket, sys
port, argv = int(sys.argv[1]), sys.argv[2:]
for number in 0, 1:
    end = socket.create_connection(("127.0.0.1", port))
    end.sendall(b"\n")
    if number == 0:
        end.recv(1)
    os.dup2(end.fileno(), number)
    end.close()
try:
    os.execvp(argv[0], argv)
except OSError as error:
    sys.stderr.write("%s cannot be started: %s\n" % (argv[0], error.strerror))
    sys.stderr.flush()
    os._exit(127)
