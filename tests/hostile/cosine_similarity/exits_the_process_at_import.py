# cheat: calls os._exit(0) while it is imported; must fail
import os

os._exit(0)
