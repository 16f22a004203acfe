"""Makes random programs that always end: every loop runs over a few numbers, or uses up `fuel`."""

import random

_HEAD = """\
fuel = 150
def tick(value=1):
    global fuel
    fuel -= 1
    if fuel < 0: raise SystemExit
    return value
class M:
    def __init__(self, swallow): self.swallow = swallow
    def __enter__(self): return tick(self)
    def __repr__(self): return 'M'
    def __exit__(self, *args): return self.swallow and fuel > 0
class E1(Exception): pass
class E2(Exception): pass
"""


class _Writer(object):
    def __init__(self, seed):
        self.random = random.Random(seed)
        self.lines = []
        self.functions = []
        self.loop = self.function = self.generator = self.final = False

    def put(self, depth, text):
        self.lines.append("    " * depth + text)

    def value(self, depth=0, width=0):
        """An expression; with `width` it may break the line, indented by that many spaces."""
        pick, r = self.random.random(), self.random
        deeper = depth < 3

        def sub():
            return self.value(depth + 1, width)

        gap = "\n" + " " * (width + r.randint(0, 3)) if width and r.random() < 0.3 else ""
        if pick < 0.3 or not deeper:
            return r.choice(["0", "1", "v", "w", "tick()", "tick(0)", "'s'", "None"])
        if pick < 0.4:
            return "(%s%s == %s)" % (sub(), gap, sub())
        if pick < 0.5:
            return "(%s and%s %s)" % (sub(), gap or " ", sub())
        if pick < 0.58:
            return "(%s or%s %s)" % (sub(), gap or " ", sub())
        if pick < 0.66:
            return "(%s if %s%s else %s)" % (sub(), sub(), gap, sub())
        if pick < 0.72:
            return "[%s,%s %s]" % (sub(), gap, sub())
        if pick < 0.9:
            before, self.generator = self.generator, False  # no `yield` in a nested scope
            text = r.choice([
                "[%s%s for v in range(%d) if%s %s]",
                "list(%s%s for v in range(%d) if%s %s)",
                "{v: (%s)%s for v in range(%d) if%s %s}",
                "(lambda v=1: (%s,%s %d)[0:%s 1] or %s)()",
            ]) % (sub(), gap, r.randint(0, 3), gap or " ", sub())
            self.generator = before
            return text
        if pick < 0.94 and self.generator:
            return "(yield%s %s)" % (gap or " ", sub())
        if self.functions and pick < 0.98:
            name, kind = r.choice(self.functions)
            call = "%s(%s,%s %s)" % (name, sub(), gap, sub())
            return "list(%s)" % call if kind else call
        return "tick(%s%s)" % (gap, sub())

    def simple(self, depth, wide=True):
        r = self.random
        width = 4 * depth + 8 if wide else 0
        choices = ["v = (%s)" % self.value(0, width), "w = %s" % self.value(1, 0), "tick()",
                   "pass", "v, w = w, v", "w = (%s)" % self.value(0, width)]
        if self.loop and not self.final:
            choices += ["break", "continue"] * 2
        if self.function and not self.final:
            choices += ["return (%s)" % self.value(0, width), "return"]
        if self.generator:
            choices += ["yield (%s)" % self.value(0, width)] * 3
            if self.functions:
                choices.append("yield from list(%s)" % "range(2)")
        choices += ["raise E1", "raise E2(v)", "assert %s" % self.value(2, 0)]
        return r.choice(choices)

    def block(self, depth, level, count=None):
        for _ in range(count or self.random.randint(1, 3)):
            self.statement(depth, level)

    def statement(self, depth, level):
        r = self.random
        kinds = ["simple"] * 4 + ["pair"]
        if level:
            kinds += ["if", "if", "for", "while", "try", "finally", "with", "oneline"]
        if level > 1 and not self.function:
            kinds += ["def", "def", "class"]
        getattr(self, "make_" + r.choice(kinds))(depth, level - 1)

    def make_simple(self, depth, level):
        self.put(depth, self.simple(depth))

    def make_pair(self, depth, level):
        self.put(depth, "%s; %s" % (self.simple(depth, False), self.simple(depth, False)))

    def make_oneline(self, depth, level):
        head = self.random.choice(
            ["if %s: " % self.value(1, 0), "for v in range(2): ", "with M(%d): " % (
                self.random.randint(0, 1)), "while tick(fuel %% %d): " % self.random.randint(2, 4)])
        before = self.loop
        self.loop = before or head.startswith(("for", "while"))
        self.put(depth, head + self.simple(depth, False))
        self.loop = before

    def make_if(self, depth, level):
        self.put(depth, "if (%s):" % self.value(0, 4 * depth + 8))
        self.block(depth + 1, level)
        if self.random.random() < 0.3:
            self.put(depth, "elif %s:" % self.value(1))
            self.block(depth + 1, level)
        if self.random.random() < 0.5:
            self.put(depth, "else:")
            self.block(depth + 1, level)

    def looping(self, depth, level, head):
        before = self.loop, self.final
        self.put(depth, head)
        self.loop, self.final = True, False
        self.block(depth + 1, level)
        self.loop, self.final = before
        if self.random.random() < 0.3:
            self.put(depth, "else:")
            self.block(depth + 1, level)

    def make_for(self, depth, level):
        head = "for v in range(%d):" % self.random.randint(0, 3)
        self.looping(depth, level, head)

    def make_while(self, depth, level):
        head = "while (tick() and fuel %% %d):" % self.random.randint(2, 7)
        if self.random.random() < 0.3:
            head = "while True:"
            self.put(depth, head)
            before, self.loop = self.loop, True
            self.put(depth + 1, "if tick(fuel %% %d == 0): break" % self.random.randint(1, 4))
            self.block(depth + 1, level)
            self.loop = before
        else:
            self.looping(depth, level, head)

    def make_try(self, depth, level):
        self.put(depth, "try:")
        self.block(depth + 1, level)
        self.put(depth, self.random.choice(["except E1:", "except (E1, E2) as error:",
                                            "except Exception as error:"]))
        self.block(depth + 1, level)
        if self.random.random() < 0.3:
            self.put(depth, "except E2: pass")
        if self.random.random() < 0.3:
            self.put(depth, "else:")
            self.block(depth + 1, level)
        if self.random.random() < 0.3:
            self.ending(depth, level)

    def make_finally(self, depth, level):
        self.put(depth, "try:")
        self.block(depth + 1, level)
        self.ending(depth, level)

    def ending(self, depth, level):
        before, self.final = self.final, True
        self.put(depth, "finally:")
        self.block(depth + 1, level)
        self.final = before

    def make_with(self, depth, level):
        items = ["M(%d)" % self.random.randint(0, 1)]
        if self.random.random() < 0.3:
            items.append("M(%d) as v" % self.random.randint(0, 1))
        self.put(depth, "with %s:" % ", ".join(items))
        self.block(depth + 1, level)

    def make_def(self, depth, level):
        name = "f%d" % len(self.functions)
        before = self.loop, self.function, self.generator, self.final
        self.loop, self.function, self.final = False, True, False
        self.generator = self.random.random() < 0.3
        self.put(depth, "def %s(v=%s, w=2):" % (name, self.random.choice("01")))
        self.put(depth + 1, "tick()")  # see swt_bytecode: 3.9 treats the first line differently
        self.block(depth + 1, level + 1)
        if self.generator:
            self.put(depth + 1, "yield v")
        kind = self.generator
        self.loop, self.function, self.generator, self.final = before
        self.functions.append((name, kind))

    def make_class(self, depth, level):
        self.put(depth, "class C%d:" % len(self.lines))
        before = self.loop, self.function
        self.loop = self.function = False
        self.put(depth + 1, "v, w = 1, 2")
        self.block(depth + 1, level)
        self.loop, self.function = before


def generate(seed):
    """The source of a program; the same for the same `seed`."""
    writer = _Writer(seed)
    for _ in range(6):
        writer.put(0, "v, w = 1, 2")
        if writer.random.random() < 0.7:
            writer.make_def(0, 3)
            name, kind = writer.functions[-1]
            call = "%s(%d)" % (name, writer.random.randint(0, 2))
            writer.put(0, "for _ in range(2):")
            writer.put(1, "try: print(repr(%s)[:80])" % ("list(%s)" % call if kind else call))
            writer.put(1, "except Exception as e: print(type(e).__name__, fuel)")
        else:
            writer.put(0, "try:")
            writer.block(1, 3)
            writer.put(0, "except Exception as e: print(type(e).__name__, fuel)")
        writer.put(0, "fuel = 150")
    return _HEAD + "\n".join(writer.lines) + "\n"
