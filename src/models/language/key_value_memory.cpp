#include "models/language/key_value_memory.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>

#include "base/error.h"
#include "models/module.h"

namespace ddptrain {

KeyValueMemory::KeyValueMemory(const KeyValueShape& shape, const at::TensorOptions& options)
    : shape_(shape), options_(options) {}

void KeyValueMemory::begin(std::int64_t sequences, std::int64_t tokens) {
  if (tokens > shape_.tokens)
    throw Error(
        Exit::recipe,
        "the model reads {} tokens at most, not {}; write a shorter prompt or fewer new tokens",
        shape_.tokens, tokens);
  tokens_ = tokens;
  sequences_.assign(static_cast<std::size_t>(sequences), {});
  for (auto& sequence : sequences_)
    for (std::int64_t layer = 0; layer < shape_.layers; ++layer)
      sequence.layers.push_back(at::empty({2, shape_.heads, tokens, shape_.features}, options_));
}

KeyValueMemory::Sequence& KeyValueMemory::at(std::int64_t sequence) {
  return sequences_.at(static_cast<std::size_t>(sequence));
}

const KeyValueMemory::Sequence& KeyValueMemory::at(std::int64_t sequence) const {
  return sequences_.at(static_cast<std::size_t>(sequence));
}

std::int64_t KeyValueMemory::length(std::int64_t sequence) const { return at(sequence).length; }

void KeyValueMemory::cut(std::int64_t sequence, std::int64_t length) {
  auto& kept = at(sequence);
  DDP_CHECK(length >= 0 && length <= kept.length, "a memory can only be cut to what was read");
  kept.length = length;
}

void KeyValueMemory::copy(std::int64_t from, std::int64_t to) {
  if (from == to) return;
  const auto& source = at(from);
  auto& target = at(to);
  for (std::size_t layer = 0; layer < source.layers.size(); ++layer)
    target.layers[layer]
        .narrow(2, 0, source.length)
        .copy_(source.layers[layer].narrow(2, 0, source.length));
  target.length = source.length;
}

std::vector<NamedTensor> KeyValueMemory::save(std::int64_t sequence) const {
  const auto& kept = at(sequence);
  std::vector<NamedTensor> saved;
  for (std::size_t layer = 0; layer < kept.layers.size(); ++layer)
    saved.push_back({"keys_and_values." + std::to_string(layer),
                     kept.layers[layer].narrow(2, 0, kept.length).clone()});
  return saved;
}

void KeyValueMemory::load(std::int64_t sequence, const std::vector<NamedTensor>& saved) {
  auto& kept = at(sequence);
  DDP_CHECK(saved.size() == kept.layers.size(), "the memory of a model with as many layers");
  for (std::size_t layer = 0; layer < saved.size(); ++layer) {
    kept.length = saved[layer].tensor.size(2);
    DDP_CHECK(kept.length <= tokens_, "a memory is long enough for what is loaded");
    kept.layers[layer].narrow(2, 0, kept.length).copy_(saved[layer].tensor);
  }
}

KeyValueMemory::KeyValues KeyValueMemory::append(std::int64_t layer, std::int64_t sequence,
                                                 const KeyValues& next) {
  const auto& kept = at(sequence);
  const auto count = next.key.size(0);
  DDP_CHECK(kept.length + count <= tokens_, "a memory is long enough for what is read");
  const auto& all = kept.layers[static_cast<std::size_t>(layer)];
  const auto key = all.select(0, 0), value = all.select(0, 1);
  key.narrow(1, kept.length, count).copy_(next.key.transpose(0, 1));
  value.narrow(1, kept.length, count).copy_(next.value.transpose(0, 1));
  const auto length = kept.length + count;
  return {key.narrow(1, 0, length), value.narrow(1, 0, length)};
}

void KeyValueMemory::grow(std::int64_t sequence, std::int64_t tokens) {
  at(sequence).length += tokens;
}

}  // namespace ddptrain
