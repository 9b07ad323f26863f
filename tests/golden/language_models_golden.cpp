// Models that continue a text against transformers: layouts, outputs, gradients, greedy texts and
// whole small trainings.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <map>
#include <set>

#include "language_cases.h"

namespace ddptrain::golden {
namespace {

using nlohmann::json;

GOLDEN(language_models, layout) {
  const auto model = model_of_config(c.input.at("config"));
  json state = json::array();
  for (const auto& [name, tensor] : model->state())
    state.push_back({name, tensor.sizes().vec(), "f32"});
  EXPECT_EQ(state, c.expect.at("state"));
  std::int64_t parameters = 0;
  std::set<std::string> saved;
  for (const auto& [name, tensor] : model->named_parameters())
    parameters += tensor.numel(), saved.insert(name);
  EXPECT_EQ(parameters, c.expect.at("parameters"));
  EXPECT_EQ(model->named_parameters().size(), c.expect.at("parameter_tensors"));
  EXPECT_EQ(json(saved), c.expect.at("saved"));
  const bool tied = model->projection().weight.is_same(model->named_parameters().front().tensor);
  EXPECT_EQ(tied, !c.expect.at("tied").empty());
}

GOLDEN(language_models, count) {
  const auto model = model_of_config(c.input.at("config"));
  std::int64_t parameters = 0;
  std::size_t vectors = 0;
  const auto named = model->named_parameters();
  for (const auto& [name, tensor] : named) {
    parameters += tensor.numel();
    vectors += tensor.dim() == 1 ? 1 : 0;
  }
  EXPECT_EQ(parameters, c.expect.at("parameters"));
  EXPECT_EQ(named.size(), c.expect.at("parameter_tensors"));
  EXPECT_EQ(vectors, c.expect.at("vectors"));
  EXPECT_EQ(named.front().tensor.numel(), c.expect.at("embedding"));
}

/// Logits [rows, time, vocabulary]. TokenIds that a mask leaves out are behind the others of a row,
/// or positions begin again where they end.
at::Tensor logits_of(Model& model, const json& input) {
  const auto tokens = token_rows(input.at("tokens"));
  std::vector<at::Tensor> all{tokens};
  if (input.contains("position_ids")) all.push_back(token_rows(input.at("position_ids")));
  return project(model.run(all, Pass{}), model.projection());
}

/// The mean over tokens whose label is not -100 of the cross-entropy of the place before.
at::Tensor loss_of(const at::Tensor& logits, const json& labels) {
  const auto time = logits.size(1);
  return at::cross_entropy_loss(logits.narrow(1, 0, time - 1).flatten(0, 1),
                                token_rows(labels).narrow(1, 1, time - 1).flatten());
}

void expect_all_gradients(const Model& model, const json& expected, double relative) {
  std::size_t found = 0;
  for (const auto& [name, tensor] : model.named_parameters()) {
    ASSERT_TRUE(expected.contains(name)) << name;
    ASSERT_TRUE(tensor.grad().defined()) << name;
    expect_summary(tensor.grad(), expected.at(name), relative, name);
    ++found;
  }
  EXPECT_EQ(found, expected.size());
}

double all_gradients_norm(const Model& model) {
  double squares = 0;
  for (const auto& [name, tensor] : model.named_parameters())
    squares += tensor.grad().square().sum().item<double>();
  return std::sqrt(squares);
}

/// Logits of the tokens whose mask is 1, rows joined.
at::Tensor unmasked(const at::Tensor& logits, const json& input) {
  if (!input.contains("attention_mask")) return logits.flatten(0, 1);
  return logits.flatten(0, 1).index(
      {token_rows(input.at("attention_mask")).flatten().to(at::kBool)});
}

/// Whether a token that counts is behind one that a mask leaves out. The peer predicts it from what
/// sees no token at all, not even itself; here there is no such token.
bool learns_from_padding(const json& input) {
  if (!input.contains("attention_mask")) return false;
  const auto& masks = input.at("attention_mask");
  for (std::size_t row = 0; row < masks.size(); ++row)
    for (std::size_t t = 1; t < masks[row].size(); ++t)
      if (masks[row][t - 1] == 0 && input.at("labels")[row][t] != -100) return true;
  return false;
}

void expect_forward(const Case& c) {
  const auto model = filled_model(c);
  const auto logits = logits_of(*model, c.input);
  expect_sampled(unmasked(logits, c.input), c.expect.at("logits"), 1e-12);
  if (learns_from_padding(c.input)) return;
  const auto loss = loss_of(logits, c.input.at("labels"));
  const double expected = c.expect.at("loss");
  EXPECT_NEAR(loss.item<double>(), expected, 1e-12 * expected);
  loss.backward();
  expect_all_gradients(*model, c.expect.at("gradients"), 1e-12);
  const double norm = c.expect.at("gradient_norm");
  EXPECT_NEAR(all_gradients_norm(*model), norm, 1e-12 * norm);

  const auto single = filled_model(c, at::kFloat);
  const auto& peer = c.expect.at("float32");
  const auto rounded = logits_of(*single, c.input);
  expect_sampled(unmasked(rounded, c.input), peer.at("logits"), 1e-5,
                 10 * peer.at("logits_difference").get<double>());
  const auto rounded_loss = loss_of(rounded, c.input.at("labels"));
  EXPECT_NEAR(rounded_loss.item<double>(), peer.at("loss"), 1e-5 * expected);
  rounded_loss.backward();
  EXPECT_NEAR(all_gradients_norm(*single), norm,
              (10 * peer.at("gradient_difference").get<double>() + 1e-5) * norm);
}

GOLDEN(language_models, forward) { expect_forward(c); }
/// The padded case whose loss has only predictions that see a token (learns_from_padding).
GOLDEN(left_padding, forward) { expect_forward(c); }

GOLDEN(language_models, packed) {
  const auto model = filled_model(c);
  const auto logits = logits_of(*model, c.input);
  expect_sampled(logits, c.expect.at("logits"), 1e-12);
  std::int64_t first = 0;
  std::size_t number = 0;
  for (const auto& document : c.input.at("documents")) {
    const auto count = static_cast<std::int64_t>(document.size());
    const auto& expected = c.expect.at("document_losses").at(number++);
    if (!expected.is_null()) {
      const auto loss = loss_of(logits.narrow(1, first, count), json::array({document}));
      EXPECT_NEAR(loss.item<double>(), expected, 1e-12 * expected.get<double>()) << number;
    }
    first += count;
  }
  const auto loss = loss_of(logits, c.input.at("labels"));
  const double expected = c.expect.at("loss");
  EXPECT_NEAR(loss.item<double>(), expected, 1e-12 * expected);
  loss.backward();
  expect_all_gradients(*model, c.expect.at("gradients"), 1e-12);
}

/// Greedy texts of several prompts at once: what a server would do with the model's memory.
struct Written {
  std::vector<TokenIds> tokens;
  std::vector<double> log_probabilities;  // of the first prompt's tokens
  at::Tensor last_logits;
};

Continuation continuation_of(const std::vector<TokenIds>& tokens) {
  Continuation next;
  TokenIds all;
  for (std::size_t i = 0; i < tokens.size(); ++i) {
    if (tokens[i].empty()) continue;
    all.insert(all.end(), tokens[i].begin(), tokens[i].end());
    next.sequences.push_back(static_cast<std::int64_t>(i));
    next.counts.push_back(static_cast<std::int64_t>(tokens[i].size()));
  }
  next.tokens = at::tensor(all, at::kLong);
  return next;
}

/// Keskar et al. 2019: scores of tokens that were there are divided by the penalty, or multiplied
/// where they are negative.
at::Tensor penalized(const at::Tensor& logits, const TokenIds& before, double penalty) {
  auto scores = logits.clone();
  for (const auto token : std::set<std::int64_t>(before.begin(), before.end())) {
    const double score = scores[token].item<double>();
    scores[token].fill_(score < 0 ? score * penalty : score / penalty);
  }
  return scores;
}

Written write_greedily(Model& model, const std::vector<TokenIds>& prompts, std::int64_t tokens,
                       double penalty = 1, const std::set<std::int64_t>& ends = {}) {
  const at::NoGradGuard no_grad;
  const auto memory = model.make_memory();
  std::size_t longest = 0;
  for (const auto& prompt : prompts) longest = std::max(longest, prompt.size());
  memory->begin(std::ssize(prompts), static_cast<std::int64_t>(longest) + tokens);
  Written written;
  written.tokens.resize(prompts.size());
  auto next = prompts;
  auto before = prompts;
  for (std::int64_t step = 0; step < tokens; ++step) {
    const auto continuation = continuation_of(next);
    if (continuation.sequences.empty()) break;
    const auto logits = project(model.extend(continuation, *memory), model.projection());
    for (std::size_t i = 0; i < continuation.sequences.size(); ++i) {
      const auto own = static_cast<std::size_t>(continuation.sequences[i]);
      const auto row = logits[static_cast<std::int64_t>(i)];
      const auto token = penalized(row, before[own], penalty).argmax().item<std::int64_t>();
      written.tokens[own].push_back(token);
      before[own].push_back(token);
      next[own] = ends.contains(token) ? TokenIds{} : TokenIds{token};
      if (own > 0) continue;
      written.log_probabilities.push_back(row.log_softmax(0)[token].item<double>());
      written.last_logits = row;
    }
  }
  return written;
}

GOLDEN(language_models, generate) {
  const auto model = filled_model(c);
  const auto written = write_greedily(*model, {c.input.at("prompt").get<TokenIds>()},
                                      c.input.at("tokens"), c.input.at("repetition_penalty"));
  EXPECT_EQ(written.tokens[0], c.expect.at("tokens").get<TokenIds>());
  const auto expected = numbers(c.expect.at("log_probabilities"));
  expect_close(written.log_probabilities, expected, 0, 1e-10 * largest_of(expected) + 1e-12,
               "log probabilities");
  const auto last = numbers(c.expect.at("last_logits"));
  expect_close(doubles_of(written.last_logits), last, 0, 1e-10 * largest_of(last) + 1e-12,
               "last logits");
}

GOLDEN(language_models, generate_batch) {
  const auto model = filled_model(c);
  const auto written = write_greedily(*model, c.input.at("prompts").get<std::vector<TokenIds>>(),
                                      c.input.at("tokens"));
  EXPECT_EQ(json(written.tokens), c.expect.at("tokens"));
}

GOLDEN(language_models, generate_stop) {
  const auto model = filled_model(c);
  const auto written =
      write_greedily(*model, {c.input.at("prompt").get<TokenIds>()}, c.input.at("tokens"), 1,
                     c.input.at("eos_token_id").get<std::set<std::int64_t>>());
  EXPECT_EQ(written.tokens[0], c.expect.at("tokens").get<TokenIds>());
}

}  // namespace
}  // namespace ddptrain::golden
