# cheat: makes sockets send something else; must fail
import socket

send = socket.socket.sendall
socket.socket.sendall = lambda self, data, *rest: send(self, bytes(len(data)), *rest)


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    return (x * y).sum(dim)
