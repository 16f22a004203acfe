import type { ChildProcess } from 'node:child_process';
import { startProgram } from '../../files/startProgram';
import { runMark } from '../process';

/**
 * Waits for the end of its input, which comes when the process that started it is gone, however
 * that happened. It then kills the runs that were under way and removes their working copies.
 * Without it, an endless test would outlive its killed window or command line. It leaves keepers
 * alone: they notice the end themselves, and only they know the processes of their runs.
 */
const program = `
import os, shutil, signal, sys, time
folder, mark_name = sys.argv[1], sys.argv[2]
runs, kept = {}, {}
for line in sys.stdin:
    words = line.split()
    if words[0] == "run":
        runs[words[1]] = int(words[2])
        if words[3] == "kept":
            kept[words[1]] = int(words[2])
    else:
        runs.pop(words[1], None)
        kept.pop(words[1], None)
if not runs:
    sys.exit()

def lives(pid):
    try:
        with open("/proc/%d/stat" % pid, "rb") as file:
            text = file.read()
    except OSError:
        return False
    return text[text.rindex(b")") + 2:].split()[0] not in (b"Z", b"X")

end = time.monotonic() + 12
while time.monotonic() < end and any(lives(pid) for pid in kept.values()):
    time.sleep(0.02)

def marked():
    found = []
    for name in os.listdir("/proc") if os.path.isdir("/proc") else []:
        if name.isdigit() and int(name) != os.getpid():
            try:
                with open("/proc/%s/environ" % name, "rb") as environment:
                    content = environment.read()
            except OSError:
                continue
            if any(("%s=%s" % (mark_name, mark)).encode() in content for mark in runs):
                found.append(int(name))
    return found

for _ in range(50):
    for pid in runs.values():
        try:
            os.killpg(pid, signal.SIGKILL)
        except OSError:
            pass
    left = marked()
    for pid in left:
        try:
            os.kill(pid, signal.SIGKILL)
        except OSError:
            pass
    if not left:
        break
    time.sleep(0.02)
shutil.rmtree(folder, ignore_errors=True)
`;

/**
 * Learns of each run of a pair of sandboxes, so that no run outlives the process that started it.
 */
export interface Guardian {
  started(mark: string, pid: number, isKept: boolean): void;
  ended(mark: string): void;
  /** Ends the guardian when no run is under way any more. */
  dismiss(): void;
}

/**
 * @param interpreter Python that runs the guardian
 * @param folder removed when this process ends during a run
 */
export function guard(interpreter: string, folder: string): Guardian {
  let child: ChildProcess | undefined;
  const tell = (line: string): void => {
    // Windows has no process groups to kill. There, the next start removes what is left.
    if (process.platform === 'win32') return;
    if (child === undefined) {
      child = startProgram(interpreter, ['-I', '-S', '-c', program, folder, runMark], {
        stdio: ['pipe', 'ignore', 'ignore'],
        // In a group of its own, so that an interrupt from the terminal does not end it together
        // with us.
        detached: true,
        env: {},
      });
      child.on('error', () => undefined);
      child.stdin?.on('error', () => undefined);
      child.unref();
    }
    child.stdin?.write(`${line}\n`);
  };
  return {
    started: (mark, pid, isKept) => tell(`run ${mark} ${pid} ${isKept ? 'kept' : 'alone'}`),
    ended: (mark) => tell(`end ${mark}`),
    dismiss: () => child?.stdin?.end(),
  };
}
