"""Random programs as explicit functions, made legal by what shdc offers.

Nothing is known of such a program before shdc has seen it.  While it has
errors, one of the choices of the first is pasted; then it is a program that
moves only what it asks for.
"""
import json
import os
import random
import re
import sys

sys.path.insert(0, os.path.join(os.path.dirname(os.path.abspath(__file__)),
                                "..", "explicit"))
from paste import key, pasted

MOST_PASTES = 60


def explicit_text(text):
    """The program with an explicit main, and no dim open."""
    text = re.sub(r"^fn main\(", "explicit fn main(", text, flags=re.M)
    text = re.sub(r" @\?|@\?|, \?(?=\))", "", text)
    return re.sub(r"(?<=[\w)])!\d(?=[,\]])", "", text)


def first_error(said):
    for line in said.splitlines():
        message = json.loads(line)
        if message["severity"] == "error":
            return message
    return None


def make_legal(text, compile_text):
    """(legal text or None, why not: None if nothing more was offered).

    compile_text: of a program, (status, what it says as JSON).
    """
    draw = random.Random(text)
    before = None
    for _ in range(MOST_PASTES):
        status, said = compile_text(text)
        if status == 0:
            return text, None
        error = first_error(said) if status == 1 else None
        if error is None:
            return None, "status %s\n%s\n%s" % (status, said, text)
        if before and key(error) == before:
            return None, "the error stays: %s\n%s" % (error["message"], text)
        if not error["choices"]:
            return None, None
        before = key(error)
        text = pasted(text, draw.choice(error["choices"]))
    return None, None
