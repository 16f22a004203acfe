import type Dockerode from 'dockerode';
import { whereToRaise, type DockerSettings } from '../dockerSettings';

/** The limits of a build: those of a sandbox, and the time for each command. */
export type BuildLimits = Pick<
  DockerSettings,
  'memoryMb' | 'processes' | 'cpus' | 'diskMb' | 'buildMinutes'
>;

/**
 * Whose code a container runs. `system`: Debian's package manager and programs of the base image, with a
 * network. `foreign`: code of repositories and of their requirements, without a network.
 */
export type ConfinedRuns = 'system' | 'foreign';

/**
 * The user that runs foreign code, which is also the user of tests. It has no rights over files of
 * root.
 */
export const foreignUser = 1000;

/**
 * Capabilities of root in a container; foreign code has none of them. Root changes owners of files
 * and runs commands as another user. A package manager also sets the permissions of programs.
 */
const capabilities: Readonly<Record<ConfinedRuns, readonly string[]>> = {
  foreign: ['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETUID', 'SETGID'],
  system: [
    ...['CHOWN', 'DAC_OVERRIDE', 'FOWNER', 'KILL', 'SETUID', 'SETGID'],
    ...['FSETID', 'SETFCAP', 'SYS_CHROOT'],
  ],
};

/** The limits and rights of a container that builds. */
export function confinement(runs: ConfinedRuns, limits: BuildLimits): Dockerode.HostConfig {
  const memory = limits.memoryMb * 2 ** 20;
  const file = fileBytes(limits);
  return {
    Init: true,
    ...(runs === 'foreign' ? { NetworkMode: 'none' } : {}),
    Memory: memory,
    MemorySwap: memory,
    PidsLimit: limits.processes,
    ...(limits.cpus > 0 ? { NanoCpus: Math.round(limits.cpus * 1e9) } : {}),
    SecurityOpt: ['no-new-privileges'],
    CapDrop: ['ALL'],
    CapAdd: [...capabilities[runs]],
    Ulimits: [
      { Name: 'core', Soft: 0, Hard: 0 },
      { Name: 'fsize', Soft: file, Hard: file },
    ],
    LogConfig: { Type: 'none', Config: {} },
    Sysctls: { 'kernel.shm_rmid_forced': '1' },
  };
}

/**
 * Bytes of the largest file. This is a little above the limit on the disk, so that the report names
 * that limit.
 */
const fileBytes = ({ diskMb }: BuildLimits): number => (diskMb + 64) * 2 ** 20;

/** Why the supervisor ended a command, by its exit status; no other program uses these. */
const endings = {
  201: 'time',
  202: 'disk',
  203: 'memory',
  204: 'processes',
  205: 'unstoppable',
} as const;

/** The limit that foreign code reached. */
export type LimitHit = (typeof endings)[keyof typeof endings] | 'output';

export const limitHit = (status: number): LimitHit | undefined =>
  (endings as Readonly<Record<number, LimitHit>>)[status];

/** Describes the limit that was reached, and what a person can do about it. */
export function limitWords(
  hit: LimitHit,
  limits: BuildLimits,
): { readonly what: string; readonly todo: string } {
  const raise = (limit: keyof BuildLimits): string =>
    `If it needs more, raise ${whereToRaise(limit)}`;
  switch (hit) {
    case 'time':
      return {
        what: `it was stopped after ${limits.buildMinutes} minutes`,
        todo: raise('buildMinutes'),
      };
    case 'disk':
      return {
        what: `it was stopped since it wrote more than ${limits.diskMb} MiB`,
        todo: raise('diskMb'),
      };
    case 'memory':
      return {
        what: `it used up its ${limits.memoryMb} MiB of memory`,
        todo: raise('memoryMb'),
      };
    case 'processes':
      return {
        what: `it reached the limit of ${limits.processes} processes`,
        todo: raise('processes'),
      };
    case 'output':
      return {
        what: 'it was stopped since it printed without end',
        todo: 'See what it prints',
      };
    case 'unstoppable':
      return {
        what: 'it left processes behind that cannot be stopped',
        todo: 'Restart the engine, and try again',
      };
  }
}

/**
 * The command that runs foreign code as {@link foreignUser}, with limits on time and output, and
 * ends all of its processes. Root runs this command, with an interpreter that foreign code cannot
 * overwrite.
 *
 * @param python the interpreter of the base image
 */
export const supervised = (
  python: string,
  argv: readonly string[],
  limits: BuildLimits,
): string[] => [
  ...[python, '-I', '-S', '-c', supervisor],
  JSON.stringify({
    user: foreignUser,
    seconds: limits.buildMinutes * 60,
    disk: limits.diskMb * 2 ** 20,
  }),
  ...argv,
];

/** Written for CPython 3.6 and later, with the standard library only. */
const supervisor = `
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
        os.write(2, ("%s: %s\\n" % (argv[0], error)).encode("utf-8", "replace"))
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
`;
