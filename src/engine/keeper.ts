import { constants } from 'node:os';
import type { Duplex } from 'node:stream';
import { isLimit, type Limit } from '../domain/verdict';

/**
 * Runs a program as a "child subreaper" (prctl(2), Linux). Every descendant whose own parent ends
 * becomes its child, whatever its session, folder or environment. So it knows all descendants, and
 * it knows when none is left: wait(2) then has nothing to wait for. It stops the run when this
 * process closes the wire (file descriptor 3), which also happens when this process is killed.
 *
 * It also stops a run that takes nearly all memory of the machine, or that starts processes without
 * end, while others can still work.
 *
 * It writes one line to the wire: `exit STATUS`, `signal NUMBER` or `trouble WORDS`. After the
 * first two it adds how many processes it had to kill, `all` when it is sure that none lives, and
 * the limit for which it stopped the run.
 */
const keeperProgram = `
import os, select, signal, sys, time
sure = False
try:
    import ctypes
    PR_SET_CHILD_SUBREAPER = 36
    sure = ctypes.CDLL(None).prctl(PR_SET_CHILD_SUBREAPER, 1, 0, 0, 0) == 0
except Exception:
    pass
wire = 3
os.set_inheritable(wire, False)
woken, wake = os.pipe()
os.set_blocking(woken, False)
os.set_blocking(wake, False)
signal.set_wakeup_fd(wake)
stopping = []
stoppers = (signal.SIGTERM, signal.SIGINT, signal.SIGHUP)
signal.signal(signal.SIGCHLD, lambda *_: None)
for each in stoppers:
    signal.signal(each, lambda *_: stopping.append(1))

def tell(text):
    try:
        os.write(wire, text.encode("utf-8", "replace"))
    except OSError:
        pass
    os._exit(0)

trouble, tell_trouble = os.pipe()
main = os.fork()
if main == 0:
    try:
        os.setsid()
        # Python ignores the last two, and its child processes would inherit that.
        for each in stoppers + (signal.SIGCHLD, signal.SIGPIPE, signal.SIGXFSZ):
            signal.signal(each, signal.SIG_DFL)
        os.execvp(sys.argv[1], sys.argv[1:])
    except BaseException as error:
        os.write(tell_trouble, str(getattr(error, "strerror", None) or error).encode("utf-8", "replace"))
    os._exit(127)
os.close(tell_trouble)
why = os.read(trouble, 4096)
if why:
    os.waitpid(main, 0)
    tell("trouble " + why.decode("utf-8", "replace"))

status = None
sweeping = False
killed = 0

def collect():
    """Whether any process is left."""
    global status, killed
    while True:
        try:
            pid, how = os.waitpid(-1, os.WNOHANG)
        except ChildProcessError:
            return False
        if pid == 0:
            return True
        if pid == main:
            status = how
        elif sweeping and os.WIFSIGNALED(how) and os.WTERMSIG(how) == signal.SIGKILL:
            killed += 1

def kill(pid):
    # The whole group at once, so that no member can start another process meanwhile.
    for action in (lambda: os.getpgid(pid) != os.getpgrp() and os.killpg(os.getpgid(pid), signal.SIGKILL),
                   lambda: os.kill(pid, signal.SIGKILL)):
        try:
            action()
        except OSError:
            pass

def children():
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                with open("/proc/%s/stat" % name, "rb") as file:
                    text = file.read()
            except OSError:
                continue
            state, parent = text[text.rindex(b")") + 2:].split()[:2]
            if int(parent) == os.getpid() and state not in (b"Z", b"X"):
                yield int(name)

MANY = 4096
PAGE = os.sysconf("SC_PAGE_SIZE")

def read(path):
    with open(path) as file:
        return file.read()

def tasks():
    return int(read("/proc/loadavg").split()[3].partition("/")[2])

def family():
    """Threads and bytes in memory of all descendants."""
    below, sizes = {}, {}
    for name in os.listdir("/proc"):
        if name.isdigit():
            try:
                text = read("/proc/%s/stat" % name)
            except (OSError, UnicodeError):
                continue
            fields = text[text.rindex(")") + 2:].split()
            below.setdefault(int(fields[1]), []).append(int(name))
            sizes[int(name)] = int(fields[17]), int(fields[21]) * PAGE
    found, left = [], [os.getpid()]
    while left:
        found += below.get(left[0], [])
        left = left[1:] + below.get(left[0], [])
    return [sum(sizes[each][index] for each in found) for index in (0, 1)]

def look():
    """The limit that the run has reached, or None; mostly two small files are read."""
    sizes = dict(line.split(":") for line in read("/proc/meminfo").splitlines())
    whole, left = (int(sizes[name].split()[0]) << 10 for name in ("MemTotal", "MemAvailable"))
    if left * 32 > whole and tasks() - begun < MANY:
        return None
    threads, memory = family()
    if threads >= MANY:
        return "too many processes"
    return "out of memory" if left * 32 <= whole and memory * 4 > whole else None

limit = begun = None
try:
    begun = tasks()
    os.nice(-10)  # to be heard beside thousands of others; only root may
except Exception:
    pass

while True:
    left = collect()
    if status is not None or stopping:
        break
    try:
        limit = look() if begun is not None else None
    except Exception:
        pass
    if limit is not None:
        break
    ready = select.select([wire, woken], [], [], 0.2)[0]
    if woken in ready:
        os.read(woken, 4096)
    if wire in ready:
        stopping.append(1)

sweeping = True
if status is None:
    kill(main)
end = time.monotonic() + 10
pause = 0.001
while left and time.monotonic() < end:
    for pid in children():
        kill(pid)
    left = collect()
    if left:
        time.sleep(pause)
        pause = min(2 * pause, 0.05)
if status is None:
    status = signal.SIGKILL
word = ("signal %d" % os.WTERMSIG(status)) if os.WIFSIGNALED(status) else ("exit %d" % os.WEXITSTATUS(status))
tell("%s %d %s %s" % (word, killed, "all" if sure and not left else "some", limit or ""))
`;

/** The keeper's report on a run. */
interface KeptRun {
  readonly exitCode: number | undefined;
  readonly killedBy: string | undefined;
  readonly startError: string | undefined;
  /** How many processes it killed besides the main one. */
  readonly killed: number;
  /** Whether it is certain that no process of the run lives. */
  readonly complete: boolean;
  /** The limit for which it stopped the run. */
  readonly limit: Limit | undefined;
}

/** The arguments with which an interpreter (3.6 or later) runs a program as its keeper. */
export const keeperArguments = (argv: readonly string[]): string[] => [
  ...['-I', '-S', '-c', keeperProgram],
  ...argv,
];

/**
 * Reads the wire to its end. Returns undefined when the keeper was killed before it could report.
 */
export async function readWire(wire: Duplex): Promise<KeptRun | undefined> {
  const pieces: Buffer[] = [];
  wire.on('data', (chunk: Buffer) => pieces.push(chunk));
  await new Promise<void>((resolve) => wire.once('close', resolve).once('error', () => resolve()));
  return parseWire(Buffer.concat(pieces).toString('utf8'));
}

function parseWire(text: string): KeptRun | undefined {
  const nothing = {
    exitCode: undefined,
    killedBy: undefined,
    startError: undefined,
    limit: undefined,
  };
  if (text.startsWith('trouble ')) {
    return { ...nothing, startError: text.slice('trouble '.length), killed: 0, complete: true };
  }
  const match = /^(exit|signal) (\d+) (\d+) (all|some) (.*)$/.exec(text);
  if (match === null) return undefined;
  const [, word, number, killed, rest, limit = ''] = match;
  const common = {
    ...nothing,
    killed: Number(killed),
    complete: rest === 'all',
    limit: isLimit(limit) ? limit : undefined,
  };
  return word === 'exit'
    ? { ...common, exitCode: Number(number) }
    : { ...common, killedBy: nameOf(Number(number)) };
}

const nameOf = (signal: number): string =>
  Object.entries(constants.signals).find(([, number]) => number === signal)?.[0] ??
  `signal ${signal}`;
