"""
Runs one program until it ends or is to be stopped; then none of its processes is left. Every engine
on a system with `fork` runs tests so, in a sandbox and on the machine itself; which processes are the
program's, and which limits there are, differs.
"""

import os
import select
import signal
import time

OUTPUT_CHUNK = 1 << 16
# Seconds for what is left in the pipe of a program that has ended: what cannot be killed may hold it.
DRAIN = 1


class NotStarted(Exception):
    """The program cannot be started, in the words of the system."""


def start_program(argv, env, folder, prepare):
    """
    Starts a program in a session of its own, without input. `prepare` is called in its process
    before. Returns its process id and the end of the pipe with its output.
    """
    reading, writing = os.pipe()
    trouble, tell = os.pipe()
    try:
        program = os.fork()
    except OSError as error:
        for end in reading, writing, trouble, tell:
            os.close(end)
        raise NotStarted(error.strerror)
    if program == 0:
        try:
            os.setsid()
            os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
            os.dup2(writing, 1)
            os.dup2(writing, 2)
            prepare()
            os.chdir(folder)
            os.execvpe(argv[0], argv, env)
        except BaseException as error:
            text = str(getattr(error, "strerror", None) or error)
            os.write(tell, text.encode("utf-8", "replace"))
        os._exit(127)
    os.close(writing)
    os.close(tell)
    why = os.read(trouble, 4096)
    os.close(trouble)
    if why:
        os.waitpid(program, 0)
        os.close(reading)
        raise NotStarted(why.decode("utf-8", "replace"))
    return program, reading


class Ahead(object):
    """
    An interpreter that was started before its run is known. It waits with the module imported that
    its options name: see swt_ahead.py. `argv` has the program and these options. Where it `tells`, it
    loads modules of R as well.
    """

    MODULES = ("pytest", "unittest")

    def __init__(self, argv, env, folder, prepare, tells=False):
        import json

        self._json = json
        reading, self._end = os.pipe()
        self._told, telling = os.pipe() if tells else (None, None)
        module = argv[2] if argv[1] == "-m" and argv[2] in self.MODULES else ""
        told = "%d %s" % (reading, module) + (" %d" % telling if tells else "")
        inherited = [each for each in (reading, telling) if each is not None]
        for each in inherited:
            os.set_inheritable(each, True)
        try:
            self.started = start_program(argv, dict(env, SWT_TRACE_AHEAD=told), folder, prepare)
        except BaseException:
            os.close(self._end)
            raise
        finally:
            for each in inherited:
                os.close(each)

    def loaded(self, wire, seconds):
        """
        Waits until everything is loaded, at most so long, or until the engine says something else.
        Returns what the interpreter says of it: `seconds`, and `why` it cannot be the run.
        """
        text, end = b"", time.monotonic() + seconds
        while not text.endswith(b"\n"):
            left = end - time.monotonic()
            ready = [] if left <= 0 or wire.has_more() else select.select(
                [self._told, wire.source], [], [], left)[0]
            if self._told not in ready:
                return {"why": "loading R takes more than %d seconds" % seconds if left <= 0 else None,
                        "seconds": None}
            piece = os.read(self._told, 4096)
            if not piece:
                return {"why": "loading R ends its process", "seconds": None}
            text += piece
        return self._json.loads(text.decode("ascii"))

    def become(self, argv, env, folder, tests=()):
        """Makes it the program of a run, with all its variables; returns whether it could be."""
        run = {"argv": argv, "env": env, "cwd": folder, "tests": list(tests)}
        data = memoryview(self._json.dumps(run).encode("ascii"))
        try:
            while data:
                data = data[os.write(self._end, data):]
        except OSError:
            return False
        os.close(self._end)
        if self._told is not None:
            os.close(self._told)
        return True

    def end(self):
        """Ends it in the place of a run."""
        for end in self._end, self.started[1], self._told:
            if end is not None:
                os.close(end)
        try:
            os.killpg(self.started[0], signal.SIGKILL)
        except OSError:
            pass


class Run(object):
    """
    One run of a program. Output is sent as it arrives; the program has to wait while nobody reads it.
    `family` knows the processes of the run (`collect`, `kill_all`), and `limits` what they may use.
    `abandon` is called when the engine is gone, after everything is killed, and does not return.
    """

    def __init__(self, wire, family, limits, abandon):
        self.wire, self.family, self.limits, self.abandon = wire, family, limits, abandon

    def run(self, start, seconds, is_limited=True):
        """`start` starts the program as `start_program` does. Returns the fields of the answer."""
        limits = self.limits
        began = time.monotonic()
        self._wake_on_signals()
        ending, status = "exited", None
        try:
            program, output = start()
        except NotStarted as error:
            self._forget_signals()
            return {"ending": "not started", "why": str(error), "remarks": [], "seconds": 0}
        self.is_open = True
        self.wire.heard = time.monotonic()
        try:
            while status is None:
                is_waiting = self._wait(output)
                for pid, how in self.family.collect():
                    if pid == program:
                        status = how
                why = self._word_of_engine() if is_waiting else None
                if why is None and is_limited:
                    why = limits.look()
                if why is None and self.family.is_interrupted():
                    break
                if why is None and time.monotonic() - began > seconds:
                    why = "timed out"
                if why is not None:
                    ending = why
                    break
            if ending not in ("exited", "cancelled"):
                ending = limits.at_stop(ending)
            limits.note()
            killed = limits.killed()
            gone = self.family.kill_all()
            if ending == "exited":
                self._drain(output)
        finally:
            self.wire.heard = None
            os.close(output)
            self._forget_signals()
        remarks = limits.remarks()
        if killed > 0 and status is not None and os.WIFSIGNALED(status):
            ending = "out of memory"
        if not gone:
            remarks.append("a process of the tests could not be killed")
        return {
            "ending": ending,
            "limit": limits.reached,
            "exit": os.WEXITSTATUS(status) if status is not None and os.WIFEXITED(status) else None,
            "signal": os.WTERMSIG(status) if status is not None and os.WIFSIGNALED(status) else None,
            "seconds": time.monotonic() - began,
            "remarks": remarks,
        }

    def _wake_on_signals(self):
        self.woken, self.waken = os.pipe()
        for end in self.woken, self.waken:
            os.set_blocking(end, False)
        signal.set_wakeup_fd(self.waken)
        signal.signal(signal.SIGCHLD, lambda *_: None)

    def _forget_signals(self):
        signal.set_wakeup_fd(-1)
        os.close(self.woken)
        os.close(self.waken)

    def _wait(self, output):
        """Waits for something to happen, and passes output on; returns whether the engine said something."""
        wanted = [self.wire.source, self.woken] + ([output] if self.is_open else [])
        # A request that arrived together with the previous one is in the buffer already.
        is_waiting = b"\n" in self.wire.rest
        ready = select.select(wanted, [], [], 0 if is_waiting else 0.2)[0]
        if self.woken in ready:
            os.read(self.woken, 4096)
        if output in ready:
            self.is_open = pass_on(self.wire, output)
        return is_waiting or self.wire.source in ready

    def _word_of_engine(self):
        """Why the engine wants the program to be stopped; None where it wants something else."""
        frame = self.wire.receive()
        self.wire.heard = time.monotonic()
        if frame is None:
            self.family.kill_all()
            self.abandon()
        return frame[0]["why"] if frame[0]["kind"] == "stop" else None

    def _drain(self, output):
        """Sends the output from before the end that is still in the pipe."""
        os.set_blocking(output, False)
        end = time.monotonic() + DRAIN
        while self.is_open and time.monotonic() < end:
            self.is_open = pass_on(self.wire, output)


def pass_on(wire, output):
    """Sends the available output; returns whether there may be more."""
    try:
        data = os.read(output, OUTPUT_CHUNK)
    except BlockingIOError:
        return False
    if data:
        wire.send("output", data)
    return bool(data)
