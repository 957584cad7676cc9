# ===- catalog.py - Models that are measured -------------------------------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Causal language models by their published sizes, with random weights of a seed, or those of a checkpoint folder."""
import torch
import transformers

# Classes of transformers by prefix, and what differs from their configurations' defaults.
MODELS = {
    "tiny": ("Llama", dict(hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4, num_key_value_heads=2,
                           vocab_size=320, max_position_embeddings=256)),
    "tiny-moe": ("Mixtral", dict(hidden_size=64, intermediate_size=96, num_hidden_layers=2, num_attention_heads=4,
                                 num_key_value_heads=2, vocab_size=320, max_position_embeddings=256, num_local_experts=4)),
    "llama-160m": ("Llama", dict(hidden_size=768, intermediate_size=3072, num_hidden_layers=12, num_attention_heads=12,
                                 num_key_value_heads=12, vocab_size=32000, max_position_embeddings=2048)),
    "qwen2.5-0.5b": ("Qwen2", dict(hidden_size=896, intermediate_size=4864, num_hidden_layers=24, num_attention_heads=14,
                                   num_key_value_heads=2, vocab_size=151936, max_position_embeddings=32768, rope_theta=1e6,
                                   tie_word_embeddings=True)),
    "llama-3.2-1b": ("Llama", dict(hidden_size=2048, intermediate_size=8192, num_hidden_layers=16, num_attention_heads=32,
                                   num_key_value_heads=8, vocab_size=128256, max_position_embeddings=131072, rope_theta=5e5,
                                   rms_norm_eps=1e-5, tie_word_embeddings=True)),
    "llama-3-8b": ("Llama", dict(hidden_size=4096, intermediate_size=14336, num_hidden_layers=32, num_attention_heads=32,
                                 num_key_value_heads=8, vocab_size=128256, max_position_embeddings=8192, rope_theta=5e5,
                                 rms_norm_eps=1e-5)),
    "qwen3-4b": ("Qwen3", dict(hidden_size=2560, intermediate_size=9728, num_hidden_layers=36, num_attention_heads=32,
                               num_key_value_heads=8, head_dim=128, vocab_size=151936, max_position_embeddings=40960, rope_theta=1e6,
                               tie_word_embeddings=True)),
    "gemma-3-4b": ("Gemma3", dict(hidden_size=2560, intermediate_size=10240, num_hidden_layers=34, num_attention_heads=8,
                                  num_key_value_heads=4, head_dim=256, vocab_size=262208, max_position_embeddings=131072,
                                  sliding_window=1024, query_pre_attn_scalar=256)),
    "qwen3-30b-a3b": ("Qwen3Moe", dict(hidden_size=2048, intermediate_size=6144, moe_intermediate_size=768, num_hidden_layers=48,
                                       num_attention_heads=32, num_key_value_heads=4, head_dim=128, num_experts=128,
                                       num_experts_per_tok=8, norm_topk_prob=True, vocab_size=151936, max_position_embeddings=40960,
                                       rope_theta=1e6)),
    "gemma-4-26b": ("Gemma4", dict(hidden_size=2816, intermediate_size=2112, moe_intermediate_size=704, num_hidden_layers=30,
                                   num_attention_heads=16, num_key_value_heads=8, num_global_key_value_heads=2, head_dim=256,
                                   global_head_dim=512, attention_k_eq_v=True, enable_moe_block=True, num_experts=128, top_k_experts=8,
                                   hidden_size_per_layer_input=0, vocab_size=262144, max_position_embeddings=262144,
                                   sliding_window=1024, final_logit_softcapping=30.0)),
    # Cut to size: 4 of 61 layers, 64 of 256 experts.
    "deepseek-v3-cut": ("DeepseekV3", dict(num_hidden_layers=4, first_k_dense_replace=3, n_routed_experts=64, n_group=8, topk_group=4)),
}
_TEXT_CONFIGS = {"Gemma3", "Gemma4"}  # whose plain name is that of a model with images


def make_config(name, layers=0, **other):
    """``layers``: so many are left; 0: all. ``other``: sizes in place of those that were published."""
    prefix, sizes = MODELS[name]
    sizes = dict(sizes, bos_token_id=None, eos_token_id=None, pad_token_id=None, **other)
    if layers:
        sizes["num_hidden_layers"] = layers
    kind = "TextConfig" if prefix in _TEXT_CONFIGS else "Config"
    return getattr(transformers, prefix + kind)(**sizes), getattr(transformers, prefix + "ForCausalLM")


def make_model(name, layers, dtype, device, seed):
    """With random weights, which are made on the device."""
    config, kind = make_config(name, layers)
    torch.manual_seed(seed)
    default = torch.get_default_dtype()
    torch.set_default_dtype(dtype)
    try:
        with torch.device(device):
            model = kind(config)
    finally:
        torch.set_default_dtype(default)
    return model.eval().requires_grad_(False)


def read_model(path, layers, dtype, device):
    """Of a checkpoint folder."""
    config = transformers.AutoConfig.from_pretrained(path, local_files_only=True)
    if layers:
        text = config.get_text_config()
        text.num_hidden_layers = layers
        if getattr(text, "layer_types", None):
            text.layer_types = text.layer_types[:layers]
    model = transformers.AutoModelForCausalLM.from_pretrained(path, config=config, dtype=dtype, local_files_only=True)
    return model.eval().requires_grad_(False).to(device)


def step_bytes(model):
    """Of weights that a step of one token reads: not the table of embeddings, unless it is the head too, and of experts those that
    are chosen."""
    config, table, head = model.config.get_text_config(), model.get_input_embeddings().weight, model.get_output_embeddings().weight
    experts, chosen = (next((getattr(config, name) for name in names if getattr(config, name, None)), 0) for names in (
        ("num_experts", "num_local_experts", "n_routed_experts"), ("num_experts_per_tok", "top_k_experts")))
    found = 0
    for name, parameter in model.named_parameters():
        if parameter is not table or table is head:
            of_experts = experts and ".experts." in name and parameter.shape[0] == experts
            found += parameter.nbytes * (chosen / experts if of_experts else 1)
    return int(found)
