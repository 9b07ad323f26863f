// A small example of every model in the catalogue, and what it reads.
#pragma once

#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/rand.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/stack.h>

#include <nlohmann/json.hpp>
#include <string>
#include <vector>

#include "models/nets.h"

namespace ddptrain::test {

enum class Reads { images, table, ratings, text };

struct ExportedModel {
  std::string name;
  nlohmann::json recipe;
  Reads reads = Reads::images;
  std::int64_t pixels = 32;
};

inline std::vector<ExportedModel> exported_models() {
  std::vector<ExportedModel> all;
  for (const auto* name :
       {"alexnet", "convnext_tiny", "densenet121", "efficientnet_b0", "mobilenet_v3_small",
        "regnet_y_400mf", "resnet18", "squeezenet1_1", "swin_t", "xresnet18_deep", "xse_resnext18"})
    all.push_back(
        {name, {{"type", name}}, Reads::images, std::string(name) == "alexnet" ? 64 : 32});
  all.push_back({"vit", {{"type", "vit"}, {"image_size", 32}}, Reads::images, 32});
  all.push_back({"mnist_net", {{"type", "mnist_net"}}, Reads::images, 28});
  all.push_back({"vision_learner", {{"type", "vision_learner"}, {"body", "resnet18"}}});
  all.push_back({"unet", {{"type", "unet"}, {"body", "resnet18"}}});
  all.push_back({"fcn", {{"type", "fcn"}, {"body", "resnet18"}}});
  all.push_back({"deeplabv3", {{"type", "deeplabv3"}, {"body", "resnet18"}}});
  all.push_back({"mlp", {{"type", "mlp"}}, Reads::images, 8});
  all.push_back({"tabular", {{"type", "tabular"}}, Reads::table});
  all.push_back({"collab_nn", {{"type", "collab_nn"}}, Reads::ratings});
  all.push_back({"embedding_dot_bias", {{"type", "embedding_dot_bias"}}, Reads::ratings});
  all.push_back({"bag_of_embeddings", {{"type", "bag_of_embeddings"}}, Reads::text});
  all.push_back({"text_transformer", {{"type", "text_transformer"}}, Reads::text});
  return all;
}

inline ModelContext context_of(const ExportedModel& model) {
  ModelContext context;
  context.data.classes = {"a", "b", "c"};
  if (model.reads == Reads::images)
    context.data.sample = {model.name == "mnist_net" ? 1 : 3, model.pixels, model.pixels};
  if (model.reads == Reads::table) context.data.sample = {4};
  if (model.reads == Reads::table) context.data.cardinalities = {5, 7};
  if (model.reads == Reads::ratings)
    context.data.sample = {0}, context.data.cardinalities = {9, 11};
  if (model.reads == Reads::ratings) context.data.classes = {}, context.data.numbers = 1;
  if (model.reads == Reads::text) context.data.cardinalities = {30}, context.data.padding = 1;
  return context;
}

/// Rows of texts of different lengths, padded by 1 in front as the loader does: whole ones, ones
/// that lack a token or two, and ones that are padding for the most part.
inline at::Tensor texts(std::int64_t rows, std::int64_t tokens) {
  std::vector<at::Tensor> all;
  for (std::int64_t row = 0; row < rows; ++row) {
    const auto padding = row % 4 < 3 ? row % 4 : tokens - 2;
    all.push_back(at::cat(
        {at::full({padding}, 1, at::kLong), at::randint(2, 30, {tokens - padding}, at::kLong)}));
  }
  return at::stack(all);
}

inline std::vector<at::Tensor> inputs_of(const ExportedModel& model, std::int64_t rows,
                                         std::int64_t tokens) {
  const auto context = context_of(model);
  const auto columns = [&] {
    std::vector<at::Tensor> all;
    for (const auto count : context.data.cardinalities)
      all.push_back(at::randint(0, count, {rows}, at::kLong));
    return at::stack(all, 1);
  };
  switch (model.reads) {
    case Reads::images: {
      auto shape = context.data.sample;
      shape.insert(shape.begin(), rows);
      return {at::rand(shape)};
    }
    case Reads::table:
      return {columns(), at::rand({rows, 4})};
    case Reads::ratings:
      return {columns(), at::rand({rows, 0})};
    case Reads::text:
      return {texts(rows, tokens)};
  }
  return {};
}

/// With weights and running statistics that differ from what a new model has.
inline std::unique_ptr<Model> made(const ExportedModel& model) {
  auto context = context_of(model);
  context.generator = seeded(3);
  auto net = make_model(model.recipe, context);
  for (const auto& buffer : net->named_buffers())
    if (buffer.tensor.is_floating_point())
      buffer.tensor.copy_(at::rand(buffer.tensor.sizes()).add(0.5));
  return net;
}

}  // namespace ddptrain::test
