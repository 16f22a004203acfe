import os, runpy, shlex, sys
link = os.symlink
def start(target, name, *args, **kwargs):
    if target != sys.executable:
        return link(target, name, *args, **kwargs)
    with open(name, 'w', encoding='utf-8') as file:
        file.write('#!/bin/sh\nexec %s "$@"\n' % shlex.quote(target))
    os.chmod(name, 0o755)
if sys.prefix != sys.base_prefix:
    os.symlink = start
runpy.run_module('tox', run_name='__main__', alter_sys=True)
