// A text that weights of a run have written.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ddptrain {

/// Its fields are those of `generate --json`, and the weights.
struct GeneratedText {
  std::string weights;      // "valid", or of averaged weights "valid_ema" or "valid_swa": as scores
  std::string prompt;       // UTF-8
  std::string text;         // what follows the prompt
  std::int64_t tokens = 0;  // that were written
  std::string end;          // why it ended: "token", "stop", "length"
};

using GeneratedTexts = std::vector<GeneratedText>;

}  // namespace ddptrain
