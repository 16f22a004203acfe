"""
Avoids importlib.metadata, which 3.6 and 3.7 do not have.
"""

import json, sys
found = {}
try:
    from importlib.metadata import distributions
    for each in distributions():
        found.setdefault((each.metadata['Name'] or '').lower(), each.version)
except ImportError:
    try:
        import pkg_resources
        for each in pkg_resources.working_set:
            found[each.project_name.lower()] = each.version
    except ImportError:
        pass
print(json.dumps({
    'executable': sys.executable,
    'version': '%d.%d.%d' % sys.version_info[:3],
    'packages': sorted('%s==%s' % each for each in found.items()),
}))
