// A folder that transformers opens: config.json, model.safetensors and, of a model of texts,
// generation_config.json, tokenizer.json and tokenizer_config.json.
#pragma once

#include <memory>
#include <string>
#include <vector>

#include "generation/text_codec.h"
#include "models/model.h"
#include "recipe/recipe.h"
#include "train/training_plan.h"

namespace ddptrain {

/// What `generate` knows of a run's texts. No codec: the run has none.
struct PublishedTexts {
  std::unique_ptr<TextCodec> codec;
  std::vector<std::int64_t> ends;  // tokens after which a text ends
  std::string tokenizer_file;      // tokenizer.json; empty where the tokenizer is no such file
};

/// `tokenizer_file` takes the place of the recipe's unless it is empty. Errors as those of codec_of
/// (jobs/run_texts.h).
PublishedTexts published_texts(const Recipe& recipe, const SavedData& saved,
                               const std::string& tokenizer_file);

/// Writes the weights of a model, without the further names of a tensor, and what
/// Model::published_config() says. transformers then ends a greedy text where `generate` does, and
/// never writes the token for unknown words. An Error (Exit::recipe) where transformers has no such
/// network.
void write_huggingface_folder(const std::string& folder, const Model& model,
                              const std::vector<NamedTensor>& weights, const PublishedTexts& texts);

}  // namespace ddptrain
