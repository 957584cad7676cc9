# ===- embed_sentences.py - An encoder, at any batch and length ------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Embeds sentences of unlike lengths with a BERT of transformers, padded and masked, and compares them."""
import torch
from transformers import BertConfig, BertModel

model = BertModel(BertConfig(hidden_size=64, num_hidden_layers=2, num_attention_heads=4, intermediate_size=128,
                             vocab_size=1000), add_pooling_layer=False).eval()


def embed(ids, mask):
    states = model(input_ids=ids, attention_mask=mask).last_hidden_state
    mean = (states * mask.unsqueeze(-1)).sum(1) / mask.sum(1, keepdim=True)
    return torch.nn.functional.normalize(mean, dim=-1)


compiled = torch.compile(embed, backend="luminal", dynamic=True)

with torch.no_grad():
    for lengths in ([7, 3, 5], [12, 12], [4, 9, 2, 6]):
        ids = torch.randint(1, 1000, (len(lengths), max(lengths)))
        mask = (torch.arange(max(lengths)) < torch.tensor(lengths).unsqueeze(1)).long()
        vectors = compiled(ids, mask)
        torch.testing.assert_close(vectors, embed(ids, mask), rtol=1e-4, atol=1e-5)
        print(f"lengths {lengths}: likeness of the first two {(vectors[0] @ vectors[1]).item():.3f}")
