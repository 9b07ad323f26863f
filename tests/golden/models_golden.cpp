// Layouts and outputs of torchvision's and fastai's networks.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/empty.h>
#include <ATen/ops/tensor.h>
#include <gtest/gtest.h>

#include <map>
#include <set>

#include "config/shape.h"
#include "models/carried.h"
#include "models/layer_groups.h"
#include "models/model.h"
#include "support/golden.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using golden::Case;
using nlohmann::json;
using Sizes = std::vector<std::int64_t>;

// fastai's head leaves a dropout of 0 out, which would renumber its layers; this one drops nothing.
constexpr double hardly = 1e-300;

// Whatever else the case holds is an option of the model.
const std::set<std::string> not_options = {"kind",  "library", "model", "classes",
                                           "input", "target",  "size"};

// The peers' outputs in training are those without dropout and stochastic depth.
void drop_nothing(json& recipe) {
  const auto* entry = catalog<Model>().find(recipe.at("type").get<std::string>());
  ASSERT_NE(entry, nullptr) << recipe;
  const auto options = entry->shape();
  for (const auto& option : options.children)
    if (option.key == "dropout" || option.key == "stochastic_depth_prob")
      recipe[option.key] = 0;
    else if (option.key == "ps")
      recipe[option.key] = hardly;
}

/// The table of a case: fastai is given its sizes, a recipe takes them from the data.
std::unique_ptr<Model> make_tabular(const json& input) {
  json recipe = {{"type", input.at("model")}};
  if (input.contains("out")) recipe["num_classes"] = input["out"];
  ModelContext context;
  for (const auto& pair : input.at("embeddings")) {
    context.data.cardinalities.push_back(pair[0]);
    recipe["embedding_sizes"].push_back(pair[1]);
  }
  context.data.sample = {input.value("continuous", 0)};
  if (input.at("kind") == "layout" && input.contains("ps")) recipe["ps"] = input["ps"];
  for (const char* key : {"layers", "y_range", "lin_first", "bn_final", "bn_cont", "use_bn"})
    if (input.contains(key)) recipe[key] = input[key];
  return catalog<Model>().build(fragment<Model>(recipe), context);
}

std::unique_ptr<Model> make_dot_bias(const json& input) {
  json recipe = {{"type", "embedding_dot_bias"}, {"n_factors", input.at("factors")}};
  if (input.contains("y_range")) recipe["y_range"] = input["y_range"];
  ModelContext context;
  context.data.cardinalities = {input.at("users"), input.at("items")};
  context.data.sample = {0};
  return catalog<Model>().build(fragment<Model>(recipe), context);
}

bool is_of_tables(const json& model) {
  return model == "tabular" || model == "collab_nn" || model == "embedding_dot_bias";
}

/// fastai's names of what a recipe says: the data has the vocabulary.
std::unique_ptr<Model> make_text_classifier(const json& input) {
  json recipe = {{"type", "awd_lstm"}, {"num_classes", input.at("classes")}, {"padding", "fastai"}};
  for (const char* key : {"emb_sz", "n_hid", "n_layers", "bidir", "bptt", "max_len"})
    if (input.contains(key)) recipe[key] = input[key];
  ModelContext context;
  context.data.cardinalities = {input.at("vocab")};
  context.data.padding = 1;
  return catalog<Model>().build(fragment<Model>(recipe), context);
}

std::unique_ptr<Model> make_language_model(const json& input) {
  json recipe = {{"type", "awd_lstm_lm"}};
  for (const char* key : {"emb_sz", "n_hid", "n_layers"})
    if (input.contains(key)) recipe[key] = input[key];
  ModelContext context;
  context.data.cardinalities = {input.at("vocab")};
  context.data.padding = 1;
  context.data.tokens.emplace().streams = true;
  return catalog<Model>().build(fragment<Model>(recipe), context);
}

std::unique_ptr<Model> make_model(const Case& c) {
  if (c.input.at("model") == "embedding_dot_bias") return make_dot_bias(c.input);
  if (is_of_tables(c.input.at("model"))) return make_tabular(c.input);
  if (c.input.at("model") == "text_classifier") return make_text_classifier(c.input);
  if (c.input.at("model") == "language_model") return make_language_model(c.input);
  json recipe = {{"type", c.input.at("model")}, {"num_classes", c.input.at("classes")}};
  drop_nothing(recipe);
  for (const auto& [key, value] : c.input.items())
    if (!not_options.contains(key)) recipe[key] = value;
  return catalog<Model>().build(fragment<Model>(recipe), ModelContext{});
}

std::string type_name(const at::Tensor& tensor) {
  return tensor.scalar_type() == at::kFloat ? "f32" : "i64";
}

void expect_layout(const Case& c) {
  const auto model = make_model(c);
  json state = json::array();
  for (const auto& [name, tensor] : model->state())
    state.push_back({name, tensor.sizes().vec(), type_name(tensor)});
  ASSERT_EQ(state.size(), c.expect.at("state").size());
  for (std::size_t i = 0; i < state.size(); ++i) EXPECT_EQ(state[i], c.expect.at("state")[i]);
  std::int64_t parameters = 0;
  for (const auto& [name, tensor] : model->named_parameters()) parameters += tensor.numel();
  EXPECT_EQ(parameters, c.expect.at("parameters"));
  EXPECT_EQ(model->named_parameters().size(), c.expect.at("parameter_tensors"));
  if (!c.expect.contains("groups")) return;
  EXPECT_EQ(json(layer_groups(*model)), c.expect["groups"]);
}

GOLDEN(models, layout) { expect_layout(c); }
GOLDEN(segmentation, layout) { expect_layout(c); }

at::Tensor formula_tensor(const Sizes& shape, std::uint64_t k) {
  const auto tensor = at::empty(shape);
  auto* values = tensor.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < tensor.numel(); ++i)
    values[i] = static_cast<float>(golden::formula(static_cast<std::uint64_t>(i), k));
  return tensor;
}

// A tensor with two names keeps what it has by the first.
void fill_with_formula(const Module& model) {
  const at::NoGradGuard no_grad;
  std::set<const void*> seen;
  std::uint64_t k = 0;
  for (const auto& [name, tensor] : model.state()) {
    if (tensor.scalar_type() == at::kFloat && seen.insert(tensor.unsafeGetTensorImpl()).second) {
      const auto fan = tensor.dim() > 0 && tensor.numel() > 0 ? tensor.numel() / tensor.size(0) : 1;
      const auto weights =
          golden::formula_weights(name, static_cast<std::size_t>(tensor.dim()), fan, k);
      auto* values = tensor.mutable_data_ptr<float>();
      for (std::int64_t i = 0, end = tensor.numel(); i < end; ++i)
        values[i] = static_cast<float>(weights(i));
    }
    ++k;
  }
}

std::vector<double> values_of(const at::Tensor& tensor) {
  const auto flat = tensor.detach().to(at::kDouble).contiguous();
  const auto* data = flat.const_data_ptr<double>();
  return {data, data + flat.numel()};
}

double norm_of(const at::Tensor& tensor) {
  return tensor.defined() ? tensor.norm().item<double>() : 0;
}

double largest(const std::vector<double>& values) {
  double most = 0;
  for (const auto value : values) most = std::max(most, std::abs(value));
  return most;
}

// Both runs are in double: far nearer than the tolerance for single precision.
void expect_output(const at::Tensor& output, const json& expected, const std::string& what) {
  const auto values = golden::numbers(expected.at("values"));
  golden::expect_close(values_of(output), values, 0, 1e-8 * largest(values) + 1e-10, what);
}

// [N, C, H, W]: mean and deviation of each map, and some of its elements. They are rounded to eight
// digits.
void expect_map(const at::Tensor& output, const json& expected) {
  ASSERT_EQ(json(output.sizes().vec()), expected.at("shape"));
  const auto maps = output.flatten(2);
  const auto each = output.flatten().slice(0, 0, std::nullopt, 97);
  const auto some = golden::numbers(expected.at("every_97th"));
  const double near = 1e-6 * largest(some);
  golden::expect_close(values_of(maps.mean(2)), golden::numbers(expected.at("mean")), 0, near,
                       "means");
  golden::expect_close(values_of(maps.std(2)), golden::numbers(expected.at("std")), 0, near,
                       "deviations");
  golden::expect_close(values_of(each), some, 0, near, "every 97th");
}

void expect_running_sums(const Module& model, const json& sums) {
  for (const auto& [name, tensor] : model.named_buffers()) {
    if (!sums.contains(name)) continue;
    const double expected = sums.at(name);
    EXPECT_NEAR(tensor.sum().item<double>(), expected, 1e-9 * std::abs(expected) + 1e-9) << name;
  }
}

void expect_gradients(const Module& model, const json& norms) {
  for (const auto& [name, tensor] : model.named_parameters())
    EXPECT_NEAR(norm_of(tensor.grad()), norms.at(name), 1e-6 * norms.at(name).get<double>() + 1e-6)
        << name;
}

at::Tensor tokens_of(const json& rows) {
  Sizes all;
  for (const auto& row : rows) all.insert(all.end(), row.begin(), row.end());
  return at::tensor(all).view({static_cast<std::int64_t>(rows.size()), -1});
}

std::vector<at::Tensor> inputs_of(const Case& c) {
  if (c.input.contains("tokens")) return {tokens_of(c.input.at("tokens"))};
  if (!is_of_tables(c.input.at("model")))
    return {formula_tensor(c.input.at("input").get<Sizes>(), 777).to(at::kDouble)};
  const std::int64_t rows = c.input.at("rows"), numbers = c.input.value("continuous", 0);
  const auto columns = static_cast<std::int64_t>(c.input.at("categories").at(0).size());
  const auto codes = at::tensor(golden::numbers(c.input.at("categories")), at::kDouble);
  return {codes.to(at::kLong).view({rows, columns}),
          formula_tensor({rows, numbers}, 777).to(at::kDouble)};
}

/// States of all rows.
class CarriedStates final : public Carried {
 public:
  at::Tensor get(const std::string& name) const override {
    const auto found = states_.find(name);
    return found == states_.end() ? at::Tensor() : found->second;
  }
  void set(const std::string& name, at::Tensor rows) override { states_[name] = rows; }

 private:
  std::map<std::string, at::Tensor> states_;
};

/// Two batches, the second of which continues the first.
void expect_language_model(Model& model, const Case& c) {
  const at::NoGradGuard no_grad;
  CarriedStates carried;
  const Pass pass{.carried = &carried};
  const auto scores = [&](const char* tokens) {
    return project(model.run({tokens_of(c.input.at(tokens))}, pass), model.projection());
  };
  expect_output(scores("tokens"), c.expect.at("eval"), "eval");
  expect_output(scores("next_tokens"), c.expect.at("eval_next"), "eval_next");
}

GOLDEN(models, forward) {
  const auto model = make_model(c);
  fill_with_formula(*model);
  model->to(at::kCPU, at::kDouble);
  if (model->projection()) return expect_language_model(*model, c);
  const auto inputs = inputs_of(c);
  Pass pass;
  {
    const at::NoGradGuard no_grad;
    const auto output = model->run(inputs, pass);
    if (c.expect.contains("eval_map")) return expect_map(output, c.expect.at("eval_map"));
    EXPECT_EQ(json(output.sizes().vec()), c.expect.at("eval").at("shape"));
    expect_output(output, c.expect.at("eval"), "eval");
  }
  if (!c.expect.contains("train")) return;
  pass.training = true;
  const auto output = model->run(inputs, pass);
  expect_output(output, c.expect.at("train"), "train");
  expect_running_sums(*model, c.expect.at("train").value("running_sums", json::object()));
  if (!c.expect.contains("loss")) return;
  const auto target = at::tensor(c.input.at("target").get<Sizes>());
  const auto loss = at::cross_entropy_loss(output, target);
  EXPECT_NEAR(loss.item<double>(), c.expect.at("loss"), 1e-9);
  loss.backward();
  expect_gradients(*model, c.expect.at("grad_norms"));
}

/// torchvision's models that classify pixels, which have an auxiliary output in addition to their
/// own.
GOLDEN(segmentation, forward) {
  const auto model = make_model(c);
  fill_with_formula(*model);
  model->to(at::kCPU, at::kDouble);
  const at::NoGradGuard no_grad;
  AuxiliaryOutputs auxiliary;
  const auto output = model->run(inputs_of(c), {.auxiliary = &auxiliary});
  expect_map(output, c.expect.at("eval_map"));
  ASSERT_EQ(auxiliary.all().size(), 1U);
  EXPECT_EQ(auxiliary.all().front().weight, c.input.at("aux_loss"));
  expect_map(auxiliary.all().front().output, c.expect.at("aux_map"));
}

}  // namespace
}  // namespace ddptrain
