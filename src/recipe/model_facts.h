// What a plan reports of a network and of its data.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <utility>
#include <vector>

namespace ddptrain {

/// Parameters below one child of the network.
struct Block {
  std::string name;
  std::int64_t parameters = 0;
};

/// What an optimizer step of a device's micro-batches needs.
struct StepMemory {
  std::int64_t activations = 0;  // that a forward pass keeps for its backward pass
  std::int64_t logits = 0;       // of a language model: the scores that exist at once
  std::int64_t most = 0;         // of all at once: with weights, optimizer, gradients
};

/// Bytes are those of one device in the run's numerics.
struct ModelFacts {
  std::vector<Block> blocks;  // from input to output
  std::int64_t parameters = 0;
  std::int64_t training = 0;      // of them, those that train in the first stage
  std::int64_t root = 0;          // of them, those in none of the blocks that zero2 and fsdp share
  std::int64_t largest = 0;       // of the largest such block
  std::int64_t cast = 0;          // of those in blocks, what travels in autocast's type
  std::int64_t flops = 0;         // of a forward pass, per sample; a multiply-add counts as two
  std::int64_t weight_bytes = 0;  // parameters and buffers
  std::int64_t gradient_bytes = 0;
  std::int64_t optimizer_bytes = 0;   // its state
  std::int64_t whole_state = 0;       // of it, what steps look at at once: of the largest parameter
  std::int64_t average_bytes = 0;     // of train.ema or train.swa
  std::int64_t activation_bytes = 0;  // per sample: what a forward pass keeps for the backward pass
  StepMemory step;
  std::optional<StepMemory> recomputed = {};  // where train.recompute could be blocks, and is none
};

/// Tokens of an epoch of a language model.
struct TokenSize {
  std::int64_t read = 0;     // by all samples
  std::int64_t learned = 0;  // of them, those whose next token is learned
  std::int64_t places = 0;   // of all samples, with what is left empty in packed blocks
};

struct DataSize {
  std::int64_t training = 0;  // samples of an epoch
  std::int64_t valid = 0;
  std::vector<std::pair<std::string, std::int64_t>> splits = {};  // of eval.splits and eval.test
  std::optional<TokenSize> tokens = {};                           // of training samples
};

}  // namespace ddptrain
