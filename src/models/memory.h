// What a model keeps of the tokens that it has read, so that the next one costs one step.
#pragma once

#include <ATen/core/Tensor.h>

#include <cstdint>
#include <vector>

namespace ddptrain {

struct NamedTensor;

/// Keys and values, or hidden states, of independent sequences, numbered from 0. llama.cpp's
/// llama_memory_i.
class Memory {
 public:
  virtual ~Memory() = default;
  /// Forgets everything; from now on there are so many sequences, all empty. None becomes longer
  /// than `tokens`, which must be at most what the model can read.
  virtual void begin(std::int64_t sequences, std::int64_t tokens) = 0;
  /// Tokens of a sequence that were read.
  virtual std::int64_t length(std::int64_t sequence) const = 0;
  /// Forgets all but the first `length` tokens. A recurrent state can only be cut to 0 or left as
  /// it is: an Error otherwise.
  virtual void cut(std::int64_t sequence, std::int64_t length) = 0;
  /// `to` becomes what `from` is: a common beginning is read once.
  virtual void copy(std::int64_t from, std::int64_t to) = 0;
  /// What is kept of a sequence, to be loaded into an empty one of the same model.
  virtual std::vector<NamedTensor> save(std::int64_t sequence) const = 0;
  virtual void load(std::int64_t sequence, const std::vector<NamedTensor>& saved) = 0;
};

class Blocks;  // models/blocks.h

/// Further tokens of some sequences, one sequence after the other, without padding.
struct Continuation {
  at::Tensor tokens;                    // int64 [n] on the model's device
  std::vector<std::int64_t> sequences;  // whose tokens they are, each once
  std::vector<std::int64_t> counts;     // tokens of each, at least 1
  Blocks* blocks = nullptr;             // what runs the model's blocks; null: nothing else does
};

}  // namespace ddptrain
