# swt-bench sandbox: the agent asks for these words
# The first process of a sandbox. It collects orphans, survives the signal that kills all processes, and
# ends the sandbox when the agent gives no sign of life: at first for ten minutes, which cover the start,
# and then for a minute and a half. So nothing stays of an engine that was killed.
import os, signal
signal.signal(signal.SIGCHLD, signal.SIG_IGN)
for number in signal.SIGTERM, signal.SIGINT, signal.SIGHUP, signal.SIGALRM:
    signal.signal(number, lambda *_: os._exit(0))
signal.signal(signal.SIGUSR1, lambda *_: signal.alarm(90))
signal.alarm(600)
while True:
    signal.pause()
