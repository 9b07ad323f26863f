#include "generation/generator.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "models/language/linear_rows.h"

namespace ddptrain {
namespace {

struct Sequence {
  std::size_t prompt;
  std::uint64_t number;
  std::vector<std::int64_t> tokens;
  std::ptrdiff_t read = 0;  // of them
  bool ended = false;
};

/// What the model has not read yet, of all sequences; from now on it has.
Continuation unread(std::vector<Sequence>& sequences, at::Device device) {
  std::vector<std::int64_t> tokens;
  Continuation further;
  for (auto& sequence : sequences) {
    tokens.insert(tokens.end(), sequence.tokens.begin() + sequence.read, sequence.tokens.end());
    further.sequences.push_back(static_cast<std::int64_t>(sequence.prompt));
    further.counts.push_back(std::ssize(sequence.tokens) - sequence.read);
    sequence.read = std::ssize(sequence.tokens);
  }
  further.tokens = at::tensor(tokens, at::kLong).to(device);
  return further;
}

/// On the CPU, double [sequences, vocabulary].
at::Tensor next_scores(Model& model, Memory& memory, std::vector<Sequence>& sequences) {
  const auto projection = model.projection();
  const auto hidden = model.extend(unread(sequences, projection.weight.device()), memory);
  const auto scores = linear_rows(hidden, projection.weight, projection.bias);
  return capped(scores, projection).to(at::kCPU, at::kDouble);
}

std::vector<double> row_of(const at::Tensor& scores, std::size_t row) {
  const auto width = static_cast<std::size_t>(scores.size(1));
  const auto* first = scores.const_data_ptr<double>() + row * width;
  return {first, first + width};
}

void add_token(Sequence& sequence, std::vector<double> scores, const GenerationOptions& options) {
  for (const auto token : options.never)
    scores.at(static_cast<std::size_t>(token)) = -std::numeric_limits<double>::infinity();
  const auto uniform = uniform_at(options.seed, sequence.number, std::ssize(sequence.tokens));
  sequence.tokens.push_back(
      next_token(std::move(scores), sequence.tokens, options.sampling, uniform));
}

bool is_end(std::int64_t token, const GenerationOptions& options) {
  return std::find(options.ends.begin(), options.ends.end(), token) != options.ends.end();
}

}  // namespace

Generator::Generator(Model& model, std::string name)
    : model_(model), name_(std::move(name)), memory_(model.make_memory()) {
  if (memory_ && model_.projection()) return;
  throw Error(Exit::recipe,
              "model '" + name_ + "' writes no text; 'ddptrain predict' gives its predictions");
}

std::optional<std::int64_t> Generator::room(const std::vector<Prompt>& prompts) const {
  auto room = model_.positions();
  const auto most = room;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    const auto length = std::ssize(prompts[i].tokens);
    if (length == 0)
      throw Error(Exit::recipe, fmt::format("prompt {} has no token", prompts[i].number + 1));
    if (!most) continue;
    if (length >= *most)
      throw Error(Exit::recipe,
                  fmt::format("prompt {} has {}, and model '{}' reads {} with those that it writes",
                              prompts[i].number + 1, plural(length, "token"), name_, *most));
    room = std::min(*room, *most - length);
  }
  return room;
}

void Generator::require_room(const std::vector<Prompt>& prompts, std::int64_t tokens) const {
  const auto most = room(prompts);
  if (!most || tokens <= *most) return;
  const auto longest = std::max_element(
      prompts.begin(), prompts.end(),
      [](const Prompt& a, const Prompt& b) { return a.tokens.size() < b.tokens.size(); });
  throw Error(Exit::recipe,
              fmt::format("prompt {} has {}, and {} more are {} together, but model '{}' reads {} "
                          "at most; {} fit",
                          longest->number + 1, plural(std::ssize(longest->tokens), "token"), tokens,
                          std::ssize(longest->tokens) + tokens, name_, *model_.positions(), *most));
}

void Generator::run(const std::vector<Prompt>& prompts, const GenerationOptions& options,
                    const OnToken& on_token) {
  require_room(prompts, options.tokens);
  std::vector<Sequence> sequences;
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    sequences.push_back({i, static_cast<std::uint64_t>(prompts[i].number), prompts[i].tokens});
    longest = std::max(longest, std::ssize(prompts[i].tokens));
  }
  memory_->begin(std::ssize(prompts), longest + options.tokens);
  const at::NoGradGuard no_grad;
  for (std::int64_t written = 0; written < options.tokens && !sequences.empty(); ++written) {
    const auto scores = next_scores(model_, *memory_, sequences);
    for (std::size_t i = 0; i < sequences.size(); ++i) {
      auto& sequence = sequences[i];
      add_token(sequence, row_of(scores, i), options);
      const auto token = sequence.tokens.back();
      const auto answer = on_token(sequence.prompt, token);
      if (answer == Writing::all_end) return;
      sequence.ended = answer == Writing::sequence_ends || is_end(token, options);
    }
    std::erase_if(sequences, [](const Sequence& each) { return each.ended; });
  }
}

}  // namespace ddptrain
