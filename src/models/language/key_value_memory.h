// Keys and values of the tokens that an attention-based model has read.
#pragma once

#include <ATen/core/Tensor.h>

#include <vector>

#include "models/memory.h"

namespace ddptrain {

struct KeyValueShape {
  std::int64_t layers = 1;
  std::int64_t heads = 1;     // of keys and values
  std::int64_t features = 1;  // of a head
  std::int64_t tokens = 1;    // that the model can read
};

class KeyValueMemory final : public Memory {
 public:
  /// Tensors are of these options.
  KeyValueMemory(const KeyValueShape& shape, const at::TensorOptions& options);
  void begin(std::int64_t sequences, std::int64_t tokens) override;
  std::int64_t length(std::int64_t sequence) const override;
  void cut(std::int64_t sequence, std::int64_t length) override;
  void copy(std::int64_t from, std::int64_t to) override;
  std::vector<NamedTensor> save(std::int64_t sequence) const override;
  void load(std::int64_t sequence, const std::vector<NamedTensor>& saved) override;

  struct KeyValues {
    at::Tensor key, value;  // [heads, tokens, features]
  };
  /// What a layer keeps of a sequence with that of its next tokens, [new, heads, features] each.
  /// They are read from when all layers have theirs and grow() has counted them.
  KeyValues append(std::int64_t layer, std::int64_t sequence, const KeyValues& next);
  void grow(std::int64_t sequence, std::int64_t tokens);

 private:
  struct Sequence {
    std::int64_t length = 0;
    std::vector<at::Tensor> layers;  // [key and value, heads, tokens, features]
  };
  Sequence& at(std::int64_t sequence);
  const Sequence& at(std::int64_t sequence) const;

  KeyValueShape shape_;
  at::TensorOptions options_;
  std::int64_t tokens_ = 0;
  std::vector<Sequence> sequences_;
};

}  // namespace ddptrain
