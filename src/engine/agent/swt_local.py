"""
The agent of the local engine: runs one program on this machine, as its user, and leaves none of its
processes behind. It speaks as the agent of a sandbox does (swt_agent.py), and serves one request: what
comes next has another agent, of which the tests of this one could know nothing. Before it, the agent
may be told to start the interpreter of the run ahead: see swt_ahead.py. One that `loads` R says in
`loaded` when it has done so, or why not.

Its input ends when the process that asked is gone, however that happened: the run is killed then, and
the folder of its sandboxes removed. Runs on CPython 3.6 and later, with the standard library only.
What the system lacks for it stands in `ready`.
"""

import os
import signal
import sys

# The agent runs with `-I`, so that neither the current folder nor its own is searched for modules.
sys.path.insert(0, os.path.dirname(os.path.abspath(__file__)))
from swt_wire import Wire

IS_WINDOWS = os.name == "nt"


def with_usual_signals():
    from swt_family import IGNORED, STOPPERS

    for each in STOPPERS + IGNORED:
        signal.signal(each, signal.SIG_DFL)


def started_ahead(header):
    """An interpreter that waits for the run of which `header` says what is known."""
    from swt_run import Ahead

    env = {os.fsdecode(name): os.fsdecode(value) for name, value in encoded_env(header["env"]).items()}
    folder = encoded([header["cwd"]])[0]
    return Ahead(header["argv"], env, folder, with_usual_signals, "loads" in header)


def run_program(wire, header, family, ahead):
    """Runs tests, or a tool."""
    from swt_machine import MachineLimits
    from swt_run import Run, start_program
    from swt_services import start_service, wait_for

    limits, remarks = MachineLimits(), []

    def abandon():
        if header.get("folder"):
            import shutil

            shutil.rmtree(header["folder"], ignore_errors=True)
        os._exit(0)

    def serve(env):
        """Starts the services that tests expect; returns the variables by which they are found."""
        found = {}
        for service in header.get("services", []):
            program = start_service(encoded(service["argv"]), env, lambda: None)
            if wait_for(service["port"], program, wire.has_more):
                found.update(encoded_env(service["env"]))
            else:
                remarks.append("%s did not start" % service["name"])
        return found

    def start():
        env = encoded_env(header["env"])
        found = serve(encoded_env(header["serviceEnv"])) if header.get("services") else {}
        found.update(env)
        if ahead is not None and ahead.become(
            header["argv"], header["env"], header["cwd"], header.get("tests", ())
        ):
            started = ahead.started
        else:
            folder = encoded([header["cwd"]])[0]
            started = start_program(encoded(header["argv"]), found, folder, with_usual_signals)
        family.main = started[0]
        wire.send("started", pid=family.main)
        try:
            os.nice(-10)  # to be heard beside thousands of others; only root may
        except OSError:
            pass
        return started

    result = Run(wire, family, limits, abandon).run(start, header["seconds"])
    result["remarks"] += remarks
    wire.send("done", left=family.killed, **result)


def encoded(words):
    return [each.encode("utf-8", "surrogateescape") for each in words]


def encoded_env(env):
    return dict(zip(encoded(env), encoded(env.values())))


def kill_rest(header):
    """Ends what somebody else has left of a run. Windows does not show which processes those are."""
    if not IS_WINDOWS:
        from swt_family import kill_marked

        kill_marked(header["mark"], header.get("pid"))
    elif header.get("pid") is not None:
        from swt_windows import kill_tree

        kill_tree(header["pid"])


def lacks():
    """What the system does not have, as the documentation on engines lists it."""
    if IS_WINDOWS:
        return ["orphans", "memory", "processes"]
    return [] if sys.platform.startswith("linux") else ["orphans", "memory", "processes"]


def main():
    if not IS_WINDOWS:
        # VS Code opens its logs so that each program inherits them, and so would the tests.
        os.closerange(3, 1024)
    source, sink = os.dup(0), os.dup(1)
    if IS_WINDOWS:
        import msvcrt

        for each in source, sink:
            msvcrt.setmode(each, os.O_BINARY)
    # No accidental output may get between the frames.
    os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
    os.dup2(2, 1)
    wire = Wire(source, sink)
    wire.send("ready", python="%d.%d.%d" % sys.version_info[:3], lacks=lacks())
    frame = wire.receive()
    if frame is None:
        return
    header = frame[0]
    try:
        if header["kind"] == "kill":
            kill_rest(header)
            wire.send("done")
        elif IS_WINDOWS:
            from swt_windows import run_program as run_on_windows

            run_on_windows(wire, header)
        else:
            from swt_family import Family

            family, ahead = Family(header["mark"]), None
            if header["kind"] == "prepare":
                ahead = started_ahead(header)
                if "loads" in header:
                    loaded = ahead.loaded(wire, header["loads"])
                    wire.send("loaded", **loaded)
                    if loaded["seconds"] is None or loaded["why"] is not None:
                        ahead.end()
                        return
                frame = wire.receive()
                if frame is None:
                    return
                header = frame[0]
            run_program(wire, header, family, ahead)
    except OSError as error:
        wire.send("failed", why="%s: %s" % (type(error).__name__, error))


main()
