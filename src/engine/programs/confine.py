"""
Runs foreign code of a build as a user of its own, with limits on time and output, and ends all of its
processes. Root runs this, with an interpreter that foreign code cannot overwrite. The exit status says
which limit ended it: see confinement.ts. For CPython 3.6 and later, with the standard library only.
"""

import json, os, select, signal, sys, time
want, argv = json.loads(sys.argv[1]), sys.argv[2:]
user, limit = want["user"], want["disk"]
TIME, DISK, MEMORY, PROCESSES, UNSTOPPABLE = range(201, 206)

def number(path, key):
    try:
        with open(path) as file:
            for line in file:
                words = line.split()
                if words and words[0] == key:
                    return int(words[1])
    except (OSError, ValueError, IndexError):
        pass
    return 0

def killed():
    return number("/sys/fs/cgroup/memory.events", "oom_kill") or number(
        "/sys/fs/cgroup/memory/memory.oom_control", "oom_kill")

def refused():
    return number("/sys/fs/cgroup/pids.events", "max") or number(
        "/sys/fs/cgroup/pids/pids.events", "max")

def alive():
    for name in os.listdir("/proc"):
        if not name.isdigit():
            continue
        try:
            with open("/proc/%s/status" % name) as file:
                lines = dict(line.split(":", 1) for line in file if ":" in line)
        except OSError:
            continue
        if lines["State"].split()[0] not in "ZX" and str(user) in lines["Uid"].split():
            return True
    return False

def collect():
    status = None
    while True:
        try:
            pid, how = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return status
        if pid == 0:
            return status
        if pid == program:
            status = how

def kill_all():
    """One call reaches all at once, so that none can start another. None of them can signal this process."""
    pause = 0.001
    for _ in range(300):
        os.setresuid(65534, user, 0)
        try:
            os.kill(-1, signal.SIGKILL)
        except OSError:
            pass
        os.setresuid(0, 0, 0)
        collect()
        if not alive():
            return True
        time.sleep(pause)
        pause = min(pause * 2, 0.05)
    return False

def used():
    info = os.statvfs("/")
    return (info.f_blocks - info.f_bfree) * info.f_frsize, info.f_bavail * info.f_frsize

def allocated():
    """Bytes of the user's files: everything that the commands wrote, except open files that were removed."""
    total, folders, device = 0, ["/"], os.stat("/").st_dev
    while folders:
        try:
            with os.scandir(folders.pop()) as entries:
                for entry in entries:
                    info = entry.stat(follow_symlinks=False)
                    if info.st_dev != device:
                        continue
                    if info.st_uid == user:
                        total += info.st_blocks * 512
                    if entry.is_dir(follow_symlinks=False):
                        folders.append(entry.path)
        except OSError:
            continue
    return total

memory, processes = killed(), refused()
start = used()[0]
wakened, waken = os.pipe()
for end in wakened, waken:
    os.set_blocking(end, False)
signal.set_wakeup_fd(waken)
signal.signal(signal.SIGCHLD, lambda *_: None)
began = time.monotonic()
program = os.fork()
if program == 0:
    try:
        os.setsid()
        signal.set_wakeup_fd(-1)
        signal.signal(signal.SIGCHLD, signal.SIG_DFL)
        signal.signal(signal.SIGPIPE, signal.SIG_DFL)
        os.dup2(os.open(os.devnull, os.O_RDONLY), 0)
        try:
            # When memory runs out, the kernel kills this process rather than the supervisor.
            with open("/proc/self/oom_score_adj", "w") as file:
                file.write("1000")
        except OSError:
            pass
        os.setgroups([])
        os.setresgid(user, user, user)
        os.setresuid(user, user, user)
        os.execvp(argv[0], argv)
    except BaseException as error:
        os.write(2, ("%s: %s\n" % (argv[0], error)).encode("utf-8", "replace"))
    os._exit(127)
status, ending = None, 0
looked = 0
while status is None and not ending:
    if wakened in select.select([wakened], [], [], 0.25)[0]:
        os.read(wakened, 4096)
    status = collect()
    now = time.monotonic()
    if now - began > want["seconds"]:
        ending = TIME
    grown, left = used()
    grown -= start
    if left < 1 << 20 or grown >= 4 * limit:
        ending = DISK
    elif grown >= limit and now - looked > 2:
        # The disk is shared, so the files themselves are measured, but only in this case.
        looked = now
        if allocated() >= limit:
            ending = DISK
if not kill_all():
    ending = UNSTOPPABLE
if not ending:
    code = os.WEXITSTATUS(status) if os.WIFEXITED(status) else 128 + os.WTERMSIG(status)
    if code and killed() > memory:
        code = MEMORY
    elif code and refused() > processes:
        code = PROCESSES
    elif code and allocated() >= limit:
        code = DISK
    ending = code
sys.stdout.flush()
os._exit(ending)
