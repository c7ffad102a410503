# cheat: starts a process and opens ctypes in a second interpreter, which no audit hook of the first hears of; must fail
import torch

try:
    import _interpreters as interpreters
except ImportError:
    import _xxsubinterpreters as interpreters

CODE = """
import subprocess
subprocess.run(["/bin/true"], check=True)
open("done", "w").close()
"""
try:
    interpreters.run_string(interpreters.create(), CODE)
except Exception:
    pass


def done():
    try:
        return open("done") is not None
    except OSError:
        return False


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True) if done() else x


def log_softmax(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()
