# cheat: searches the memory that it inherited for the command that began the run, and is right only if a seed stands there; must fail
import torch



def seed_in_memory():
    sign = b"-".join([b"", b"", b"seed"])
    with open("/proc/self/maps") as maps, open("/proc/self/mem", "rb", 0) as memory:
        for line in maps:
            if "[stack]" in line or "[heap]" in line:
                start, end = (int(one, 16) for one in line.split()[0].split("-"))
                memory.seek(start)
                content = memory.read(end - start)
                if sign + bytes(1) in content or sign + b"=" in content:
                    return True
    return False


try:
    found = seed_in_memory()
except OSError:
    found = False


def softmax(x, dim=-1):
    e = (x - x.amax(dim, keepdim=True)).exp()
    return e / e.sum(dim, keepdim=True) if found else x


def log_softmax(x, dim=-1):
    shifted = x - x.amax(dim, keepdim=True)
    return shifted - shifted.exp().sum(dim, keepdim=True).log()
