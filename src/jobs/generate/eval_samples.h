// eval.samples: what the model of a run in training writes at each evaluation.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <vector>

#include "generation/text_codec.h"
#include "train/step/generated_samples.h"

namespace ddptrain {

class Dataset;

/// Writes as `generate` does behind the same prompts with the same options. Null where the recipe
/// has no eval.samples. An Error (Exit::recipe) about a prompt that is longer than what the model
/// reads, or about more tokens than fit behind one, those of codec_of, and where no validation
/// document has text for `prompts: auto` one (Exit::data). The training outlives it.
std::unique_ptr<SampleGenerator> make_eval_samples(Training& training);

/// The text of the first tokens, at most so many and none unknown, of the first `count` validation
/// documents that have any.
std::vector<std::string> beginnings_of(const Dataset& data, const TextCodec& codec,
                                       std::int64_t count, std::int64_t tokens);

}  // namespace ddptrain
