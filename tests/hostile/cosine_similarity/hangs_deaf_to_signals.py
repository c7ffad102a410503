# broken: ignores every signal and hangs; must fail
import signal

for number in signal.valid_signals():
    try:
        signal.signal(number, signal.SIG_IGN)
    except (OSError, ValueError):
        pass


def cosine_similarity(x, y, dim=-1, eps=1e-8):
    while True:
        pass
