// A checkpoint's model that writes text, with the tokenizer of its run.
#pragma once

#include <memory>
#include <string>

#include "generation/generator.h"
#include "generation/text_codec.h"
#include "recipe/recipe.h"
#include "train/placement.h"

namespace ddptrain {

class Engine;
struct World;

struct TextModelJob {
  Recipe recipe;  // resolved
  std::string checkpoint;
  std::string tokenizer;  // a file instead of the recipe's; may be empty
};

class TextModel {
 public:
  /// Errors of the tokenizer and of a model that writes no text: generation/text_codec.h and
  /// generator.h. One (Exit::recipe) where the run reads texts from their end. The world outlives
  /// it.
  TextModel(const TextModelJob& job, const Placement& placement, World& world);
  ~TextModel();

  const TextCodec& codec() const { return *codec_; }
  Generator& generator() { return *generator_; }
  /// Tokens behind which a text ends: special ones, and data.blocks.end.
  std::vector<std::int64_t> ends() const;

 private:
  Recipe recipe_;
  std::unique_ptr<TextCodec> codec_;
  std::unique_ptr<Engine> engine_;
  std::unique_ptr<Generator> generator_;
};

}  // namespace ddptrain
