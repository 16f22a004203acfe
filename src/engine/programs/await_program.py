# swt-bench program: the files come next
# The first process of the container that takes a program: it ends well once the program is there, and
# badly after ten minutes.
import os, signal
signal.signal(signal.SIGTERM, lambda *_: os._exit(0))
signal.signal(signal.SIGALRM, lambda *_: os._exit(1))
signal.alarm(600)
while True:
    signal.pause()
