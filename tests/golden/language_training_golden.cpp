// Language models as peers train and store them.
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>

#include <functional>
#include <map>

#include "checkpoint/published_names.h"
#include "checkpoint/safetensors.h"
#include "checkpoint/weights.h"
#include "language_cases.h"
#include "models/stored_state.h"
#include "optim/clip.h"
#include "optim/groups.h"
#include "optim/optimizer.h"
#include "support/adafactor.h"
#include "support/temporary_folder.h"

namespace ddptrain::golden {
namespace {

using nlohmann::json;

/// The Trainer's rule is what `no_decay: [norm, bias]` says.
GOLDEN(language_models, decay_groups) {
  const auto model = model_of_config(c.input.at("config"));
  std::map<std::string, std::set<std::string>> groups;
  for (const auto& group : group_parameters(*model, {"norm", "bias"}))
    for (const auto& [name, tensor] : group.parameters) groups[group.name].insert(name);
  EXPECT_EQ(groups["decay"], c.expect.at("decay").get<std::set<std::string>>());
  EXPECT_EQ(groups["no_decay"], c.expect.at("no_decay").get<std::set<std::string>>());
}

/// Token i of a batch = floor((u(i, 900 + seed) + 1) / 2 * vocabulary).
at::Tensor token_batch(const json& sizes, std::uint64_t seed, std::int64_t vocabulary) {
  const auto tokens = at::empty(sizes.get<TokenIds>(), at::kLong);
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
  const auto model = model_of_config(c.input.at("config"));
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
  const auto model = model_of_config(c.input.at("config"));
  fill_state(*model, c.input.at("seed"));
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
