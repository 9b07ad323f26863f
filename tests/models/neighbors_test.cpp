// In evaluation a sample's output is its own: every model of the catalog, a sample alone against
// the same sample among others.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand_like.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/randn.h>
#include <gtest/gtest.h>

#include <set>
#include <string>

#include "config/shape.h"
#include "models/texts.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using namespace test;

enum class Sees { images, texts, tables };

/// A model with the options that make it small, or that decide how rows are read.
struct Tried {
  json recipe;
  Sees sees = Sees::images;
  std::string name() const { return recipe.at("type"); }
};

const json kSmallAwdLstm = {{"type", "awd_lstm"}, {"emb_sz", 6},     {"n_hid", 8},
                            {"n_layers", 2},      {"lin_ftrs", {5}}, {"bptt", 4}};
const json kSmallTransformer = {{"type", "text_transformer"},
                                {"dim", 12},
                                {"num_layers", 2},
                                {"num_heads", 3},
                                {"mlp_dim", 16},
                                {"max_len", 12}};
const json kSmallBag = {{"type", "bag_of_embeddings"}, {"dim", 6}, {"buckets", 40}};

/// Where defaults and images of 3 x 64 x 64 do not fit, or an option says how rows are read.
std::vector<Tried> tried_specially() {
  return {
      {kSmallAwdLstm, Sees::texts},
      {with(kSmallAwdLstm, {{"max_len", 4}}), Sees::texts},
      {with(kSmallAwdLstm, {{"max_len", 9}}), Sees::texts},
      {with(kSmallAwdLstm, {{"max_len", nullptr}}), Sees::texts},
      {with(kSmallAwdLstm, {{"bidir", true}}), Sees::texts},
      {with(kSmallAwdLstm, {{"bidir", true}, {"max_len", 6}, {"bptt", 5}}), Sees::texts},
      {kSmallTransformer, Sees::texts},
      {with(kSmallTransformer, {{"pooling", "first"}}), Sees::texts},
      {with(kSmallTransformer, {{"positions", "sinusoidal"}}), Sees::texts},
      {kSmallBag, Sees::texts},
      {with(kSmallBag, {{"ngrams", 3}}), Sees::texts},
      {with(kSmallBag, {{"ngrams", 2}, {"pooling", "sum"}}), Sees::texts},
      {with(kSmallBag, {{"ngrams", 2}, {"pooling", "max"}}), Sees::texts},
      {{{"type", "tabular"}}, Sees::tables},
      {{{"type", "collab_nn"}}, Sees::tables},
      {{{"type", "embedding_dot_bias"}}, Sees::tables},
      {{{"type", "mlp"}, {"hidden", {16}}}},
      {{{"type", "sequential"},
        {"input", {3, 64, 64}},
        {"layers",
         {{{"type", "conv"}, {"out", 4}},
          "batch_norm",
          "relu",
          "adaptive_avg_pool",
          "flatten",
          {{"type", "linear"}, {"out", 3}}}}}},
      {{{"type", "torchscript"}, {"file", in_source("tests/golden/torchscript/images.pt")}}},
      {{{"type", "deeplabv3"}, {"body", "resnet18"}}},
      {{{"type", "fcn"}, {"body", "resnet18"}}},
      {{{"type", "unet"}, {"body", "resnet18"}, {"self_attention", true}, {"blur", true}}},
      {{{"type", "vision_learner"}, {"body", "resnet18"}}},
  };
}

bool has_option(const EntryBase& entry, std::string_view key) {
  const auto& options = entry.shape().children;
  return std::ranges::any_of(options, [&](const Shape& option) { return option.key == key; });
}

/// Pixels of an image's side: whole patches.
std::int64_t side_of(const std::string& model) {
  if (model == "mnist_net") return 28;
  return model.ends_with("_14") ? 56 : 64;
}

/// Networks that have only more or wider layers than another of their family, which is tried: the
/// large vision transformers have 300 million parameters.
bool is_larger(const std::string& name) {
  static const std::set<std::string> larger{"convnext_base",   "convnext_small",  "densenet169",
                                            "efficientnet_b2", "efficientnet_b3", "efficientnet_b4",
                                            "resnet101",       "resnet152",       "swin_b",
                                            "swin_s",          "wide_resnet50_2", "xresnet101"};
  return larger.contains(name) || name.find("_l_") != std::string::npos;
}

std::vector<Tried> all_models() {
  auto all = tried_specially();
  const auto is_there = [&](const std::string& name) {
    for (const auto& each : all)
      if (each.name() == name) return true;
    return false;
  };
  for (const auto& name : catalog<Model>().names()) {
    if (is_there(name) || is_larger(name)) continue;
    if (catalog<Model>().find(name)->has("continues_texts")) continue;  // tests/models/language
    Tried tried{{{"type", name}}};
    if (has_option(*catalog<Model>().find(name), "image_size"))
      tried.recipe["image_size"] = side_of(name);
    all.push_back(tried);
  }
  return all;
}

ModelContext neighbors_context(const Tried& tried) {
  auto context = text_context(3);
  if (tried.sees == Sees::texts) return context;
  context.data.padding = -1;
  context.data.cardinalities.clear();
  const auto side = side_of(tried.name());
  context.data.sample = {3, side, side};
  if (tried.sees == Sees::images) return context;
  context.data.cardinalities = {4, 5};
  context.data.sample = {tried.name() == "tabular" ? 3 : 0};
  if (tried.name() != "tabular") context.data.classes = {}, context.data.numbers = 1;
  return context;
}

/// The model in double, with statistics of batch norms that are not those of a new one.
std::unique_ptr<Model> model_of(const Tried& tried) {
  auto model = make_model(tried.recipe, neighbors_context(tried));
  model->to(at::kCPU, at::kDouble);
  for (const auto& [name, buffer] : model->named_buffers())
    if (buffer.is_floating_point()) buffer.copy_(at::rand_like(buffer).add(0.5));
  return model;
}

enum class Filled { behind, in_front, by_chunks };

/// Texts [rows, longest] of these lengths, short ones filled up by 1; a text's words follow from
/// its length alone. Chunks are of `chunk` tokens.
at::Tensor texts_of(const std::vector<std::int64_t>& lengths, Filled filled, std::int64_t chunk) {
  const auto longest = *std::max_element(lengths.begin(), lengths.end());
  auto rows = at::full({static_cast<std::int64_t>(lengths.size()), longest}, 1, at::kLong);
  for (std::size_t row = 0; row < lengths.size(); ++row) {
    const auto rest = longest - lengths[row];
    const auto front = filled == Filled::behind     ? 0
                       : filled == Filled::in_front ? rest
                                                    : rest / chunk * chunk;
    const auto words = at::randint(2, 30, {lengths[row]},
                                   seeded(static_cast<std::uint64_t>(lengths[row])), at::kLong);
    rows[static_cast<std::int64_t>(row)].narrow(0, front, lengths[row]).copy_(words);
  }
  return rows;
}

/// A sample's output among others against the one it has alone, `tried` times the largest output.
void expect_own(const at::Tensor& alone, const at::Tensor& among, const std::string& where) {
  const auto size = std::max(1.0, alone.abs().max().item<double>());
  EXPECT_LE(largest_difference(alone, among), 1e-12 * size) << where;
}

void expect_texts_apart(const Tried& tried) {
  const auto model = model_of(tried);
  const auto chunk = tried.recipe.value("bptt", std::int64_t{4});
  const std::vector<std::vector<std::int64_t>> batches{
      {31, 30, 29, 28, 9, 4, 3}, {1, 2, 12, 7}, {5, 13, 26, 8, 11, 6}, {0, 10, 3}};
  for (const auto filled : {Filled::behind, Filled::in_front, Filled::by_chunks})
    for (const auto& lengths : batches) {
      const auto outputs = model->forward(texts_of(lengths, filled, chunk), {});
      for (std::size_t row = 0; row < lengths.size(); ++row)
        expect_own(model->forward(texts_of({lengths[row]}, filled, chunk), {})[0],
                   outputs[static_cast<std::int64_t>(row)],
                   tried.recipe.dump() + ", a text of " + std::to_string(lengths[row]) + " tokens");
    }
}

/// Rows [6, ...] of one kind; neighbors are larger than the first ones.
std::vector<at::Tensor> rows_of(const Tried& tried) {
  const auto context = neighbors_context(tried);
  const auto generator = seeded(7);
  auto shape = context.data.sample;
  shape.insert(shape.begin(), 4);
  auto numbers = at::randn(shape, generator, at::kDouble);
  numbers.slice(0, 2).mul_(30);
  if (tried.sees == Sees::images) return {numbers};
  return {at::randint(4, {4, 2}, generator, at::kLong), numbers};
}

std::vector<at::Tensor> slices(const std::vector<at::Tensor>& rows, std::int64_t first,
                               std::int64_t count) {
  std::vector<at::Tensor> some;
  for (const auto& each : rows) some.push_back(each.narrow(0, first, count));
  return some;
}

void expect_rows_apart(const Tried& tried) {
  const auto model = model_of(tried);
  const auto rows = rows_of(tried);
  const auto all = model->run(rows, {}), few = model->run(slices(rows, 1, 2), {});
  const auto alone = model->run(slices(rows, 1, 1), {});
  expect_own(alone[0], all[1], tried.recipe.dump() + " among 4");
  expect_own(alone[0], few[0], tried.recipe.dump() + " among 2");
}

class Neighbors : public testing::TestWithParam<Tried> {};

TEST_P(Neighbors, DoNotChangeTheOutputOfASample) {
  const at::NoGradGuard no_grad;
  const auto& tried = GetParam();
  if (tried.sees == Sees::texts)
    expect_texts_apart(tried);
  else
    expect_rows_apart(tried);
}

INSTANTIATE_TEST_SUITE_P(All, Neighbors, testing::ValuesIn(all_models()), [](const auto& each) {
  return each.param.name() + "_" + std::to_string(each.index);
});

}  // namespace
}  // namespace ddptrain
