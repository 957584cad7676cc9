#!/usr/bin/env python3
# ===- tiny_checkpoint.py - A checkpoint folder of a few kilobytes -----------------===#
# SPDX-License-Identifier: Apache-2.0 WITH LLVM-exception
"""Writes a causal language model with random weights as Hugging Face lays it out: a configuration, weights in shards with an
index, and a tokenizer that was trained on a page of text, with a template for chats.

    python python/tests/tiny_checkpoint.py FOLDER [llama|qwen3|gemma3|mixtral|qwen3_moe|gemma4|gemma4_shared|gpt_oss|deepseek_v3|gemma3_images]
"""
import pathlib
import sys

import tokenizers
import torch
import transformers

TEXT = """A compiler reads a program and writes another that means the same. It may choose any that does: the one that is
fastest here, on this machine, today. What is equal is proved; what is fast is measured. The rain in the hills fills the
river, the river turns the wheel, and the wheel grinds the corn of the village, which is not a small thing for a river.
"""
TEMPLATE = ("{% for message in messages %}{{ '<|' + message['role'] + '|>' + message['content'] }}{% endfor %}"
            "{% if add_generation_prompt %}{{ '<|assistant|>' }}{% endif %}")
SPECIAL = ["<end>", "<|user|>", "<|system|>", "<|assistant|>"]
_SIZES = {"hidden_size": 64, "intermediate_size": 96, "num_hidden_layers": 2, "num_attention_heads": 4, "num_key_value_heads": 2,
          "head_dim": 16, "max_position_embeddings": 256, "vocab_size": 320, "bos_token_id": None, "eos_token_id": 0,
          "pad_token_id": 0}
# With a head of its own: tied to the large embeddings, it would predict the last token again.
_GEMMA = {**_SIZES, "layer_types": ["sliding_attention", "full_attention"], "tie_word_embeddings": False}
MODELS = {
    "llama": lambda: transformers.LlamaForCausalLM(transformers.LlamaConfig(**_SIZES)),
    "qwen3": lambda: transformers.Qwen3ForCausalLM(transformers.Qwen3Config(**_SIZES)),
    "gemma3": lambda: transformers.Gemma3ForCausalLM(transformers.Gemma3TextConfig(**_GEMMA, sliding_window=16)),
    "mixtral": lambda: transformers.MixtralForCausalLM(transformers.MixtralConfig(
        **_SIZES, num_local_experts=4, num_experts_per_tok=2)),
    "qwen3_moe": lambda: transformers.Qwen3MoeForCausalLM(transformers.Qwen3MoeConfig(
        **_SIZES, num_experts=4, num_experts_per_tok=2, moe_intermediate_size=32)),
    # Experts beside a dense part; layers with full attention have wider heads, and share keys as values.
    "gemma4": lambda: transformers.Gemma4ForCausalLM(transformers.Gemma4TextConfig(
        **_GEMMA, sliding_window=8, global_head_dim=32, hidden_size_per_layer_input=0, enable_moe_block=True, num_experts=4,
        top_k_experts=2, moe_intermediate_size=32, attention_k_eq_v=True, num_global_key_value_heads=1)),
    # The last two layers use the keys and values of the first two, and each layer has its own embedding.
    "gemma4_shared": lambda: transformers.Gemma4ForCausalLM(transformers.Gemma4TextConfig(
        **_GEMMA | {"num_hidden_layers": 4, "layer_types": _GEMMA["layer_types"] * 2}, sliding_window=8, global_head_dim=32,
        hidden_size_per_layer_input=16, vocab_size_per_layer_input=320, num_kv_shared_layers=2)),
    # Attention with sinks.
    "gpt_oss": lambda: transformers.GptOssForCausalLM(transformers.GptOssConfig(
        **_SIZES, num_local_experts=4, num_experts_per_tok=2, sliding_window=8, rope_parameters={"rope_type": "default", "rope_theta": 1e4})),
    # Positions as complex numbers; layers attend to chunks of the text, and one to all of it.
    "llama4": lambda: transformers.Llama4ForCausalLM(transformers.Llama4TextConfig(
        **_SIZES | {"num_hidden_layers": 4}, attention_chunk_size=8, num_local_experts=2, intermediate_size_mlp=96)),
    # Keys that are wider than values.
    "deepseek_v3": lambda: transformers.DeepseekV3ForCausalLM(transformers.DeepseekV3Config(
        **{name: size for name, size in _SIZES.items() if name != "head_dim"} | {"num_key_value_heads": 4}, n_routed_experts=8, n_group=4,
        topk_group=2, num_experts_per_tok=2, moe_intermediate_size=32, first_k_dense_replace=1, q_lora_rank=24, kv_lora_rank=16,
        qk_rope_head_dim=8, qk_nope_head_dim=16, v_head_dim=12)),
    # As published: a text model inside an image model.
    "gemma3_images": lambda: transformers.Gemma3ForConditionalGeneration(transformers.Gemma3Config(
        text_config={**_GEMMA, "sliding_window": 16}, mm_tokens_per_image=4, eos_token_id=0, tie_word_embeddings=False,
        vision_config={"hidden_size": 32, "intermediate_size": 32, "num_hidden_layers": 1, "num_attention_heads": 2, "image_size": 28,
                       "patch_size": 14})),
}


def make_tokenizer():
    made = tokenizers.Tokenizer(tokenizers.models.BPE())
    made.pre_tokenizer = tokenizers.pre_tokenizers.ByteLevel(add_prefix_space=False)
    made.decoder = tokenizers.decoders.ByteLevel()
    made.train_from_iterator([TEXT], tokenizers.trainers.BpeTrainer(
        vocab_size=_SIZES["vocab_size"], special_tokens=SPECIAL, show_progress=False,
        initial_alphabet=tokenizers.pre_tokenizers.ByteLevel.alphabet()))
    return transformers.PreTrainedTokenizerFast(tokenizer_object=made, eos_token="<end>", pad_token="<end>",
                                                chat_template=TEMPLATE)


def write(folder, name="llama", seed=0):
    """Writes a checkpoint folder and returns its model."""
    torch.manual_seed(seed)
    model = MODELS[name]().eval()
    with torch.no_grad():  # so that no token is the most likely one everywhere
        for parameter in model.parameters():
            if parameter.dim() > 1:
                parameter.normal_(std=0.3)
    model.save_pretrained(folder, max_shard_size="100KB")
    make_tokenizer().save_pretrained(folder)
    return model


if __name__ == "__main__":
    write(pathlib.Path(sys.argv[1]), *sys.argv[2:])
