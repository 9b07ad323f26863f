// Models that continue a text against transformers: layouts, outputs, gradients, greedy texts and
// whole small trainings.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <functional>
#include <map>
#include <set>

#include "checkpoint/published_names.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/weights.h"
#include "config/shape.h"
#include "models/model.h"
#include "models/stored_state.h"
#include "optim/clip.h"
#include "optim/groups.h"
#include "optim/optimizer.h"
#include "support/adafactor.h"
#include "support/golden.h"
#include "support/node.h"
#include "support/temporary_folder.h"

namespace ddptrain::golden {
namespace {

using nlohmann::json;
using Tokens = std::vector<std::int64_t>;

/// config.json as a recipe: the options of the same names. What is null there is auto here.
json recipe_of(const json& config) {
  json recipe{{"type", config.at("model_type")}};
  for (const auto& option :
       catalog<Model>().find(config.at("model_type").get<std::string>())->shape().children)
    if (config.contains(option.key) && !config[option.key].is_null())
      recipe[option.key] = config[option.key];
  return recipe;
}

std::unique_ptr<Model> language_model(const json& config) {
  ModelContext context;
  context.data.cardinalities = {config.at("vocab_size")};
  context.generator = at::detail::getDefaultCPUGenerator();
  return catalog<Model>().build(fragment<Model>(recipe_of(config)), context);
}

/// Entry j of the state is u(i, j + 1000 * seed), scaled; one with two names has that of the first.
void fill(const Model& model, std::uint64_t seed) {
  const at::NoGradGuard no_grad;
  std::set<const void*> seen;
  std::uint64_t j = 0;
  for (const auto& [name, tensor] : model.state()) {
    const auto k = j++ + 1000 * seed;
    if (!seen.insert(tensor.unsafeGetTensorImpl()).second) continue;
    const auto fan = tensor.numel() / tensor.size(0);
    const auto weights = formula_weights(name, static_cast<std::size_t>(tensor.dim()), fan, k);
    auto* values = tensor.mutable_data_ptr<float>();
    for (std::int64_t i = 0, end = tensor.numel(); i < end; ++i)
      values[i] = static_cast<float>(weights(i));
  }
}

std::unique_ptr<Model> filled_model(const Case& c, at::ScalarType type = at::kDouble) {
  auto model = language_model(c.input.at("config"));
  fill(*model, c.input.at("seed"));
  model->to(at::kCPU, type);
  return model;
}

at::Tensor token_rows(const json& rows) {
  Tokens all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return at::tensor(all).view({static_cast<std::int64_t>(rows.size()), -1});
}

std::vector<double> doubles_of(const at::Tensor& tensor) {
  const auto values = tensor.detach().to(at::kDouble).contiguous();
  const auto* data = values.const_data_ptr<double>();
  return {data, data + values.numel()};
}

double largest_of(const std::vector<double>& values) {
  double most = 0;
  for (const auto value : values) most = std::max(most, std::abs(value));
  return most;
}

/// {shape, values} or {shape, every, values}; `near` of the largest value.
void expect_values(const at::Tensor& actual, const json& expected, double relative,
                   double absolute = 1e-12) {
  const auto values = numbers(expected.at("values"));
  const auto every = expected.value("every", std::int64_t{1});
  const auto some = actual.flatten().slice(0, 0, std::nullopt, every);
  expect_close(doubles_of(some), values, 0, relative * largest_of(values) + absolute, "values");
}

/// {norm, sum, at, values}.
void expect_summary(const at::Tensor& actual, const json& expected, double relative,
                    const std::string& name) {
  const auto values = doubles_of(actual);
  double squares = 0, sum = 0;
  for (const auto value : values) squares += value * value, sum += value;
  const double norm = expected.at("norm");
  const double size = std::sqrt(static_cast<double>(values.size()));
  EXPECT_NEAR(std::sqrt(squares), norm, relative * norm + 1e-12) << name;
  EXPECT_NEAR(sum, expected.at("sum"), relative * norm * size + 1e-12) << name;
  std::vector<double> some;
  for (const std::size_t place : expected.at("at")) some.push_back(values.at(place));
  expect_close(some, numbers(expected.at("values")), 0, relative * norm + 1e-12, name);
}

GOLDEN(language_models, layout) {
  const auto model = language_model(c.input.at("config"));
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
  const auto model = language_model(c.input.at("config"));
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

/// Logits [rows, time, vocabulary]. Tokens that a mask leaves out are behind the others of a row,
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
  expect_values(unmasked(logits, c.input), c.expect.at("logits"), 1e-12);
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
  expect_values(unmasked(rounded, c.input), peer.at("logits"), 1e-5,
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
  expect_values(logits, c.expect.at("logits"), 1e-12);
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
  std::vector<Tokens> tokens;
  std::vector<double> log_probabilities;  // of the first prompt's tokens
  at::Tensor last_logits;
};

Continuation continuation_of(const std::vector<Tokens>& tokens) {
  Continuation next;
  Tokens all;
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
at::Tensor penalized(const at::Tensor& logits, const Tokens& before, double penalty) {
  auto scores = logits.clone();
  for (const auto token : std::set<std::int64_t>(before.begin(), before.end())) {
    const double score = scores[token].item<double>();
    scores[token].fill_(score < 0 ? score * penalty : score / penalty);
  }
  return scores;
}

Written write_greedily(Model& model, const std::vector<Tokens>& prompts, std::int64_t tokens,
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
      next[own] = ends.contains(token) ? Tokens{} : Tokens{token};
      if (own > 0) continue;
      written.log_probabilities.push_back(row.log_softmax(0)[token].item<double>());
      written.last_logits = row;
    }
  }
  return written;
}

GOLDEN(language_models, generate) {
  const auto model = filled_model(c);
  const auto written = write_greedily(*model, {c.input.at("prompt").get<Tokens>()},
                                      c.input.at("tokens"), c.input.at("repetition_penalty"));
  EXPECT_EQ(written.tokens[0], c.expect.at("tokens").get<Tokens>());
  const auto expected = numbers(c.expect.at("log_probabilities"));
  expect_close(written.log_probabilities, expected, 0, 1e-10 * largest_of(expected) + 1e-12,
               "log probabilities");
  const auto last = numbers(c.expect.at("last_logits"));
  expect_close(doubles_of(written.last_logits), last, 0, 1e-10 * largest_of(last) + 1e-12,
               "last logits");
}

GOLDEN(language_models, generate_batch) {
  const auto model = filled_model(c);
  const auto written = write_greedily(*model, c.input.at("prompts").get<std::vector<Tokens>>(),
                                      c.input.at("tokens"));
  EXPECT_EQ(json(written.tokens), c.expect.at("tokens"));
}

GOLDEN(language_models, generate_stop) {
  const auto model = filled_model(c);
  const auto written =
      write_greedily(*model, {c.input.at("prompt").get<Tokens>()}, c.input.at("tokens"), 1,
                     c.input.at("eos_token_id").get<std::set<std::int64_t>>());
  EXPECT_EQ(written.tokens[0], c.expect.at("tokens").get<Tokens>());
}

/// The Trainer's rule is what `no_decay: [norm, bias]` says.
GOLDEN(language_models, decay_groups) {
  const auto model = language_model(c.input.at("config"));
  std::map<std::string, std::set<std::string>> groups;
  for (const auto& group : group_parameters(*model, {"norm", "bias"}))
    for (const auto& [name, tensor] : group.parameters) groups[group.name].insert(name);
  EXPECT_EQ(groups["decay"], c.expect.at("decay").get<std::set<std::string>>());
  EXPECT_EQ(groups["no_decay"], c.expect.at("no_decay").get<std::set<std::string>>());
}

/// Token i of a batch = floor((u(i, 900 + seed) + 1) / 2 * vocabulary).
at::Tensor token_batch(const json& sizes, std::uint64_t seed, std::int64_t vocabulary) {
  const auto tokens = at::empty(sizes.get<Tokens>(), at::kLong);
  auto* to = tokens.mutable_data_ptr<std::int64_t>();
  for (std::int64_t i = 0; i < tokens.numel(); ++i)
    to[i] = static_cast<std::int64_t>((formula(static_cast<std::uint64_t>(i), 900 + seed) + 1) / 2 *
                                      static_cast<double>(vocabulary));
  return tokens;
}

json optimizer_recipe(const json& input) {
  const std::string named = input.at("optimizer");
  if (named == "adafactor") return adafactor_of_transformers(input.at("options"));
  json recipe = input.at("options");
  recipe["type"] = named == "adafactor_torch" ? "adafactor" : named;
  return recipe;
}

/// An optimizer that has no rate but that of its own steps.
bool has_own_rate(const json& input) {
  return input.at("optimizer") == "adafactor" && input.at("options").value("relative_step", true);
}

struct GoldenTraining {
  std::unique_ptr<Model> model;
  json input;

  at::Tensor loss(std::size_t step) const {
    const auto tokens = token_batch(input.at("batch"), input.at("token_seeds").at(step),
                                    input.at("config").at("vocab_size"));
    const auto logits = project(model->run({tokens}, Pass{.training = true}), model->projection());
    const auto time = logits.size(1);
    return at::cross_entropy_loss(logits.narrow(1, 0, time - 1).flatten(0, 1),
                                  tokens.narrow(1, 1, time - 1).flatten());
  }

  std::vector<at::Tensor> gradients() const {
    std::vector<at::Tensor> all;
    for (const auto& [name, tensor] : model->named_parameters()) all.push_back(tensor.grad());
    return all;
  }
};

/// torch's Adafactor, whose eps is 2e-16, makes whole steps of gradients of 1e-17: those of the
/// keys' biases, which are 0 but for rounding. The peer's numbers follow from its rounding: its two
/// ways to compute attention are 4e-7 apart in losses and 2e-6 in norms. With gradients of 0 both
/// are the same to 1e-15, and 8e-7 from the numbers of the case. With a larger eps rounding has no
/// part (adafactor.json).
bool steps_by_rounding(const json& input) {
  return input.at("optimizer") == "adafactor_torch" && !input.at("options").contains("eps1");
}

void clear_gradients_of_key_biases(const Model& model) {
  for (const auto& [name, tensor] : model.named_parameters()) {
    if (!name.ends_with("attn.c_attn.bias")) continue;
    const auto width = tensor.numel() / 3;
    tensor.grad().narrow(0, width, width).zero_();
  }
}

/// Null where the case clips nothing.
std::unique_ptr<Clip> clip_of(const json& input) {
  if (input.at("clip_norm").is_null()) return nullptr;
  return catalog<Clip>().build(fragment<Clip>({{"type", "norm"}, {"max", input.at("clip_norm")}}));
}

void expect_training(const Case& c) {
  const bool rounds = steps_by_rounding(c.input);
  const double near = rounds ? 1e-6 : 1e-7;
  const GoldenTraining training{filled_model(c), c.input};
  const auto groups = group_parameters(*training.model, {"norm", "bias"});
  const auto optimizer =
      catalog<Optimizer>().build(fragment<Optimizer>(optimizer_recipe(c.input)), groups);
  const auto clip = clip_of(c.input);
  std::vector<double> losses, norms;
  for (std::size_t step = 0; step < c.input.at("steps"); ++step) {
    for (const auto& [name, tensor] : training.model->named_parameters())
      tensor.mutable_grad() = at::Tensor();
    const auto loss = training.loss(step);
    loss.backward();
    losses.push_back(loss.item<double>());
    norms.push_back(gradient_norm(training.gradients()).item<double>());
    if (rounds) clear_gradients_of_key_biases(*training.model);
    if (clip) (*clip)(training.gradients(), 1);
    optimizer->step(
        {.lr = has_own_rate(c.input) ? 1 : c.expect.at("rates").at(step).get<double>()});
  }
  expect_close(losses, numbers(c.expect.at("losses")), near, 0, "losses");
  expect_close(norms, numbers(c.expect.at("gradient_norms")), near, 0, "gradient norms");
  for (const auto& [name, tensor] : training.model->named_parameters())
    if (c.expect.at("parameters").contains(name))
      expect_summary(tensor, c.expect.at("parameters").at(name), near, name);
}

GOLDEN(language_models, training_run) { expect_training(c); }
GOLDEN(adafactor, training_run) { expect_training(c); }

/// The files that transformers would write: each tensor in the one that the index names. `rename`
/// gives the name in the file.
std::string write_shards(const TemporaryFolder& folder, const Case& c, const Model& model,
                         const std::function<std::string(const std::string&)>& rename) {
  auto index = c.expect.at("index");
  std::map<std::string, std::vector<NamedTensor>> files;
  json renamed = json::object();
  for (const auto& [name, tensor] : model.named_parameters()) {
    const std::string file = index.at("weight_map").at(name);
    files[file].push_back({rename(name), tensor.detach()});
    renamed[rename(name)] = file;
  }
  index["weight_map"] = renamed;
  for (const auto& [file, tensors] : files) write_safetensors(folder / file, {tensors, {}});
  return folder.write("model.safetensors.index.json", index.dump());
}

void expect_the_shards(const Case& c, const std::string& path, const Model& expected) {
  const auto model = language_model(c.input.at("config"));
  auto tensors = read_weights(path);
  take_published_names(tensors, *model, "lm_head", "");
  join_aliases(tensors, model->state());
  EXPECT_EQ(misfit(take_weights(tensors, without_aliases(model->state()), {})), "");
  const auto state = model->state(), wanted = expected.state();
  ASSERT_EQ(state.size(), wanted.size());
  for (std::size_t i = 0; i < state.size(); ++i)
    EXPECT_TRUE(state[i].tensor.equal(wanted[i].tensor)) << state[i].name;
}

GOLDEN(language_models, shards) {
  const auto model = language_model(c.input.at("config"));
  fill(*model, c.input.at("seed"));
  const auto as_they_are = [](const std::string& name) { return name; };
  const auto published = [](const std::string& name) {
    return name.starts_with("transformer.") ? name.substr(12) : name;
  };
  for (const auto& names :
       {std::function<std::string(const std::string&)>(as_they_are), {published}}) {
    const TemporaryFolder folder;
    const auto index = write_shards(folder, c, *model, names);
    expect_the_shards(c, index, *model);
    expect_the_shards(c, folder / "", *model);
  }
}

}  // namespace
}  // namespace ddptrain::golden
