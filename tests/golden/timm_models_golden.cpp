// timm's files in our networks: all tensors are taken, outputs are timm's, and the way back gives
// the same names.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/empty.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <set>

#include "base/files/digest.h"
#include "base/text.h"
#include "checkpoint/published_names.h"
#include "checkpoint/weights.h"
#include "models/model.h"
#include "support/golden.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using golden::Case;
using nlohmann::json;

std::unique_ptr<Model> timm_model(const Case& c) {
  json recipe = c.input.at("recipe");
  recipe["num_classes"] = c.input.at("classes");
  return catalog<Model>().build(fragment<Model>(recipe), ModelContext{});
}

at::Tensor timm_tensor(const std::string& name, const std::vector<std::int64_t>& sizes,
                       std::uint64_t k) {
  const auto tensor = at::empty(sizes);
  const auto fan = tensor.numel() / tensor.size(0);
  const auto weights = golden::formula_weights(name, sizes.size(), fan, k);
  auto* values = tensor.mutable_data_ptr<float>();
  for (std::int64_t i = 0, end = tensor.numel(); i < end; ++i)
    values[i] = static_cast<float>(weights(i));
  return tensor;
}

std::vector<NamedTensor> timm_file(const Case& c) {
  std::vector<NamedTensor> file;
  for (const auto& entry : c.input.at("state")) {
    const auto name = entry[0].get<std::string>();
    const auto sizes = entry[1].get<std::vector<std::int64_t>>();
    file.push_back({name, timm_tensor(name, sizes, file.size())});
  }
  return file;
}

at::Tensor formula_images(const std::vector<std::int64_t>& sizes) {
  const auto images = at::empty(sizes);
  auto* values = images.mutable_data_ptr<float>();
  for (std::int64_t i = 0; i < images.numel(); ++i)
    values[i] = static_cast<float>(golden::formula(static_cast<std::uint64_t>(i), 777));
  return images.to(at::kDouble);
}

std::vector<std::string> lines_of(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> lines;
  for (const auto& [name, tensor] : tensors) {
    std::vector<std::string> sizes;
    for (const auto size : tensor.sizes()) sizes.push_back(std::to_string(size));
    lines.push_back(name + " [" + join(sizes, ", ") + "]");
  }
  return lines;
}

std::string digest_of(const std::vector<std::string>& lines) {
  std::string text;
  for (const auto& line : lines) text += line + "\n";
  return sha256(text);
}

/// Only what was resampled for another image size has other sizes than in the file.
void expect_the_way_back(const Case& c, const Model& model, const std::vector<NamedTensor>& file) {
  std::set<std::string> there, back;
  for (const auto& line : lines_of(file)) there.insert(line.substr(0, line.find(' ')));
  for (const auto& [name, tensor] : published_as(Library::timm, model.state(), model))
    if (tensor.is_floating_point()) back.insert(name);
  EXPECT_EQ(there, back) << c.name;
}

GOLDEN(timm_models, forward) {
  const auto model = timm_model(c);
  const auto file = timm_file(c);
  auto tensors = file;
  const auto published = take_published_names(tensors, *model, "nothing", "");
  if (c.name != "forward/resnet18") {
    EXPECT_EQ(published.from, Library::timm);
  }
  const auto fit = take_weights(tensors, model->state(), {});
  EXPECT_EQ(misfit(fit), "");
  model->to(at::kCPU, at::kDouble);
  const at::NoGradGuard no_grad;
  const auto images = formula_images(c.input.at("images"));
  const auto output = model->run({images}, Pass{}).contiguous();
  const auto expected = golden::numbers(c.expect.at("eval"));
  double most = 0;
  for (const auto value : expected) most = std::max(most, std::abs(value));
  const auto* values = output.const_data_ptr<double>();
  golden::expect_close({values, values + output.numel()}, expected, 0, 1e-10 * std::max(most, 1.0),
                       c.name);
  expect_the_way_back(c, *model, file);
}

GOLDEN(timm_models, layout) {
  const auto model = timm_model(c);
  std::int64_t parameters = 0;
  for (const auto& [name, tensor] : model->named_parameters()) parameters += tensor.numel();
  if (c.expect.contains("torchvision")) {
    EXPECT_EQ(digest_of(lines_of(model->state())), c.expect.at("torchvision"));
  }
  auto timm = lines_of(published_as(Library::timm, model->state(), *model));
  std::sort(timm.begin(), timm.end());
  EXPECT_EQ(parameters, c.expect.at("parameters"));
  EXPECT_EQ(digest_of(timm), c.expect.at("timm"));
}

}  // namespace
}  // namespace ddptrain
