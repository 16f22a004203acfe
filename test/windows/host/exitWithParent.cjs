// Preloaded into VS Code's server: when the process that started it is gone (even by SIGKILL), the
// server and everything it started end too. Forked children load this file as well and do nothing.
const { setInterval } = require('node:timers');

const parent = Number(process.env.SWT_BENCH_PARENT);
if (process.ppid === parent) {
  const timer = setInterval(() => {
    if (process.ppid === parent) return;
    try {
      process.kill(-process.pid, 'SIGKILL');
    } catch {
      process.exit(1);
    }
  }, 1000);
  timer.unref();
}
