"""What a sequence costs in a hybrid model: bytes that grow with it, and bytes that do not.

Reads a config.json as models publish it. Standard library only.

Usage
    python docs/infer/code/hybrid_state.py                  # some models of 2026
    python docs/infer/code/hybrid_state.py --config FILE    # your own config.json
    python docs/infer/code/hybrid_state.py --blocks         # vLLM's block sizes by that rule
    python docs/infer/code/hybrid_state.py --prefix         # which shared prefixes are found again
"""

from __future__ import annotations

import argparse
import json
from collections.abc import Iterator
from dataclasses import dataclass, field
from pathlib import Path
from typing import Any

Config = dict[str, Any]
GDN = {"linear_conv_kernel_dim": 4, "linear_key_head_dim": 128, "linear_value_head_dim": 128}
QWEN = {**GDN, "linear_num_key_heads": 16, "head_dim": 256, "mamba_ssm_dtype": "float32"}
MAMBA = {"mamba_head_dim": 64, "ssm_state_size": 128, "n_groups": 8, "conv_kernel": 4}
NEMOTRON = {**MAMBA, "num_key_value_heads": 2, "head_dim": 128}
MLA = {"kv_lora_rank": 512, "qk_rope_head_dim": 64}
MODELS: dict[str, Config] = {  # of each config.json, the keys that decide
    "Qwen3.5-35B-A3B": {
        **QWEN,
        **{"num_hidden_layers": 40, "num_key_value_heads": 2, "full_attention_interval": 4},
        "linear_num_value_heads": 32,
    },
    "Qwen3.5-397B-A17B": {
        **QWEN,
        **{"num_hidden_layers": 60, "num_key_value_heads": 2, "full_attention_interval": 4},
        "linear_num_value_heads": 64,
    },
    "Kimi K3": {
        **MLA,
        "num_hidden_layers": 93,
        "linear_attn_config": {
            "full_attn_layers": [*range(4, 93, 4), 93],
            **{"head_dim": 128, "num_heads": 96, "short_conv_kernel_size": 4},
        },
    },
    "Nemotron 3 Nano": {
        **NEMOTRON,
        "mamba_num_heads": 64,
        "hybrid_override_pattern": "MEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEM*EMEMEMEM*EMEMEMEME",
    },
    "MiniMax M1": {
        "attn_type_list": ([0] * 7 + [1]) * 10,
        **{"num_attention_heads": 64, "num_key_value_heads": 8, "head_dim": 128},
    },
    "gpt-oss 120B": {
        "layer_types": ["sliding_attention", "full_attention"] * 18,
        **{"sliding_window": 128, "num_key_value_heads": 8, "head_dim": 64},
    },
    "Gemma 4 31B": {
        "layer_types": (["sliding_attention"] * 5 + ["full_attention"]) * 10,
        **{"sliding_window": 1024, "num_key_value_heads": 16, "head_dim": 256},
        **{"num_global_key_value_heads": 4, "global_head_dim": 512},
    },
    "DeepSeek-V3.2": {**MLA, "num_hidden_layers": 61, "index_topk": 2048, "index_head_dim": 128},
}


@dataclass(frozen=True)
class Layers:
    """Layers of one kind: bytes a token adds to each, and bytes each keeps for a sequence."""

    kind: str
    count: int
    per_token: int = 0
    fixed: int = 0
    window: int = 1  # tokens from which `fixed` is full


def read(config: Config, state: int = 4, cache: int = 2) -> Iterator[Layers]:
    """Yield the kinds of layers of a config.json, for a state in FP32 and a cache in BF16."""
    c = config.get("text_config", config)
    if unknown := {"compress_ratios", "sparse_attention_config", "attention_chunk_size"} & {*c}:
        raise SystemExit(f"hybrid_state: does not count {', '.join(sorted(unknown))}")
    kinds = layer_kinds(c)
    if "kv_lora_rank" in c:
        per_token = (c["kv_lora_rank"] + c["qk_rope_head_dim"]) * cache
    else:
        heads = c.get("num_global_key_value_heads") or c["num_key_value_heads"]
        per_token = 2 * heads * (c.get("global_head_dim") or c["head_dim"]) * cache
    yield Layers("full", kinds.count("full"), per_token)
    if "index_topk" in c:  # FP8 key of 128 and its scale, in the layers that do not share
        indexed = c.get("indexer_types") or ["full"] * c["num_hidden_layers"]
        yield Layers("index", indexed.count("full"), 132)
    if windows := kinds.count("window"):
        kept = 2 * c["num_key_value_heads"] * c["head_dim"] * cache * c["sliding_window"]
        yield Layers("window", windows, 0, kept, c["sliding_window"])
    if states := kinds.count("state"):
        matrix, taps = state_elements(c)
        yield Layers("state", states, 0, matrix * state + taps * 2)


# --8<-- [start:main]
def state_elements(c: Config) -> tuple[int, int]:
    """Elements of one layer's recurrent state, and of what its short convolution remembers."""
    if "linear_num_value_heads" in c:  # Gated DeltaNet: conv over q, k and v
        keys = c["linear_num_key_heads"] * c["linear_key_head_dim"]
        values = c["linear_num_value_heads"] * c["linear_value_head_dim"]
        channels, kernel = 2 * keys + values, c["linear_conv_kernel_dim"]
        return values * c["linear_key_head_dim"], channels * (kernel - 1)
    if "mamba_num_heads" in c:  # Mamba-2: conv over x, B and C
        inner = c["mamba_num_heads"] * c["mamba_head_dim"]
        channels = inner + 2 * c["n_groups"] * c["ssm_state_size"]
        return inner * c["ssm_state_size"], channels * (c["conv_kernel"] - 1)
    if kda := c.get("linear_attn_config"):  # Kimi Delta Attention: conv over q, k and v
        inner = kda["num_heads"] * kda["head_dim"]
        return inner * kda["head_dim"], 3 * inner * (kda["short_conv_kernel_size"] - 1)
    return c["num_attention_heads"] * c["head_dim"] ** 2, 0  # Lightning: no convolution


# --8<-- [end:main]


def layer_kinds(c: Config) -> list[str]:
    """Return full, window, state or none for each layer."""
    if pattern := c.get("hybrid_override_pattern"):
        return [{"M": "state", "*": "full"}.get(one, "none") for one in pattern]
    if types := c.get("attn_type_list"):
        return ["full" if one else "state" for one in types]
    if types := c.get("layer_types") or c.get("layers_block_type"):
        names = {"full": "full", "atte": "full", "slid": "window", "line": "state", "mamb": "state"}
        return [names.get(one[:4], "none") for one in types]
    layers = range(1, c["num_hidden_layers"] + 1)
    if kda := c.get("linear_attn_config"):
        return ["full" if one in kda["full_attn_layers"] else "state" for one in layers]
    every = c.get("full_attention_interval", 4) if "linear_num_value_heads" in c else 1
    return ["state" if one % every else "full" for one in layers]


def sequence(kinds: list[Layers], tokens: int) -> float:
    """Bytes of one sequence."""
    return sum(
        one.count * (one.per_token * tokens + one.fixed * min(1, tokens / one.window))
        for one in kinds
    )


def table(models: dict[str, Config]) -> None:
    """Print what grows and what does not; from which length the others beat full attention."""
    print(
        f"{'':<19}{'full':>5}{'state':>6}{'window':>7}{'B/token':>9}{'fixed MB':>10}"
        f"{'pays from':>11}{'half at':>9}{'8K MB':>8}{'128K MB':>9}"
    )
    for name, config in models.items():
        kinds = list(read(config))
        count = {one.kind: one.count for one in kinds}
        grows = sum(one.count * one.per_token for one in kinds)
        fixed = sum(one.count * one.fixed for one in kinds)
        pays = kinds[-1].fixed / kinds[0].per_token
        print(
            f"{name:<19}{count['full']:>5}{count.get('state', 0):>6}{count.get('window', 0):>7}"
            f"{grows:>9,}{fixed / 1e6:>10.1f}{pays:>11,.0f}{fixed / grows:>9,.0f}"
            f"{sequence(kinds, 8192) / 1e6:>8.0f}{sequence(kinds, 131072) / 1e6:>9.0f}"
        )


def block(config: Config, gpus: int, grid: int, cache: int) -> tuple[int, float]:
    """Tokens of a block so that a page of attention holds a state (vLLM 0.33.0); its padding."""
    kinds = {one.kind: one for one in read(config, cache=cache)}
    state, token, heads = kinds["state"].fixed / gpus, kinds["full"].per_token, 1
    if "kv_lora_rank" not in config:
        heads = config["num_key_value_heads"]
    page = token // heads * max(1, heads // gpus)
    tokens = -(-int(state) // (grid * page)) * grid
    return tokens, tokens * page / state - 1


BLOCKS = [
    ("Qwen3.5-4B", 16, 2),
    *(("Qwen3.5-35B-A3B", *way) for way in ((16, 2), (64, 2), (64, 1))),
]
BLOCKS += [("Qwen3.5-397B-A17B", 64, 2), ("Kimi K3", 128, 2)]


def blocks() -> None:
    """Print block sizes by the grid of the kernels, type of cache and tensor-parallel degree."""
    print(f"{'':<19}{'grid':>5}{'cache':>6}" + "".join(f"{f'TP {n}':>13}" for n in (1, 2, 4, 8)))
    for name, grid, cache in BLOCKS:
        config = MODELS.get(name) or {**MODELS["Qwen3.5-35B-A3B"], "num_key_value_heads": 4}
        sizes = (block(config, gpus, grid, cache) for gpus in (1, 2, 4, 8))
        cells = "".join(f"{size:>6} +{padding:>5.1%}" for size, padding in sizes)
        print(f"{name:<19}{grid:>5}{'BF16' if cache == 2 else 'FP8':>6}{cells}")


@dataclass
class Prefixes:
    """What is kept of earlier prompts: keys and values by `page`, states at single positions."""

    page: int  # tokens of a block of keys and values
    grid: int  # positions at which a state can be kept
    states: set[tuple[str, int]] = field(default_factory=set)
    tokens: int = 0  # of the shared prefix, whose keys and values are there

    def ask(self, name: str, shared: int, unique: int) -> int:
        """Return how many tokens a prompt finds, and keep what its prefill leaves."""
        kept = min(shared, self.tokens) // self.page * self.page
        own = {at for who, at in self.states if who == "shared" and at <= kept}
        hit = max(own, default=0)
        junction = kept // self.grid * self.grid  # the keys reach further than the states
        if junction > hit:
            self.states.add(("shared", junction))
        end = (shared + unique - 1) // self.grid * self.grid
        self.states.add(("shared" if end <= shared else name, end))
        self.tokens = max(self.tokens, shared)
        return hit


def prefixes() -> None:
    """Print tokens found by the first four of many prompts that share a prefix."""
    print("shared  unique  engine                      tokens found by prompt 1, 2, 3, 4")
    ways = (
        ("full attention, pages of 16", 16, 1),
        ("vLLM 0.33.0, block 528", 528, 528),
        ("SGLang 0.5.23, grid 64", 1, 64),
    )
    for shared, unique in ((480, 700), (1500, 700), (1500, 60)):
        for name, page, grid in ways:
            kept = Prefixes(page, grid)
            if grid == 1:
                found = [min(i, 1) * (shared // page * page) for i in range(4)]
            else:
                found = [kept.ask(str(i), shared, unique) for i in range(4)]
            print(f"{shared:6}  {unique:6}  {name:<28}" + "".join(f"{one:>6}" for one in found))


def main() -> None:
    """Do what the option says."""
    parser = argparse.ArgumentParser()
    parser.add_argument("--config", type=Path)
    parser.add_argument("--blocks", action="store_true")
    parser.add_argument("--prefix", action="store_true")
    option = parser.parse_args()
    if option.config:
        table({option.config.stem: json.loads(option.config.read_text("utf-8"))})
    elif option.blocks:
        blocks()
    elif option.prefix:
        prefixes()
    else:
        table(MODELS)


if __name__ == "__main__":
    main()
