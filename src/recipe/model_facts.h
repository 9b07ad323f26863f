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

/// Bytes are those of one device in the run's numerics.
struct ModelFacts {
  std::vector<Block> blocks;  // from input to output
  std::int64_t parameters = 0;
  std::int64_t training = 0;      // of them, those that train in the first stage
  std::int64_t flops = 0;         // of a forward pass, per sample; a multiply-add counts as two
  std::int64_t weight_bytes = 0;  // parameters and buffers
  std::int64_t gradient_bytes = 0;
  std::int64_t optimizer_bytes = 0;   // its state
  std::int64_t average_bytes = 0;     // of train.ema or train.swa
  std::int64_t activation_bytes = 0;  // per sample: what a forward and backward pass hold at most
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
