"""Write a GGUF file with the shape of Llama 3.1 8B and random weights, so that an engine starts.

Run:  python3 docs/infer/code/random_gguf.py VOCABULARY.gguf OUTPUT.gguf [--layers N]

VOCABULARY.gguf holds a tokenizer and no weights: llama.cpp has models/ggml-vocab-llama-bpe.gguf.
Needs NumPy and the package gguf. The text such a model writes means nothing; its speed and its
size are those of the shape.
"""

from __future__ import annotations

import argparse

import gguf
import numpy as np

HIDDEN, HEADS, KV_HEADS, INNER, WIDTH = 4096, 32, 8, 14336, 128
BLOCK = np.random.default_rng(1).normal(size=1 << 22).astype(np.float16)


def random(rows: int, columns: int) -> np.ndarray:
    """Return rows x columns values, spread so that products keep their size."""
    scaled = BLOCK * np.float16(columns**-0.5)
    return np.resize(scaled, (rows, columns))


def copied(reader: gguf.GGUFReader, writer: gguf.GGUFWriter) -> int:
    """Copy the tokenizer's fields; return how many tokens it has."""
    tokens = 0
    for name, field in reader.fields.items():
        if not name.startswith("tokenizer."):
            continue
        kind = field.types[0]
        inner = field.types[-1] if kind == gguf.GGUFValueType.ARRAY else None
        value = field.contents()
        writer.add_key_value(name, value, kind, inner)
        if name == "tokenizer.ggml.tokens":
            tokens = len(value)
    return tokens


def main() -> None:
    """Write the file."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("vocabulary")
    parser.add_argument("output")
    parser.add_argument("--layers", type=int, default=32)
    said = parser.parse_args()
    writer = gguf.GGUFWriter(said.output, "llama")
    tokens = copied(gguf.GGUFReader(said.vocabulary), writer)
    writer.add_name("random weights")
    writer.add_block_count(said.layers)
    writer.add_context_length(131072)
    writer.add_embedding_length(HIDDEN)
    writer.add_feed_forward_length(INNER)
    writer.add_head_count(HEADS)
    writer.add_head_count_kv(KV_HEADS)
    writer.add_layer_norm_rms_eps(1e-5)
    writer.add_rope_dimension_count(WIDTH)
    writer.add_rope_freq_base(500000.0)
    writer.add_vocab_size(tokens)
    writer.add_file_type(gguf.LlamaFileType.MOSTLY_F16)
    shapes = {
        "attn_q": (HIDDEN, HIDDEN),
        "attn_k": (KV_HEADS * WIDTH, HIDDEN),
        "attn_v": (KV_HEADS * WIDTH, HIDDEN),
        "attn_output": (HIDDEN, HIDDEN),
        "ffn_gate": (INNER, HIDDEN),
        "ffn_up": (INNER, HIDDEN),
        "ffn_down": (HIDDEN, INNER),
    }
    ones = np.ones(HIDDEN, np.float32)
    writer.add_tensor("token_embd.weight", random(tokens, HIDDEN))
    writer.add_tensor("output.weight", random(tokens, HIDDEN))
    writer.add_tensor("output_norm.weight", ones)
    for layer in range(said.layers):
        writer.add_tensor(f"blk.{layer}.attn_norm.weight", ones)
        writer.add_tensor(f"blk.{layer}.ffn_norm.weight", ones)
        for name, (rows, columns) in shapes.items():
            writer.add_tensor(f"blk.{layer}.{name}.weight", random(rows, columns))
    writer.write_header_to_file()
    writer.write_kv_data_to_file()
    writer.write_tensors_to_file()
    writer.close()


if __name__ == "__main__":
    main()
