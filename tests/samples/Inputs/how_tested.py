"""What the test of a sample says of how it is run."""
import os
import re

ROOT = os.path.abspath(os.path.join(os.path.dirname(__file__), "../../.."))


def test_of(path):
    """The text of a sample's test; of another program, nothing."""
    test = "%s/tests/%s.test" % (ROOT, os.path.relpath(path, ROOT)[:-len(".shd")])
    if not os.path.exists(test):
        return ""
    with open(test, encoding="utf-8") as f:
        return f.read()


def meshes(path):
    """Those on which a sample's test runs it."""
    return re.findall(r"(?:%run_mesh |--mesh=)([\w=,]+)", test_of(path))


def sizes(path):
    """With which it does: a large one is made small."""
    found = re.search(r"%run_mesh \S+((?: -D \w+=\w+)+)", test_of(path))
    return found[1].split() if found else []
