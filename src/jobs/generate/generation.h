// Prompts through a model that writes text and onto paper: what `generate` does.
#pragma once

#include <optional>
#include <string>
#include <vector>

#include "generation/sampling.h"
#include "jobs/generate/text_model.h"
#include "train/loop/loop.h"

namespace ddptrain {

struct GenerateJob {
  TextModelJob model;
  std::vector<std::string> prompts;  // none: lines of stdin
  SamplingOptions sampling;
  std::uint64_t seed = 0;
  std::optional<std::int64_t> tokens;  // none: 128, or as many as fit
  std::vector<std::string> stops;      // texts
  bool json = false;
};

/// Writes behind all prompts in order. Returns the exit code.
int generate_all(const GenerateJob& job, TextModel& model, const Hooks& hooks);

}  // namespace ddptrain
