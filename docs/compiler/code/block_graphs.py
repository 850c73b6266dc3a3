"""Count the graphs of a model of twelve blocks: whole, by blocks, with something planted.

    python3 docs/compiler/code/block_graphs.py

Needs torch 2.11 or later, no GPU and no C++ compiler: the back end runs each graph as it is
(`eager`), so that only the capture is seen. Ends with 77 without torch.
"""

import logging
import sys

try:
    import torch
    from torch._dynamo.utils import counters
except ImportError as error:
    print(f"skipped: {error}", file=sys.stderr)
    sys.exit(77)

LOG = logging.getLogger("model")


# --8<-- [start:model]
class Block(torch.nn.Module):
    def __init__(self, index, plant):
        super().__init__()
        self.index, self.plant = index, plant
        self.up, self.down = torch.nn.Linear(8, 16), torch.nn.Linear(16, 8)

    def forward(self, x):
        x = x + self.down(torch.relu(self.up(x)))
        if self.plant == "nan" and torch.isnan(x).any():
            raise FloatingPointError(self.index)
        if self.plant == "log":
            LOG.debug("a block is done")
        if self.plant == "index" and self.index < 0:
            raise ValueError(self.index)
        return x


class Model(torch.nn.Module):
    def __init__(self, plant):
        super().__init__()
        self.blocks = torch.nn.ModuleList(Block(index, plant) for index in range(12))

    def forward(self, x):
        for block in self.blocks:
            x = block(x)
        return x.sum()


# --8<-- [end:model]


def count(plant, way):
    """Compile in one way, call it, print what was made."""
    torch._dynamo.reset()
    counters.clear()
    model = call = Model(plant)
    sizes = []

    def backend(graph, _):
        sizes.append(sum(node.op == "call_function" for node in graph.graph.nodes))
        return graph

    if way == "whole":
        call = torch.compile(model, backend=backend)
    else:
        for block in model.blocks:
            block.compile(backend=backend)
    with torch.no_grad():
        call(torch.ones(4, 8))
    print(f"{plant or 'nothing':8} {way:7} graphs {len(sizes)}, operations in them {sizes}")


def main():
    for plant in ("", "nan", "log", "index"):
        for way in ("whole", "blocks"):
            count(plant, way)
    return 0


if __name__ == "__main__":
    sys.exit(main())
