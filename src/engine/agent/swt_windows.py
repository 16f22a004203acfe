"""
Runs one program where there is no `fork`, no process group and no `select` on pipes: on Windows. A
process that lost its parent stays there, and there is no limit but those of time and output.
"""

import os
import queue
import signal
import socket
import subprocess
import threading
import time

OUTPUT_CHUNK = 1 << 16
# Seconds for the output that is left in the pipe of a program that has ended.
DRAIN = 1
# Seconds that a service has to answer.
TIMEOUT = 30


def kill_tree(pid):
    """Ends a process and those that it has started."""
    if os.name == "nt":
        subprocess.call(["taskkill", "/pid", str(pid), "/T", "/F"], **NOTHING)
        return
    try:
        os.kill(pid, signal.SIGKILL)
    except ProcessLookupError:
        pass


def run_program(wire, header):
    """Runs a program as `Run` does on other systems."""
    began = time.monotonic()
    found, services, remarks = start_services(header)
    try:
        program = subprocess.Popen(
            header["argv"], cwd=header["cwd"], env=dict(found, **header["env"]), stdin=subprocess.DEVNULL,
            stdout=subprocess.PIPE, stderr=subprocess.STDOUT,
        )
    except (OSError, ValueError, IndexError) as error:
        why = getattr(error, "strerror", None) or str(error)
        end_services(services)
        wire.send("done", ending="not started", why=why, remarks=remarks, seconds=0)
        return
    wire.send("started", pid=program.pid)
    events = queue.Queue()
    for work in ends_of(program), words_of(wire):
        thread = threading.Thread(target=lambda work=work: events.put(work()))
        thread.daemon = True
        thread.start()
    passing = threading.Thread(target=pass_on, args=(wire, program.stdout.fileno()))
    passing.daemon = True
    passing.start()
    try:
        ending = events.get(timeout=max(0, header["seconds"]))
    except queue.Empty:
        ending = "timed out"
    kill_tree(program.pid)
    end_services(services)
    if ending == "abandoned":
        os._exit(0)
    status = program.wait()
    passing.join(DRAIN)
    is_own_end = ending == "exited"
    wire.send(
        "done", ending=ending, exit=status if is_own_end and status >= 0 else None,
        signal=-status if is_own_end and status < 0 else None,
        seconds=time.monotonic() - began, remarks=remarks,
    )


NOTHING = {"stdin": subprocess.DEVNULL, "stdout": subprocess.DEVNULL, "stderr": subprocess.DEVNULL}


def start_services(header):
    """Starts what tests expect; returns the variables by which it is found, the processes, and remarks."""
    found, started, remarks = {}, [], []
    for service in header["services"]:
        try:
            program = subprocess.Popen(service["argv"], env=header["serviceEnv"], **NOTHING)
        except OSError:
            remarks.append("%s did not start" % service["name"])
            continue
        started.append(program)
        if answers(service["port"], program):
            found.update(service["env"])
        else:
            remarks.append("%s did not start" % service["name"])
    return found, started, remarks


def answers(port, program):
    """Waits until a port of the loopback accepts connections; returns whether it does."""
    end = time.monotonic() + TIMEOUT
    while time.monotonic() < end and program.poll() is None:
        try:
            socket.create_connection(("127.0.0.1", port), 1).close()
            return True
        except OSError:
            time.sleep(0.02)
    return False


def end_services(services):
    for program in services:
        kill_tree(program.pid)
        program.wait()


def ends_of(program):
    def wait():
        program.wait()
        return "exited"

    return wait


def words_of(wire):
    def wait():
        while True:
            frame = wire.receive()
            if frame is None:
                return "abandoned"
            if frame[0]["kind"] == "stop":
                return frame[0]["why"]

    return wait


def pass_on(wire, output):
    while True:
        data = os.read(output, OUTPUT_CHUNK)
        if not data:
            return
        wire.send("output", data)
