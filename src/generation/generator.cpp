#include "generation/generator.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/tensor.h>
#include <fmt/format.h>

#include <algorithm>
#include <limits>

#include "base/error.h"
#include "base/text.h"
#include "models/language/linear_rows.h"
#include "models/layers/many_lengths.h"

namespace ddptrain {
namespace {

std::vector<double> row_of(const at::Tensor& scores, std::size_t row) {
  const auto width = static_cast<std::size_t>(scores.size(1));
  const auto* first = scores.const_data_ptr<double>() + row * width;
  return {first, first + width};
}

}  // namespace

Generator::Generator(Model& model, std::string name, Blocks* blocks)
    : model_(model), name_(std::move(name)), blocks_(blocks), memory_(model.make_memory()) {
  if (memory_ && model_.projection()) return;
  throw Error(Exit::recipe, "model '{}' writes no text; 'ddptrain predict' gives its predictions",
              name_);
}

std::string Generator::misfit(const Prompt& prompt, std::optional<std::int64_t> tokens) const {
  const auto length = std::ssize(prompt.tokens);
  const auto most = model_.positions();
  if (length == 0) return "has no token";
  if (!most || length + tokens.value_or(1) <= *most) return {};
  if (length >= *most)
    return fmt::format("has {}, and model '{}' reads {} with those that it writes",
                       plural(length, "token"), name_, *most);
  return fmt::format("has {}, and {} more are {} together, but model '{}' reads {} at most; {} fit",
                     plural(length, "token"), *tokens, length + *tokens, name_, *most,
                     *most - length);
}

std::optional<std::int64_t> Generator::room(const std::vector<Prompt>& prompts) const {
  auto room = model_.positions();
  const auto most = room;
  for (const auto& prompt : prompts) {
    if (const auto why = misfit(prompt, {}); !why.empty())
      throw Error(Exit::recipe, "prompt {} {}", prompt.number + 1, why);
    if (most) room = std::min(*room, *most - std::ssize(prompt.tokens));
  }
  return room;
}

void Generator::require_room(const std::vector<Prompt>& prompts, std::int64_t tokens) const {
  const auto most = room(prompts);
  if (!most || tokens <= *most) return;
  const auto longest = std::max_element(
      prompts.begin(), prompts.end(),
      [](const Prompt& a, const Prompt& b) { return a.tokens.size() < b.tokens.size(); });
  throw Error(Exit::recipe, "prompt {} {}", longest->number + 1, misfit(*longest, tokens));
}

void Generator::begin(const std::vector<Prompt>& prompts, GenerationOptions options) {
  require_room(prompts, options.tokens);
  options_ = std::move(options);
  left_ = options_.tokens;
  sequences_.clear();
  std::int64_t longest = 0;
  for (std::size_t i = 0; i < prompts.size(); ++i) {
    sequences_.push_back({i, static_cast<std::uint64_t>(prompts[i].number), prompts[i].tokens});
    longest = std::max(longest, std::ssize(prompts[i].tokens));
  }
  memory_->begin(std::ssize(prompts), longest + options_.tokens);
}

bool Generator::step(const OnToken& on_token) {
  if (sequences_.empty() || left_ == 0) return false;
  const at::NoGradGuard no_grad;
  const ManyLengths growing;
  const auto scores = next_scores();
  for (std::size_t i = 0; i < sequences_.size(); ++i) {
    auto& sequence = sequences_[i];
    add_token(sequence, row_of(scores, i));
    const auto token = sequence.tokens.back();
    const auto answer = on_token(sequence.prompt, token);
    if (answer == Writing::all_end) {
      sequences_.clear();
      return false;
    }
    sequence.ended = answer == Writing::sequence_ends || is_end(token);
  }
  --left_;
  std::erase_if(sequences_, [](const Sequence& each) { return each.ended; });
  return left_ > 0 && !sequences_.empty();
}

void Generator::run(const std::vector<Prompt>& prompts, const GenerationOptions& options,
                    const OnToken& on_token) {
  begin(prompts, options);
  while (step(on_token)) {
  }
}

/// What the model has not read yet, of all sequences; from now on it has.
Continuation Generator::unread(at::Device device) {
  std::vector<std::int64_t> tokens;
  Continuation further;
  further.blocks = blocks_;
  for (auto& sequence : sequences_) {
    tokens.insert(tokens.end(), sequence.tokens.begin() + sequence.read, sequence.tokens.end());
    further.sequences.push_back(static_cast<std::int64_t>(sequence.prompt));
    further.counts.push_back(std::ssize(sequence.tokens) - sequence.read);
    sequence.read = std::ssize(sequence.tokens);
  }
  further.tokens = at::tensor(tokens, at::kLong).to(device);
  return further;
}

/// On the CPU, double [sequences, vocabulary].
at::Tensor Generator::next_scores() {
  const auto projection = model_.projection();
  const auto hidden = model_.extend(unread(projection.weight.device()), *memory_);
  const auto scores = linear_rows(hidden, projection.weight, projection.bias);
  return capped(scores, projection).to(at::kCPU, at::kDouble);
}

void Generator::add_token(Sequence& sequence, std::vector<double> scores) const {
  for (const auto token : options_.never)
    scores.at(static_cast<std::size_t>(token)) = -std::numeric_limits<double>::infinity();
  const auto uniform = uniform_at(options_.seed, sequence.number, std::ssize(sequence.tokens));
  sequence.tokens.push_back(
      next_token(std::move(scores), sequence.tokens, options_.sampling, uniform));
}

bool Generator::is_end(std::int64_t token) const {
  return std::find(options_.ends.begin(), options_.ends.end(), token) != options_.ends.end();
}

}  // namespace ddptrain
