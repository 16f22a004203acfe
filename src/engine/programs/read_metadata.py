"""
For CPython 3.6 and later, with the standard library only.
"""

import email.parser, glob, json, os, sys
found = []
for path in glob.glob(os.path.join(glob.escape(sys.argv[1]), 'lib', 'python*', 'site-packages', '*.dist-info', 'METADATA')):
    with open(path, encoding='utf-8', errors='replace') as file:
        said = email.parser.HeaderParser().parse(file)
    found.append({
        'name': said['Name'] or '',
        'version': said['Version'] or '',
        'requires': said.get_all('Requires-Dist') or [],
        'python': said['Requires-Python'],
        'extras': said.get_all('Provides-Extra') or [],
    })
print(json.dumps(found))
