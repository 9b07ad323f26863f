#include "jobs/draft/language_recipe.h"

#include <fmt/format.h>

#include <algorithm>
#include <cmath>

#include "base/text.h"
#include "jobs/draft/draft.h"

namespace ddptrain {
namespace {

// Floating-point operations of some minutes.
constexpr double kCpuWork = 2e13;
constexpr double kGpuWork = 2e15;
constexpr std::int64_t kFewestSteps = 200;
constexpr std::int64_t kMostEpochs = 20;
constexpr std::int64_t kMostBlocks = 32;  // of a batch

constexpr std::int64_t kSmallText = 100'000;  // tokens
constexpr std::int64_t kLargeText = 2'000'000;

/// Of a forward and a backward pass, a token (Kaplan et al. 2020: six a weight).
double work_of_token(const LanguagePlan& plan) {
  const auto weights = 12 * plan.layers * plan.width * plan.width + plan.vocabulary * plan.width;
  return 6 * static_cast<double>(weights);
}

LanguagePlan network_for(const LanguageSize& size) {
  LanguagePlan plan{4, 4, 128, 128, 8000, 0, 0, 0, "2e-3"};
  if (size.tokens < kSmallText) plan = {2, 2, 64, 64, 4000, 0, 0, 0, "2e-3"};
  if (size.tokens >= kLargeText && size.gpu) plan = {6, 6, 384, 256, 20'000, 0, 0, 0, "1e-3"};
  if (size.vocabulary > 0) plan.vocabulary = size.vocabulary;
  return plan;
}

/// To two digits.
std::int64_t rounded_steps(double steps) {
  const auto unit = std::pow(10, std::floor(std::log10(steps)) - 1);
  return std::llround(std::round(steps / unit) * unit);
}

std::string duration_of(const LanguagePlan& plan) {
  return plan.steps > 0 ? plural(plan.steps, "step") : plural(plan.epochs, "epoch");
}

std::string model_line(const LanguagePlan& plan) {
  return fmt::format(
      "# A small GPT-2, from scratch: as large as so much text can teach, and minutes of "
      "training.\n"
      "# Others: awd_lstm_lm, larger ones; `ddptrain describe model gpt2`.\n"
      "model: {{type: gpt2, n_layer: {}, n_head: {}, n_embd: {}, n_positions: {}, "
      "embd_pdrop: 0.1, attn_pdrop: 0, resid_pdrop: 0.1}}\n",
      plan.layers, plan.heads, plan.width, plan.length);
}

std::string vocabulary_line(const LanguageSize& size, const LanguagePlan& plan) {
  if (size.vocabulary > 0) return "";
  return fmt::format(
      "  vocabulary: {{min_freq: 2, max_vocab: {}}}     # rarer words are unknown, and never "
      "written\n",
      plan.vocabulary);
}

std::string training_line(const LanguageSize& size, const LanguagePlan& plan) {
  return fmt::format(
      "batch: {{global: {}}}     # blocks: {} tokens a step\n"
      "train: {{duration: {}, clip: {{type: norm, max: 1.0}}}}     # minutes on {}; more learns "
      "more\n",
      plan.batch, with_commas(plan.batch * plan.length), duration_of(plan),
      size.gpu ? "a GPU" : "a CPU");
}

std::string last_lines(const LanguageSize& size, const LanguagePlan& plan) {
  const auto every = plan.steps > 0 ? plural(std::max<std::int64_t>(1, plan.steps / 4), "step")
                                    : plural((plan.epochs + 3) / 4, "epoch");
  return "schedule: one_cycle                      # the rate rises, then falls to nothing\n"
         "eval: {every: " +
         every +
         (size.vocabulary == 0 ? ", samples: 2}     # with two texts that it writes" : "}") +
         "\ncheckpoint: {every: " + every +
         ", keep_best: {metric: perplexity}}\n"
         "# callbacks: [{type: early_stopping, metric: perplexity, patience: 3}]\n";
}

}  // namespace

LanguagePlan plan_language(const LanguageSize& size) {
  auto plan = network_for(size);
  const auto blocks = std::max<std::int64_t>(1, (size.tokens - 1) / plan.length);
  plan.batch = fitting_batch(blocks, kMostBlocks);
  const auto per_epoch = std::max<std::int64_t>(1, blocks / plan.batch);
  const double steps = (size.gpu ? kGpuWork : kCpuWork) /
                       (work_of_token(plan) * static_cast<double>(plan.batch * plan.length));
  if (steps < static_cast<double>(per_epoch)) {
    plan.steps = rounded_steps(std::max(1.0, steps));
    return plan;
  }
  const auto fewest = (kFewestSteps + per_epoch - 1) / per_epoch;
  const auto most = std::max(fewest, kMostEpochs);
  const auto epochs =
      std::floor(std::min(static_cast<double>(most), steps / static_cast<double>(per_epoch)));
  plan.epochs = static_cast<std::int64_t>(epochs);
  return plan;
}

std::string language_lines(const LanguageSize& size, const std::string& data) {
  const auto plan = plan_language(size);
  return model_line(plan) + "\ndata:\n" + data + vocabulary_line(size, plan) +
         fmt::format(
             "  blocks: {{layout: shuffled, length: {}}}     # tokens that the model reads "
             "at once\n\n",
             plan.length) +
         training_line(size, plan) +
         "loss: cross_entropy\n"
         "metrics: [perplexity, bits_per_byte, next_token_accuracy]\n"
         "optimizer: {type: adamw, lr: " +
         plan.rate + ", betas: [0.9, 0.95], weight_decay: 0.1, no_decay: [norm, bias]}\n" +
         last_lines(size, plan);
}

}  // namespace ddptrain
