// A model that writes: prompts as tokens, further tokens as they come.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <vector>

#include "generation/sampling.h"
#include "models/model.h"

namespace ddptrain {

struct GenerationOptions {
  SamplingOptions sampling;
  std::uint64_t seed = 0;
  std::int64_t tokens = 128;             // of each sequence at most, without its prompt
  std::vector<std::int64_t> ends = {};   // tokens that end a sequence and belong to it
  std::vector<std::int64_t> never = {};  // tokens that are not written, the unknown one for example
};

struct Prompt {
  std::vector<std::int64_t> tokens;  // at least one
  std::int64_t number = 0;  // from 0: of messages and, with the seed, of its random numbers
};

/// Whether a sequence, or all of them, continue.
enum class Writing { on, sequence_ends, all_end };

/// Called for each token in the order in which they come: the prompt's place in the list, and the
/// token. Its answer ends a sequence behind the token, as a stop text does.
using OnToken = std::function<Writing(std::size_t prompt, std::int64_t token)>;

/// Continues prompts together. Sequences that have ended leave the batch, and the text of a
/// sequence depends on no other.
class Generator {
 public:
  /// The model, in evaluation mode, outlives it, and so do `blocks`, Continuation's. An Error
  /// (Exit::recipe) where the model writes no text; `name` is what messages call it.
  Generator(Model& model, std::string name, Blocks* blocks = nullptr);

  /// The most tokens that fit behind each of the prompts; none: any number. An Error (Exit::recipe)
  /// where a prompt has no token, or alone is longer than what the model reads.
  std::optional<std::int64_t> room(const std::vector<Prompt>& prompts) const;
  /// Why not so many tokens (none: not even one) fit behind a prompt, as "has no token"; empty:
  /// they do.
  std::string misfit(const Prompt& prompt, std::optional<std::int64_t> tokens) const;

  /// Begins to continue prompts. The errors of room(), and one where the tokens asked for do not
  /// fit behind a prompt.
  void begin(const std::vector<Prompt>& prompts, GenerationOptions options);
  /// Gives each sequence that has not ended a further token. False where all have ended now. The
  /// errors of next_token.
  bool step(const OnToken& on_token);
  /// Both, until all have ended.
  void run(const std::vector<Prompt>& prompts, const GenerationOptions& options,
           const OnToken& on_token);

 private:
  struct Sequence {
    std::size_t prompt;
    std::uint64_t number;
    std::vector<std::int64_t> tokens;
    std::ptrdiff_t read = 0;  // of them
    bool ended = false;
  };

  void require_room(const std::vector<Prompt>& prompts, std::int64_t tokens) const;
  Continuation unread(at::Device device);
  at::Tensor next_scores();
  void add_token(Sequence& sequence, std::vector<double> scores) const;
  bool is_end(std::int64_t token) const;

  Model& model_;
  std::string name_;
  Blocks* blocks_;
  std::unique_ptr<Memory> memory_;
  GenerationOptions options_;
  std::vector<Sequence> sequences_;  // that have not ended
  std::int64_t left_ = 0;            // tokens that each of them may still get
};

}  // namespace ddptrain
