// What a rank made of one batch, as it travels to rank 0.
#pragma once

#include <string>
#include <vector>

namespace ddptrain {

struct PredictionPart {
  int signal = 0;                   // that asks to stop
  std::vector<std::string> errors;  // one line each
  std::string rows;
};

std::string packed(const PredictionPart& part);
/// Of what packed() made.
PredictionPart unpacked(const std::string& text);

}  // namespace ddptrain
