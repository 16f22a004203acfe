"""One program for each construct of Python whose line events are counted differently.

PROGRAMS is a list of (name, first minor version of Python 3, source). They are executed by import,
and print what they compute, so that a change of behaviour shows. Lines are laid out oddly on
purpose.
"""

import textwrap

PROGRAMS = []


def program(name, source, since=6):
    PROGRAMS.append((name, since, textwrap.dedent(source).lstrip("\n")))


program("calls_over_lines", """
    def add(a, b=0, *args, **kwargs):
        return (a +
                b +
                sum(args) +
                sum(kwargs.values()))
    print(add(
        1,
        2,
        *[3,
          4],
        **{'x': 5,
           'y': add(
               6)}))
    print(
        add(1), add(
            2), add(3,
        4))
    text = ('  a b c  '
            .strip()
            .replace('a', 'x')
            .split(
                ' '))
    print(text)
    for i in range(3): print(add(i,
                                 i))
    """)

program("literals_over_lines", """
    import os
    a = [
        1,
        len('xx'),
        [3,
         4],
    ]
    b = {
        'k': len(a),
        'l':
            {1,
             2},
    }
    c = (1,
         2, 'three'
         'four')
    d = {'x': 1, 'y': 2,
         'z': 3}
    LINES = [
        os.sep,

        os.linesep,
    ]
    print(a, sorted(b), c, d, len(LINES))
    def lookup(key):
        return {
            'a': 1,
            'b': lambda: key,
            'c': [key
                  for _ in range(2)],
        }[key]
    print(lookup('a'), lookup('c'))
    """)

program("loops", """
    def loops(n):
        out = []
        while n > 0:
            n -= 1
            if n == 7: continue
            if n == 3:
                continue
            if n == -5: break
            out.append(n)
        else:
            out.append('else')
        for i in range(4):
            if i == 2:
                break
        else:
            out.append('never')
        for i in range(2): out.append(i)
        else: out.append('for else')
        for i in ():
            out.append('no')
        while True:
            if len(out) > 12: break
            out.append(0)
        while n < 5: n += 1
        for a in range(2):
            for b in range(2):
                if b: continue
                for c in range(3):
                    if c == 1:
                        break
                else:
                    out.append('c')
                if a: break
        return out
    print(loops(9))
    i = 0
    while (i <
           4):
        i += (1 +
              0)
    for i in range(
            3):
        pass
    for i in [1, 2]: pass
    while i < 9: i += 1; i += 1
    for x in range(3):
        if x == 1:
            continue
        print(x)
    """)

program("exceptions", """
    def maybe(kind):
        try:
            try:
                if kind == 1: raise ValueError('one')
                if kind == 2:
                    raise KeyError(
                        'two')
                if kind == 3: return 'returned'
            except KeyError as error:
                print('key', error)
                if kind == 2:
                    raise RuntimeError('again') from error
            else:
                print('else')
            finally:
                print('finally', kind)
        except (ValueError,
                TypeError): return 'value'
        except RuntimeError as e: return 'runtime'
        finally: print('out')
        return 'end'
    for kind in range(5):
        print(maybe(kind))
    def loop():
        for i in range(5):
            try:
                if i == 1:
                    continue
                if i == 3:
                    break
                print(i)
            finally:
                print('f', i)
        while True:
            try:
                return 'x'
            finally:
                print('leaving')
    print(loop())
    def swallow():
        for i in range(3):
            try: raise ValueError(i)
            except ValueError: pass
            try: int('x')
            except (TypeError, ValueError) as e: print(type(e).__name__)
            try: pass
            except ValueError: print('no')
            else: print('fine')
            finally: print('done')
        try:
            return 1
        finally:
            for i in range(2):
                pass
    print(swallow())
    def nested():
        try:
            try:
                1 / 0
            except ZeroDivisionError:
                {}['x']
        except KeyError as e:
            print(type(e.__context__).__name__)
        try:
            raise ValueError
        except ValueError:
            try:
                raise
            except ValueError:
                print('again')
    nested()
    try: raise KeyError
    except KeyError: print('one')
    finally: print('line')
    def in_finally(n):
        while n:
            try:
                n -= 1
                if n == 2: continue
                if n == 1: return 'r'
            finally:
                try: {}[n]
                except KeyError: print('n', n)
    print(in_finally(4))
    def unhandled():
        try:
            raise LookupError(
                'message')
        finally:
            print('cleaning')
    unhandled()
    """)

program("with_statements", """
    import contextlib
    class Manager:
        def __init__(self, name, swallow=False, fail=False):
            self.name = name; self.swallow = swallow; self.fail = fail
        def __enter__(self):
            print('enter', self.name)
            if self.fail: raise OSError(self.name)
            return self
        def __exit__(self, kind, error, trace):
            print('exit', self.name, kind)
            return self.swallow
    with Manager('a'):
        print('in')
    with Manager('b') as b, \\
            Manager('c', True) as c:
        raise ValueError
    with Manager('d', True): raise ValueError
    with Manager('e'): pass
    with Manager(
            'f',
            swallow=True) as f:
        print(
            f.name)
        {}['x']
    def leave(n):
        for i in range(n):
            with Manager(i) as m:
                if i == 1: continue
                if i == 3: break
                if i == 4:
                    return i
        with Manager('g'):
            return n
    print(leave(2), leave(9))
    @contextlib.contextmanager
    def made(x):
        try:
            yield x
        except KeyError:
            print('caught')
        finally:
            print('closing')
    with made(1) as one, made(2): print(one)
    with made(3) as three:
        {}[three]
    def inner():
        with Manager('h'):
            with Manager('i', True):
                raise ValueError
            with Manager('j'):
                raise ValueError('out')
    try:
        inner()
    except ValueError as e: print(e)
    def failing():
        with Manager('k', True) as k:
            with Manager('l', fail=True):
                print('no')
        print('after')
    failing()
    """)

program("decorators", """
    def deco(value, *more):
        def wrap(f):
            print('wrap', value)
            return f
        return wrap
    @deco(1)
    @deco(
        2,
        3)
    def decorated(a,
                  b=deco('default'),
                  *,
                  c: int = 3) -> str:
        'docstring'
        return a
    @deco('class')
    class Decorated(
            dict,
            metaclass=type):
        '''Doc
        string.'''
        x = 1
        @property
        def y(self): return self.x
        @staticmethod
        def z(): return 'z'
        if x:
            w = [x for _ in
                 range(2)]
        else:
            w = None
        def __init__(self, *args): super().__init__(*args); self.n = 0
        class Inner: v = 2; u = 3
        a: int = 3
        b: 'str'
    print(decorated('r'), Decorated().y, Decorated.z(), Decorated.w, decorated.__doc__)
    print(Decorated.__doc__, Decorated.Inner.u, decorated.__annotations__)
    @deco(0)
    def empty(): pass
    empty(); empty()
    """)

program("comprehensions", """
    def numbers(n):
        return [
            i * j
            for i in range(n)
            if i % 2
            for j in range(i)
            if j
        ]
    print(numbers(6))
    print([x for x in range(5) if x > 2])
    print({x: x * 2 for x in range(3)}, sorted({x % 2 for x in range(5)}))
    print(sum(x for x in range(10)), list(x
          for x in range(3)))
    print(any(
        x > 3
        for x in range(10)), all(x < 100 for x in range(10)))
    pairs = [(a, b) for a in range(2) for b in [c for c in range(a + 1)]]
    lists = [[y for y in range(x)] for x in range(4)]
    print(pairs, lists, {
        key: value
        for key, value in
        zip('abc', range(3))
    })
    def lazily(n):
        gen = (i for i in range(n)); next(gen); return list(gen)
    print(lazily(5))
    print([f(2) for f in [lambda x, k=k: x + k for k in range(3)]])
    class Body:
        items = [1, 2, 3]
        doubled = [i * 2 for i in items]
    print(Body.doubled, sorted(
        [3, 1, 2],
        key=lambda v: (
            -v)))
    try: [1 / x for x in (1, 0)]
    except ZeroDivisionError as e: print(e)
    """)

program("generators", """
    import inspect
    def simple(n):
        '''Yields.'''
        while n:
            got = yield n
            if got: print('got', got)
            n -= 1
    gen = simple(3)
    print(inspect.getgeneratorstate(gen), next(gen), gen.send('x'), inspect.getgeneratorstate(gen))
    print(list(gen), gen.gi_frame)
    def delegating():
        result = yield from simple(2)
        yield result
        yield from (x
                    for x in range(2))
        yield from [
            1,
            2]
        return (yield)
    print(list(delegating()))
    def one_line(): yield 1; yield 2; yield 3
    print(list(one_line()), [x for x in one_line()])
    def closing():
        try:
            yield 1
            yield 2
        except GeneratorExit:
            print('closed')
            raise
        except ValueError: yield 'thrown'
        finally:
            print('finally')
    g = closing(); next(g); g.close()
    g = closing(); next(g); print(g.throw(ValueError))
    def outer():
        try:
            yield from closing()
        except KeyError as e:
            yield ('key',
                   repr(e))
    g = outer(); next(g); print(g.throw(KeyError('k')), g.gi_yieldfrom)
    g = outer(); next(g); print(g.throw(ValueError))
    g = outer(); next(g); g.close()
    def loop():
        for i in range(3): yield i
        while i: yield i; i -= 1
    print(list(loop()))
    def tree(n):
        if n:
            yield from tree(n - 1)
            yield n
            yield from tree(n - 1)
    print(list(tree(3)))
    def spread():
        x = yield (
            1
        )
        print(x); yield [
            (yield 2),
            (yield
             3)]
    print(list(spread()))
    class Own:
        def __iter__(self): return self
        def __next__(self): raise StopIteration('v')
        def throw(self, *args): raise StopIteration('from throw')
    class Two:
        n = 0
        def __iter__(self): return self
        def __next__(self): self.n += 1; return self.n
        def throw(self, *args): raise StopIteration('from throw')
    def with_own():
        r = yield from Two()
        print(r); print(
            (yield from Own()))
        yield 0
    g = with_own(); next(g); print(g.throw(ValueError))
    """)

program("asynchronous", """
    class Ready:
        def __init__(self, value): self.value = value
        def __await__(self):
            got = yield self.value
            return self.value
    class Items:
        def __init__(self, n): self.n = n
        def __aiter__(self): return self
        async def __anext__(self):
            if not self.n:
                raise StopAsyncIteration
            self.n -= 1
            return await Ready(self.n)
    class Manager:
        async def __aenter__(self):
            await Ready('enter')
            return self
        async def __aexit__(self, *args):
            await Ready(
                'exit')
            return True
    async def numbers(n):
        for i in range(n):
            yield i
            await Ready(i)
    def run(coroutine):
        steps = 0
        while True:
            try: coroutine.send(None)
            except StopIteration as e: return e.value, steps
            steps += 1
    async def main():
        out = []
        async for x in Items(3): out.append(x)
        async for x in Items(2):
            if x: continue
            out.append(x)
        else:
            out.append('else')
        async for x in numbers(3):
            if x == 2:
                break
            out.append(
                x)
        async with Manager() as m: out.append('with')
        async with Manager() as m, \\
                Manager():
            raise ValueError
        async with Manager():
            for i in range(3):
                async with Manager():
                    if i == 1: continue
                    if i: break
        out.append([x async for x in Items(3)])
        out.append([
            await Ready(x)
            for x in range(2)
            if await Ready(1)])
        out.append({x: 1 async for x in numbers(2) if x})
        out.append([x async for x in (y
                    async for y in numbers(2))])
        try:
            await Ready(1)
            raise KeyError
        except KeyError: await Ready(2)
        finally:
            await Ready(3)
        return out, await helper()
    async def helper(): return await Ready('h')
    print(run(main()))
    import asyncio
    async def sleepy(n):
        await asyncio.sleep(0)
        return n
    async def gather():
        return await asyncio.gather(
            *[sleepy(i)
              for i in range(3)])
    loop = asyncio.new_event_loop()
    print(loop.run_until_complete(gather()))
    loop.close()
    """)

program("one_line_statements", """
    x = 1; y = 2; print(x, y)
    if x: print('x'); print('y')
    if not x: print('no')
    else: print('yes')
    if x == 3: print(3)
    elif x == 1: print(1)
    else: pass
    def f(): return 1
    def g(a): a += 1; return a
    class C: pass
    class D: a = 1; b = a
    for i in range(3): x += i; y += i
    while x > 3: x -= 1
    else: print('x', x)
    with open(__file__) as h: h.readline(); h.readline()
    try: f(); g(1)
    except Exception: pass
    lambda: 0
    h = lambda a: a + 1; print(h(1), (lambda: (
        2))())
    if f(): pass
    pass; pass
    def many():
        if True: return 1
    def none(): pass
    many(); none()
    assert x; assert f(), 'message'
    for a in (1, 2): print(a) if a else None
    """)

program("docstrings", """
    '''Module

    doc.'''
    def one():
        '''Only a docstring.'''
    def two():
        '''Doc
        over lines.'''
        # a comment

        return __doc__
    def three():
        'a' 'b'
        'not a docstring'
        1
        ...
        x = 1
        global y
        y = 2
    class C:
        '''Doc.'''
    class D:
        '''Doc.'''

        # comment
        def f(self):
            '''Doc.'''

            nonlocal_ = 1
            return nonlocal_
    print(one(), one.__doc__, two.__doc__, C.__doc__, D().f(), three(), y, two())
    """)

program("scopes", """
    counter = 0
    def outer():
        n = 0
        text: str = 'x'
        def inner(step=1):
            nonlocal n
            global counter
            n += step
            counter += n
            def innermost():
                nonlocal n
                n = n * 2; return n
            return innermost()
        inner(); inner(
            2)
        del text
        items = [1, 2, 3]; del items[0], items[
            1]
        return n, items
    print(outer(), counter)
    def unbound():
        try:
            del missing
        except NameError as e: print(type(e).__name__)
        try:
            print(missing)
            missing = 1
        except UnboundLocalError: print('unbound')
    unbound()
    class Meta(type):
        def __new__(cls, name, bases, space, **kw):
            return super().__new__(cls, name, bases, space)
        def __init__(self, *args, **kw): pass
    class Made(metaclass=Meta,
               option=[1,
                       2]):
        def method(self):
            return __class__
    print(Made().method().__name__)
    """)

program("expressions", """
    def f(x): return x
    a, b = 1, 5
    print(a < b < 9, a < f(
        b) < f(3), f(1) == 1
        and f(2)
        and f(0)
        or f(7))
    c = (f('yes')
         if a
         else f('no'))
    d = f(1) if b > 9 else (
        f(2)
        if b else
        f(3))
    print(c, d, not
          a)
    if (a and
            b and
            f(0)):
        print('never')
    elif (f(0) or
          f(1)):
        print('elif')
    while (a < 4 and
           f(a)):
        a += 1
    assert (a and
            b), (
        'message')
    try:
        assert f(
            0), 'fails'
    except AssertionError as e: print(e)
    e = [1, 2, 3, 4][
        1:
        f(3)]
    e[0], e[
        f(1)] = 5, \\
        6
    a += (
        f(1))
    x = y = z = f(
        3)
    (p, (q, *r)) = (1,
                    (2, 3, 4))
    print(e, a, x + y
          + z, p, q, r, -f(
        1), f'{a}' f'{b!r:>{f(4)}}'
        f'{f(1)} {f(2)}')
    long = '''a
    b''' + f('c') + '''
    d'''
    text = f'''
    {f(1)}
    {a +
     b}
    '''
    print(long, text)
    print('%s %s' % (f(1),
                     f(2)), *map(f,
                                 'ab'), sep='-',
          end=f('\\n'))
    print(f(1) + f(2) * f(
        3) - f(4))
    g = lambda: (
        yield)
    print(list(g()), (lambda *a, **k: (a, k))(1,
                                             k=2))
    f(1); f(
        2); f(3)
    if f(0): pass
    elif f(1): f(2)
    for a.attribute in (): pass
    """)

program("future", """
    from __future__ import division, print_function
    from os import (path,
                    sep)
    import sys, \\
        os
    from os.path import *
    print(sep == os.sep, path is os.path)
    try:
        import no_such_module
    except ImportError: no_such_module = None
    """)

program("constant_conditions", """
    def f(n):
        while 1:
            n -= 1
            if n < 0: break
        while True:
            if n < -5:
                return n
            n -= 1
            if 1:
                n -= 1
            if 0:
                n = 'never'
            elif __debug__:
                n -= 1
            else:
                n = 'never'
            continue
        return 'unreachable'
    print(f(3))
    def g():
        return 1
        print('dead')
    def h():
        for i in range(3):
            if i:
                if i > 1:
                    pass
                else:
                    continue
        if not i: raise ValueError; print('dead')
        return
    def k(n):
        while n > 0: n = n - 1 if n % 2 else n - 2
        while 1:
            while 1:
                break
            if n == 0: break
        return n
    print(g(), h(), k(7))
    """)

program("recursion", """
    import sys
    def fact(n): return 1 if n < 2 else n * fact(n - 1)
    def fib(n):
        if n < 2:
            return n
        return (fib(n - 1) +
                fib(n - 2))
    print(fact(20), fib(10))
    def deep(n):
        return n and deep(n - 1)
    print(deep(300))
    """)

_BODY = "".join(
    "        x%d = x%d + n * %d + n\n" % (i % 300, (i + 1) % 300, i) for i in range(700))
program("large", "def large(n):\n    " + "; ".join("x%d = %d" % (i, i) for i in range(300)) + """
    for i in range(2):
        if n > 5: continue
        if n < 0:
            break
""" + _BODY + """
        while n > 3:
            n -= 1
            try:
                if n == 4: continue
                large_too(n)
            except ValueError:
                pass
""" + _BODY.replace("        ", "            ") + """
    else:
        print('else')
    return x1
def large_too(n):
    raise ValueError
print(large(1), large(5), large(6), large(-1))
""")

program("far_apart", "def far():\n    x = [1,\n" + "\n" * 400 + "         len('x')]\n" + "\n" * 140
        + "    for i in x: x = i\n    return x\nprint(far())\n" + "\n" * 1000 + "print(1)\n")

program("wide_lines", "def wide(n):\n    while n: n -= 1; y = ("
        + " + ".join("n * %d" % i for i in range(200)) + ")\n    return [\n"
        + ",\n".join("        n + %d" % i for i in range(300)) + "]\nprint(len(wide(3)))\n"
        + "for i in range(2): print(" + ", ".join("i" for _ in range(250)) + ")\n")

program("walrus", """
    def f(n):
        while (m := n - 1) > 0:
            n = m
        if (y := [z := n,
                  z + 1]): print(y)
        print([last := x for x in range(3)], last)
        return (a
                := n)
    print(f(4))
    def positional(a, /, b=1, *, c=(
            2)): return a, b, c
    print(positional(1, c=3), f'{f(2)=}')
    """, 8)

program("match", """
    class Point:
        __match_args__ = ('x', 'y')
        def __init__(self, x, y): self.x = x; self.y = y
    def what(value):
        match value:
            case 0: return 'zero'
            case 1 | 2:
                return 'small'
            case [a, b, *rest] if a:
                return ('list',
                        a, b, rest)
            case [_, _]:
                pass
            case {'key': k, **others}:
                return k, others
            case Point(x=0,
                       y=y) | Point(0, [y]):
                return y
            case Point(): return 'point'
            case str() as s: return s
            case None:
                return
            case _: return 'other'
        return 'fell out'
    for value in (0, 1, 2, [1, 2, 3], [0, 1], {'key': 1, 'o': 2}, Point(0, 1), Point(1, 1), 's',
                  None, 3.5, []):
        print(what(value))
    def loop(items):
        for item in items:
            match item:
                case 1: continue
                case 2:
                    break
                case (x,
                      y):
                    print(x, y)
    loop([1, (3, 4), 9, 2, 1])
    match (1,
           2):
        case (a,
              b): print(a, b)
    with (
        open(__file__) as one,
        open(__file__) as two,
    ):
        print(one is two)
    """, 10)

program("except_groups", """
    def f(*errors):
        try:
            if errors:
                raise ExceptionGroup('g', [
                    error('x') for error in errors])
        except* ValueError as e:
            print('value', len(e.exceptions))
        except* (KeyError,
                 TypeError): print('key or type')
        else: print('else')
        finally:
            print('finally')
    f()
    f(ValueError)
    f(ValueError, KeyError, TypeError)
    try: f(OSError)
    except* OSError as e: print(e.exceptions)
    async def comprehended():
        return [[x async for x in nothing()] for y in range(2)]
    async def nothing():
        if False: yield
    try: comprehended().send(None)
    except StopIteration as e: print(e.value)
    """, 11)

program("generics", """
    type Alias = list[
        int]
    type Pair[T] = tuple[T, T]
    def first[T](items: list[T],
                 default: T | None = None) -> T:
        for item in items: return item
        return default
    class Box[T: (int, str)]:
        item: T
        def __init__(self, item: T): self.item = item
        def map[U](self, f) -> 'Box[U]':
            return Box(f(
                self.item))
    print(first([1, 2]), first([]), Box(1).map(str).item, Alias.__value__, Pair.__value__)
    print(f'{'nested' + f"{1 +
        2}"}')
    def comp():
        return [[
            y for y in range(x)]
            for x in range(3)], [i for i in range(3)
                                 if i]
    print(comp())
    """, 12)

program("traceback_inside", """
    import traceback
    def one(x):
        return (x.attribute +
                [1,
                 2][x])
    def two():
        try:
            one(
                1)
        except AttributeError:
            traceback.print_exc(file=__import__('sys').stdout)
            raise ValueError('two',
                             'lines')
    try: two()
    except ValueError: print(traceback.format_exc())
    def three(n):
        for i in range(n): print(1 / (
            2 - i))
    three(4)
    """)
