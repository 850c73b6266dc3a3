"""What a polyhedral compiler asks of a schedule: does every dependence keep its order?

An instance is a statement with the values of its loops; a schedule gives it a time, a tuple. The
dependences come from running the program as written. A schedule is legal if each of them goes
forward; then the program is run in the order of the schedule, and results are compared.
"""

import itertools

N, STEPS, TILE = 24, 8, 4


def program(name):
    """Instances in the order written, each with the cells that it reads and the cell it writes."""
    if name == "two loops":
        for i in range(N):
            yield ("S", i), [("a", i)], ("b", i)
        for i in range(1, N - 1):
            yield ("T", i), [("b", i - 1), ("b", i), ("b", i + 1)], ("c", i)
    else:
        for t, i in itertools.product(range(STEPS), range(1, N - 1)):
            yield ("X", t, i), [("x", i - 1), ("x", i), ("x", i + 1)], ("x", i)


# --8<-- [start:schedules]
SCHEDULES = {
    ("two loops", "as written"): lambda s, i: (s, i),
    ("two loops", "fused"): lambda s, i: (i, s),
    ("two loops", "fused, second one later"): lambda s, i: (i + (s == "T"), s),
    ("sweeps", "as written"): lambda s, t, i: (t, i),
    ("sweeps", "all steps of a tile of i"): lambda s, t, i: (i // TILE, t, i),
    ("sweeps", "the same, skewed: i + t"): lambda s, t, i: ((i + t) // TILE, t, i),
}
# --8<-- [end:schedules]


def dependences(instances):
    """Pairs that touch one cell, one of them writing: the first must stay before the second."""
    found, writer, readers = [], {}, {}
    for instance, reads, written in instances:
        for cell in reads:
            if cell in writer:
                found.append((writer[cell], instance))
            readers.setdefault(cell, []).append(instance)
        found += [(reader, instance) for reader in readers.pop(written, []) if reader != instance]
        if written in writer:
            found.append((writer[written], instance))
        writer[written] = instance
    return found


def result(instances):
    """Run the instances in the order given, with a function that shows any other order."""
    cells = {(name, i): (7.0 * i + ord(name)) % 5 for name in "abcx" for i in range(N)}
    for _, reads, written in instances:
        cells[written] = sum((k + 1) * cells[cell] for k, cell in enumerate(reads)) % 9.7
    return cells


def most_alive(instances):
    """The greatest number of values of b that are written and still to be read."""
    last = {cell: step for step, (_, reads, _) in enumerate(instances) for cell in reads}
    alive = most = 0
    for step, (_, reads, written) in enumerate(instances):
        alive += written[0] == "b" and last.get(written, step) > step
        most = max(most, alive)
        alive -= sum(cell[0] == "b" and last[cell] == step for cell in set(reads))
    return most


def main():
    print(f"{'program':10} {'schedule':26} {'turned':>6} {'result':>7} {'alive':>6}")
    for (name, title), time in SCHEDULES.items():
        written = list(program(name))
        turned = sum(time(*b) <= time(*a) for a, b in dependences(written))
        order = sorted(written, key=lambda item, time=time: time(*item[0]))
        same = "same" if result(order) == result(written) else "wrong"
        alive = most_alive(order) if name == "two loops" and not turned else ""
        print(f"{name:10} {title:26} {turned:6} {same:>7} {alive:>6}".rstrip())


if __name__ == "__main__":
    main()
