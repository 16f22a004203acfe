"""Programs on the loopback that tests expect, started for one run. Written for CPython 3.6 and later."""
import os
import socket
import time

from swt_processes import restore_signals

#: Seconds that a service has to answer.
TIMEOUT = 30


def start_service(argv, env, drop_rights):
    """Starts a program of the tests' user in a session of its own; returns its process id."""
    program = os.fork()
    if program == 0:
        try:
            os.setsid()
            nothing = os.open(os.devnull, os.O_RDWR)
            for each in 0, 1, 2:
                os.dup2(nothing, each)
            restore_signals()
            drop_rights()
            os.chdir("/")
            os.execvpe(argv[0], argv, env)
        finally:
            os._exit(127)
    return program


def wait_for(port, program, is_over=lambda: False):
    """Waits until a port of the loopback accepts connections; returns whether it does."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end and not is_over():
        if os.waitpid(program, os.WNOHANG)[0] != 0:
            return False
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            time.sleep(0.02)
    return False
