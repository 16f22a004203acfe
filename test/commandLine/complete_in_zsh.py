"""Prints what zsh shows after Tab: complete_in_zsh.py SCRIPT WORD… It completes on a terminal alone."""

import os
import pty
import sys

script, *words = sys.argv[1:]
pid, terminal = pty.fork()
if pid == 0:
    os.environ["TERM"] = "dumb"
    os.execvp("zsh", ["zsh", "-f", "-i"])


def read_until(end: bytes) -> bytes:
    text = b""
    while end not in text:
        text += os.read(terminal, 65536)
    return text


# Completion happens also while further keys wait. Quotes keep what the terminal repeats apart from
# what is waited for: the prompt, from which on zsh reads each key itself.
options = "zstyle ':completion:*' insert-tab false; LISTMAX=1000"
start = f"autoload -Uz compinit; compinit -D -u; {options}; source '{script}'; PS1='<pro''mpt>'\n"
os.write(terminal, start.encode())
read_until(b"<prompt>")
os.write(terminal, f"swt-bench {' '.join(words)}\t\t\x15echo do''ne\n".encode())
sys.stdout.buffer.write(read_until(b"\ndone"))
