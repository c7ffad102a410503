"""Thirty and more ways to write a call of a torch function that a kata bans. Each defines `fn` at the top of a file."""

from __future__ import annotations

# {m} is the function's module and {n} its name; {a} and {b} are the halves of the name.
SPELLINGS = {
    "plain": "import {m}\nfn = {m}.{n}",
    "alias": "import {m} as whatever\nfn = whatever.{n}",
    "from_import": "from {m} import {n} as fn",
    "getattr_of_a_built_string": "import {m}\nfn = getattr({m}, '{a}' + '{b}')",
    "getattr_at_the_call": "import {m}\nfn = lambda *a, **k: getattr({m}, ''.join(['{a}', '{b}']))(*a, **k)",
    "module_dict": "import {m}\nfn = {m}.__dict__['{n}']",
    "vars": "import {m}\nfn = vars({m})['{n}']",
    "attrgetter": "import operator, {m}\nfn = operator.attrgetter('{n}')({m})",
    "methodcaller": "import operator, {m}\nfn = lambda *a, **k: operator.methodcaller('{n}', *a, **k)({m})",
    "import_module": "import importlib\nfn = getattr(importlib.import_module('{m}'), '{n}')",
    "dunder_import": "fn = getattr(__import__('{m}', fromlist=['x']), '{n}')",
    "sys_modules": "import sys, torch\nfn = getattr(sys.modules['{m}'], '{n}')",
    "globals": "from {m} import {n} as hidden\nfn = lambda *a, **k: globals()['hid' + 'den'](*a, **k)",
    "exec": "exec('from {m} import ' + '{a}' + '{b}' + ' as fn')",
    "eval": "import {m}\nfn = lambda *a, **k: eval('{m}.{a}' + '{b}')(*a, **k)",
    "compiled_source": (
        "space = {{}}\nexec(compile('import {m}\\ndef fn(*a, **k): return {m}.{n}(*a, **k)', 'x.py', 'exec'), space)\n"
        "fn = space['fn']"
    ),
    "pickle": "import pickle\nfn = pickle.loads(b'c{m}\\n{n}\\n.')",
    "partial": "import functools, {m}\nfn = functools.partial({m}.{n})",
    "map": "import {m}\nfn = lambda *a: list(map({m}.{n}, *[[x] for x in a]))[0]",
    "reduce": "import functools, {m}\nfn = lambda *a: functools.reduce(lambda f, _: f(*a), [0], {m}.{n})",
    "default_argument": "import {m}\ndef fn(*a, f={m}.{n}): return f(*a)",
    "static_method": "import {m}\nclass C: f = staticmethod({m}.{n})\nfn = C.f",
    "bound_method": "import types, {m}\nfn = lambda first, *a: types.MethodType({m}.{n}, first)(*a)",
    "dunder_call": "import {m}\nfn = {m}.{n}.__call__",
    "decorator": "import functools, {m}\n@functools.lru_cache(None)\ndef get(): return {m}.{n}\n"
    "fn = lambda *a: get()(*a)",
    "generator": "import {m}\ndef gen(*a):\n    yield {m}.{n}(*a)\nfn = lambda *a: next(gen(*a))",
    "coroutine": "import asyncio, {m}\nasync def co(*a): return {m}.{n}(*a)\nfn = lambda *a: asyncio.run(co(*a))",
    "context": "import contextvars, {m}\nfn = lambda *a: contextvars.copy_context().run({m}.{n}, *a)",
    "thread": (
        "import threading, {m}\ndef fn(*a):\n    t = threading.Thread(target={m}.{n}, args=a)\n"
        "    t.start()\n    t.join()"
    ),
    "executor": (
        "from concurrent.futures import ThreadPoolExecutor\nimport {m}\n"
        "fn = lambda *a: ThreadPoolExecutor(1).submit({m}.{n}, *a).result()"
    ),
    "waiting_thread": (
        "import queue, threading, {m}\nq, r = queue.Queue(), queue.Queue()\ndef work():\n    while True:\n"
        "        try: r.put({m}.{n}(*q.get()))\n        except Exception: r.put(None)\n"
        "threading.Thread(target=work, daemon=True).start()\ndef fn(*a):\n    q.put(a)\n    return r.get()"
    ),
    "raw_thread": (
        "import _thread, {m}\ndef fn(*a):\n    lock = _thread.allocate_lock()\n    lock.acquire()\n    def work():\n"
        "        try: {m}.{n}(*a)\n        finally: lock.release()\n"
        "    _thread.start_new_thread(work, ())\n    lock.acquire()"
    ),
    "disabled_torch_function": (
        "import torch, {m}\ndef fn(*a):\n    with torch._C.DisableTorchFunction(): return {m}.{n}(*a)"
    ),
    "disabled_subclass": (
        "import torch, {m}\ndef fn(*a):\n    with torch._C.DisableTorchFunctionSubclass(): return {m}.{n}(*a)"
    ),
    "no_dispatch": ("import torch, {m}\ndef fn(*a):\n    with torch._C._DisableTorchDispatch(): return {m}.{n}(*a)"),
    "inference_mode": "import torch, {m}\ndef fn(*a):\n    with torch.inference_mode(): return {m}.{n}(*a)",
    "compile": "import torch, {m}\nfn = torch.compile(lambda *a: {m}.{n}(*a))",
    "compile_eager": "import torch, {m}\nfn = torch.compile(lambda *a: {m}.{n}(*a), backend='eager')",
    "jit_trace": (
        "import torch, {m}\ndef fn(*a):\n    t = [x for x in a if isinstance(x, torch.Tensor)]\n"
        "    return torch.jit.trace(lambda *b: {m}.{n}(*b, *a[len(t):]), tuple(t), check_trace=False)(*t)"
    ),
    "fx": (
        "import torch, {m}\ndef fn(*a):\n    g = torch.fx.Graph()\n"
        "    p = [g.placeholder(f'p{{i}}') for i in range(len(a))]\n"
        "    g.output(g.call_function({m}.{n}, tuple(p)))\n    return torch.fx.GraphModule({{}}, g)(*a)"
    ),
    "vmap": (
        "import torch, {m}\ndef fn(*a):\n    t = [x[None] if isinstance(x, torch.Tensor) else x for x in a]\n"
        "    d = tuple(0 if isinstance(x, torch.Tensor) else None for x in a)\n"
        "    return torch.vmap({m}.{n}, in_dims=d)(*t)"
    ),
    "checkpoint": (
        "import torch.utils.checkpoint, {m}\n"
        "fn = lambda *a: torch.utils.checkpoint.checkpoint({m}.{n}, *a, use_reentrant=False)"
    ),
    "autograd_function": (
        "import torch, {m}\nclass A(torch.autograd.Function):\n    @staticmethod\n"
        "    def forward(ctx, *a): {m}.{n}(*a); return a[0].clone()\n    @staticmethod\n"
        "    def backward(ctx, g): return None, None\nfn = lambda *a: A.apply(*a)"
    ),
    "written_helper": (
        "import sys\nopen('helper_of_mine.py', 'w').write('from {m} import {n} as fn')\nsys.path.insert(0, '.')\n"
        "from helper_of_mine import fn"
    ),
    "profile_taken_off": "import sys, {m}\ndef fn(*a):\n    sys.setprofile(None)\n    return {m}.{n}(*a)",
    "profile_taken_off_by_map": (
        "import sys, {m}\ndef fn(*a):\n    list(map(getattr(sys, 'setpro' + 'file'), [None]))\n    return {m}.{n}(*a)"
    ),
    "profile_taken_off_and_put_back": (
        "import sys, {m}\ndef fn(*a):\n    p = sys.getprofile()\n    s = sys.setprofile\n    [*map(s, [None])]\n"
        "    r = {m}.{n}(*a)\n    [*map(s, [p])]\n    return r"
    ),
    "profiler_stopped": (
        "import torch, {m}\ndef fn(*a):\n    torch._C._autograd._disable_profiler_legacy()\n    return {m}.{n}(*a)"
    ),
}
