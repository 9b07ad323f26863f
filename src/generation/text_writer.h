// Texts behind prompts: tokens as text, piece by piece, and why each text ended.
#pragma once

#include <cstdint>
#include <functional>
#include <optional>
#include <string>
#include <string_view>
#include <vector>

#include "generation/generator.h"
#include "generation/stop_texts.h"
#include "generation/text_codec.h"

namespace ddptrain {

/// Why a text ended: a special token, a stop text, or the number of tokens.
enum class TextEnd { token, stop, length };
std::string_view name_of(TextEnd end);  // "token", "stop", "length"

struct FinishedText {
  std::string prompt;
  std::string text;         // what follows the prompt
  std::int64_t tokens = 0;  // that were written
  TextEnd end = TextEnd::length;
};

struct WritingOptions {
  SamplingOptions sampling = {};
  std::uint64_t seed = 0;
  std::optional<std::int64_t> tokens = {};  // none: usual_tokens, or as many as fit
  std::int64_t usual_tokens = 128;
  std::vector<std::string> stops = {};  // texts, none empty
  std::vector<std::int64_t> ends = {};  // tokens that end a text and belong to it
};

/// Called with what can be shown of a text with a further token, and whether the text has ended.
using OnPiece = std::function<void(std::size_t text, const std::string& piece, bool ended)>;

class TextWriter {
 public:
  /// All outlive it.
  TextWriter(Generator& generator, const TextCodec& codec, WritingOptions options);

  /// The tokens of a text. An Error (Exit::recipe), "prompt 2: it is empty", where it has no text,
  /// is no UTF-8, or has a token that the vocabulary lacks.
  Prompt prompt_of(const std::string& text, std::int64_t number) const;

  /// Begins to continue prompts together; the first one has the number `first` (Prompt::number).
  /// The errors of prompt_of and of Generator::begin.
  void begin(const std::vector<std::string>& prompts, std::int64_t first);
  /// A further token for each text that has not ended. False where all have ended now.
  bool step(const OnPiece& on_piece);
  /// As far as they are written, in the order of the prompts.
  const std::vector<FinishedText>& texts() const { return texts_; }

 private:
  struct Progress {
    TextStream stream;
    StopTexts stops;
    std::int64_t left;  // tokens
  };

  GenerationOptions options_for(const std::vector<Prompt>& prompts) const;
  Writing add(std::size_t text, std::int64_t token, const OnPiece& on_piece);

  Generator& generator_;
  const TextCodec& codec_;
  WritingOptions options_;
  std::vector<FinishedText> texts_;
  std::vector<Progress> progress_;  // of each text
};

}  // namespace ddptrain
