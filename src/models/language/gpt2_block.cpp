#include "models/language/gpt2_block.h"

#include <ATen/ops/cat.h>

#include "base/random.h"
#include "models/language/activate_alike.h"
#include "models/operators/dropout_mask.h"

namespace ddptrain {

Gpt2Attention::Gpt2Attention(const Gpt2BlockShape& shape)
    : shape_(shape),
      c_attn_(make<Conv1d>("c_attn", shape.width, 3 * shape.width)),
      c_proj_(make<Conv1d>("c_proj", shape.width, shape.width)),
      dropout_(make<Dropout>("resid_dropout", shape.resid_pdrop)) {}

// [..., 3 * width] to [..., heads, features] each.
AttentionHeads Gpt2Attention::heads_of(const at::Tensor& projected) const {
  auto sizes = projected.sizes().vec();
  sizes.back() = 3;
  sizes.insert(sizes.end(), {shape_.heads, shape_.width / shape_.heads});
  const auto parts = projected.view(sizes).unbind(projected.dim() - 1);
  return {parts[0], parts[1], parts[2]};
}

at::Tensor Gpt2Attention::attend(const at::Tensor& input, const Documents& documents,
                                 const Pass& pass) {
  CausalAttention attention{shape_.attention_scale, documents};
  if (pass.training && shape_.attn_pdrop > 0) {
    const auto key = mix(pass.seed, hash_text(path() + ".attn_dropout"));
    attention.dropout = {mask_rows(pass, key, input.size(0), 0), shape_.attn_pdrop};
  }
  const auto heads = heads_of(c_attn_->forward(input, pass));
  return dropout_->forward(c_proj_->forward(causal_attention(heads, attention), pass), pass);
}

at::Tensor Gpt2Attention::forward(const at::Tensor& input, const Pass& pass) {
  return attend(input, nullptr, pass);
}

at::Tensor Gpt2Attention::extend(const at::Tensor& input,
                                 const std::vector<SequenceRows>& sequences, std::int64_t layer,
                                 KeyValueMemory& memory) {
  const auto heads = heads_of(apply_by_sequence(*c_attn_, input, sequences));
  std::vector<at::Tensor> outputs;
  for (const auto& [sequence, first, count] : sequences) {
    const auto all = memory.append(
        layer, sequence, {heads.key.narrow(0, first, count), heads.value.narrow(0, first, count)});
    const auto query = heads.query.narrow(0, first, count).to(all.key.scalar_type());
    outputs.push_back(continued_attention(query, all.key, all.value, shape_.attention_scale));
  }
  return apply_by_sequence(*c_proj_, at::cat(outputs), sequences);
}

Gpt2Mlp::Gpt2Mlp(const Gpt2BlockShape& shape)
    : activation_(shape.activation),
      c_fc_(make<Conv1d>("c_fc", shape.width, shape.inner)),
      c_proj_(make<Conv1d>("c_proj", shape.inner, shape.width)),
      dropout_(make<Dropout>("dropout", shape.resid_pdrop)) {}

at::Tensor Gpt2Mlp::forward(const at::Tensor& input, const Pass& pass) {
  const auto hidden = activate_alike(activation_, c_fc_->forward(input, pass));
  return dropout_->forward(c_proj_->forward(hidden, pass), pass);
}

at::Tensor Gpt2Mlp::extend(const at::Tensor& input, const std::vector<SequenceRows>& sequences) {
  const auto hidden = activate_alike(activation_, apply_by_sequence(*c_fc_, input, sequences));
  return apply_by_sequence(*c_proj_, hidden, sequences);
}

Gpt2Block::Gpt2Block(const Gpt2BlockShape& shape)
    : ln_1_(make<LayerNorm>("ln_1", shape.width, shape.epsilon)),
      attn_(make<Gpt2Attention>("attn", shape)),
      ln_2_(make<LayerNorm>("ln_2", shape.width, shape.epsilon)),
      mlp_(make<Gpt2Mlp>("mlp", shape)) {}

at::Tensor Gpt2Block::read(const at::Tensor& input, const Documents& documents, const Pass& pass) {
  const auto first = ln_1_->of_sum(input, {});
  const auto attended = attn_->attend(first.normalized, documents, pass);
  const auto second = ln_2_->of_sum(first.sum, attended);
  return mlp_->forward(second.normalized, pass).add(second.sum);
}

at::Tensor Gpt2Block::forward(const at::Tensor& input, const Pass& pass) {
  return read(input, nullptr, pass);
}

at::Tensor Gpt2Block::extend(const at::Tensor& input, const std::vector<SequenceRows>& sequences,
                             std::int64_t layer, KeyValueMemory& memory) {
  const auto x = attn_->extend(ln_1_->forward(input, {}), sequences, layer, memory).add(input);
  return mlp_->extend(ln_2_->forward(x, {}), sequences).add(x);
}

}  // namespace ddptrain
