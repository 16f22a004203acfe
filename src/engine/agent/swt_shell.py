"""The shell of a workspace: it keeps its folder, its variables and its background processes between commands."""

import os
import select
import signal
import time

from swt_processes import collect, kill_all, others
from swt_run import pass_on

# Reads a line for each command on descriptor 9, runs the command that is in a file by then, and writes
# its exit status and the folder on descriptor 8. Commands have neither descriptor, and no input.
# `jobs` takes note of what was killed after the last command, which the shell else tells the next one.
LOOP = """exec 9<&0 </dev/null
while IFS= read -r _ <&9; do
jobs >/dev/null 2>&1
. "$0" 8>&- 9<&-
printf '%s %s\\000' "$?" "$PWD" >&8
done"""
SHELLS = ("/bin/bash", "/usr/bin/bash", "/bin/sh")
# Seconds that a shell is given to go on after what it waited for was killed.
TIMEOUT = 1
# Reads that empty a pipe of any usual size.
DRAINS = 64
FOLDER = "/tmp/swt"
COMMAND = FOLDER + "/command"


class Shell(object):
    """One shell of the tests' user. It is started for the first command, and again after it ended."""

    def __init__(self, agent):
        self.agent = agent
        self.pid = None
        # Where the next shell starts: a shell that ended leaves its folder to the one after it.
        self.cwd = None

    def run(self, header, command):
        """
        Runs a command to its end, or until it is to stop. Its output goes out as it comes. No other
        process is left after a command that is `alone`.
        """
        if self.pid is None:
            try:
                self._start(header)
            except OSError as error:
                return {"ending": "not started", "why": str(error), "remarks": [], "seconds": 0}
        limits = self.agent.limits(header)
        self._lay(command)
        before = set(others())
        self.began = time.monotonic()
        self.said = b""
        self.is_open = True
        os.write(self.control, b"\n")
        ending = self._wait(header, limits)
        if ending != "exited" and self.pid is not None:
            self._interrupt(before)
        self._drain()
        status = self._status()
        if status is None:
            ending = "shell ended" if ending == "exited" else ending
            self.end()
        elif header.get("alone"):
            self.end()
        return {
            "ending": ending,
            "exit": status,
            "cwd": self.cwd,
            "seconds": time.monotonic() - self.began,
            "remarks": limits.remarks(),
        }

    def end(self):
        """Kills the shell and all that it started; the next command has a new one."""
        kill_all()
        if self.pid is not None:
            for end in self.control, self.output, self.status:
                os.close(end)
        self.pid = None

    def _start(self, header):
        agent = self.agent
        self.cwd = self.cwd if self.cwd and os.path.isdir(self.cwd) else agent.tree.root
        shell = next(path for path in SHELLS if os.path.exists(path))
        asked, self.control = os.pipe()
        self.output, written = os.pipe()
        self.status, told = os.pipe()
        for end in self.output, self.status:
            os.set_blocking(end, False)
        agent.make_places()
        pid = os.fork()
        if pid == 0:
            try:
                os.setsid()
                ends = [(asked, 0), (written, 1), (written, 2), (told, 8)]
                # A copy may lie where another is to go.
                high = [(os.dup2(end, 100 + number), number) for number, (end, _) in enumerate(ends)]
                for (_, number), (copy, _) in zip(ends, high):
                    os.dup2(copy, number)
                os.closerange(9, 200)
                agent.drop_rights(header["disk"] + (64 << 20))
                try:
                    os.chdir(self.cwd)
                except OSError:
                    os.chdir(agent.tree.root)
                options = ["--noprofile", "--norc"] if shell.endswith("bash") else []
                os.execve(shell, [shell] + options + ["-c", LOOP, COMMAND], agent.environment(header))
            finally:
                os._exit(127)
        for end in asked, written, told:
            os.close(end)
        self.pid = pid

    def _lay(self, command):
        handle = os.open(COMMAND + ".new", os.O_WRONLY | os.O_CREAT | os.O_TRUNC, 0o644)
        with os.fdopen(handle, "wb") as file:
            file.write(command + b"\n")
        os.rename(COMMAND + ".new", COMMAND)

    def _wait(self, header, limits):
        """Waits for the end of the command; how it ended."""
        agent = self.agent
        while True:
            wanted = [agent.wire.source, self.status] + ([self.output] if self.is_open else [])
            is_waiting = b"\n" in agent.wire.rest
            ready = select.select(wanted, [], [], 0 if is_waiting else 0.25)[0]
            if self.output in ready:
                self.is_open = pass_on(agent.wire, self.output)
            if self.status in ready and self._read_status():
                return "exited"
            if is_waiting or agent.wire.source in ready:
                frame = agent.wire.receive()
                if frame is None:
                    kill_all()
                    os._exit(0)
                if frame[0]["kind"] == "stop":
                    return frame[0]["why"]
            why = limits.look()
            if why is not None:
                return why
            if time.monotonic() - self.began > header["seconds"]:
                return "timed out"

    def _read_status(self):
        """Whether the command has ended, or the shell has."""
        try:
            data = os.read(self.status, 1 << 16)
        except BlockingIOError:
            return False
        self.said += data
        return not data or self.said.endswith(b"\0")

    def _interrupt(self, before):
        """
        Kills what the command started, so that the shell goes on with its variables, its folder and what
        earlier commands left in the background. A shell that does not go on is ended.
        """
        end = time.monotonic() + TIMEOUT
        while time.monotonic() < end:
            for pid in set(others()) - before - {self.pid}:
                try:
                    os.kill(pid, signal.SIGKILL)
                except OSError:
                    pass
            collect()
            self._drain()
            if self._read_status():
                return
            time.sleep(0.02)

    def _drain(self):
        """Passes on what was written until now: a pipe's worth, since background processes may go on."""
        for _ in range(DRAINS):
            if not self.is_open or not select.select([self.output], [], [], 0)[0]:
                return
            self.is_open = pass_on(self.agent.wire, self.output)

    def _status(self):
        """The exit status of the command; None when its shell is gone."""
        if not self.said.endswith(b"\0"):
            return None
        code, _, folder = self.said[:-1].partition(b" ")
        self.cwd = os.fsdecode(folder)
        return int(code)
