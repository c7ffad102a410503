# cheat: replaces itself by a program that prints a verdict; must fail
import os
import sys


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    os.execv(sys.executable, ['python', '-c', 'print("solved 100/100")'])
