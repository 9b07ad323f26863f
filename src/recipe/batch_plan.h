// Batch arithmetic: global = micro x accumulate x devices, with any one or two given.
#pragma once

#include <cstdint>
#include <string>

#include "recipe/recipe.h"

namespace ddptrain {

/// One optimizer step takes `global` samples; each device sees `accumulate` forward passes of
/// `micro` (the largest piece, where a cut is uneven).
struct BatchPlan {
  std::int64_t global = 0;
  std::int64_t micro = 0;
  std::int64_t accumulate = 1;
  std::int64_t devices = 1;
};

/// How many devices a recipe asks for, whatever the machine has; nothing where the machine decides.
std::optional<std::int64_t> written_devices(const ParallelSpec& parallel);

/// Solves the arithmetic for a number of devices; without 'global', 'per_device' and 'micro' the
/// global batch is 64. Throws an Error (Exit::recipe) that names the
/// nearest legal values where it does not divide. `micro: auto` with `accumulate: auto` means no
/// accumulation.
BatchPlan plan_batch(const BatchSpec& spec, std::int64_t devices);

/// Rows of an evaluation's batches where the recipe leaves them open: `global`, from 64 to 256.
std::int64_t usual_eval_batch(std::int64_t global);

/// An Error (Exit::data) where an epoch of `samples` training samples is no step.
void require_full_batch(std::int64_t steps, std::int64_t samples, std::int64_t global);

/// "global 64 = micro 16 x accumulate 2 x 2 devices"
std::string to_text(const BatchPlan& plan);

}  // namespace ddptrain
