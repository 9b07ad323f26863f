// One training step of every network of the catalog: output and gradients as on the CPU.
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/randint.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <limits>
#include <ostream>
#include <set>

#include "gpu/device.h"
#include "models/nets.h"
#include "models/texts.h"

namespace ddptrain::gpu {
namespace {

using nlohmann::json;

/// How a network is tried where its defaults and images of 3 x 64 x 64 do not fit.
const json& small_options() {
  static const json all{
      {"awd_lstm", {{"emb_sz", 8}, {"n_hid", 10}, {"n_layers", 2}, {"lin_ftrs", {6}}, {"bptt", 4}}},
      {"awd_lstm_lm", {{"emb_sz", 8}, {"n_hid", 10}, {"n_layers", 2}}},
      {"bag_of_embeddings", {{"dim", 8}, {"ngrams", 2}, {"buckets", 50}}},
      {"deeplabv3", {{"body", "resnet18"}, {"dilated", false}}},
      {"fcn", {{"body", "resnet18"}, {"dilated", false}, {"aux_loss", 0.5}}},
      {"gpt2", {{"n_embd", 24}, {"n_layer", 2}, {"n_head", 3}, {"n_positions", 16}}},
      {"mlp", {{"in_features", 12288}, {"hidden", {16}}}},
      {"sequential",
       {{"input", {3, 64, 64}},
        {"layers",
         {{{"type", "conv"}, {"out", 4}},
          "batch_norm",
          "relu",
          {{"type", "dropout"}, {"p", 0.3}},
          "adaptive_avg_pool",
          "flatten",
          {{"type", "linear"}, {"out", 2}}}}}},
      {"swin_t", json::object()},
      {"tabular", {{"layers", {16, 8}}}},
      {"text_transformer",
       {{"dim", 12}, {"num_layers", 2}, {"num_heads", 3}, {"mlp_dim", 16}, {"max_len", 12}}},
      {"unet", {{"body", "resnet18"}, {"self_attention", true}, {"blur", true}}},
      {"vision_learner", {{"body", "resnet18"}}},
      {"vit",
       {{"image_size", 64},
        {"patch_size", 16},
        {"num_layers", 2},
        {"num_heads", 4},
        {"hidden_dim", 32},
        {"mlp_dim", 48}}},
      {"vit_b_16", {{"image_size", 64}}},
      {"vit_b_32", {{"image_size", 64}}},
      {"vit_l_16", {{"image_size", 64}}},
      {"vit_l_32", {{"image_size", 64}}},
      {"vit_s_16", {{"image_size", 64}}},
      {"vit_s_32", {{"image_size", 64}}},
      {"vit_ti_16", {{"image_size", 64}}},
      {"deit_b_16", {{"image_size", 64}}},
      {"deit_s_16", {{"image_size", 64}}},
      {"deit_ti_16", {{"image_size", 64}, {"distilled", true}}},
      {"siglip_b_16", {{"image_size", 64}}},
      {"siglip_l_16", {{"image_size", 64}}},
      {"clip_b_16", {{"image_size", 64}}},
      {"clip_b_32", {{"image_size", 64}}},
      {"clip_l_14", {{"image_size", 70}}},
      {"dinov2_b_14", {{"image_size", 70}}},
      {"dinov2_l_14", {{"image_size", 70}}},
      {"dinov2_s_14", {{"image_size", 70}, {"registers", 4}}},
  };
  return all;
}

const std::set<std::string> kLarge{"alexnet",         "densenet169",     "resnet101",  "resnet152",
                                   "resnext50_32x4d", "swin_t",          "vgg11",      "vgg16_bn",
                                   "vit_b_16",        "wide_resnet50_2", "xresnet101", "xresnext50",
                                   "densenet121",     "xse_resnext50"};

bool is_large(const std::string& name) {
  if (kLarge.contains(name)) return true;
  for (const auto* family : {"clip_", "convnext_base", "convnext_small", "deit_", "dinov2_",
                             "efficientnet_b3", "efficientnet_b4", "siglip_", "swin_", "vit_"})
    if (name.starts_with(family)) return true;
  return false;
}

/// Height and width of images: those of 64 pixels have no whole patches of 14.
std::int64_t side_of(const std::string& name) { return name.ends_with("_14") ? 70 : 64; }

bool is_of_texts(const std::string& name) {
  static const std::set<std::string> all{"awd_lstm", "awd_lstm_lm", "bag_of_embeddings", "gpt2",
                                         "text_transformer"};
  return all.contains(name);
}

bool is_of_tables(const std::string& name) {
  return name == "tabular" || name == "collab_nn" || name == "embedding_dot_bias";
}

/// Of a network that gives one number, or hidden states: its square; of others the cross entropy.
at::Tensor loss_of(const at::Tensor& output) {
  if (output.dim() == 1 || output.dim() == 3 || output.size(1) == 1) return output.square().mean();
  if (output.dim() == 4) return loss_of(output.flatten(2).mean(2));
  return at::cross_entropy_loss(output, at::arange(3).remainder(2).to(output.device()));
}

ModelContext data_for(const std::string& name) {
  auto context = test::text_context(3);
  if (is_of_texts(name)) return context;
  context.data.padding = -1;
  context.data.cardinalities.clear();
  context.data.sample = {3, side_of(name), side_of(name)};
  if (name == "mnist_net") context.data.sample = {3, 28, 28};
  if (!is_of_tables(name)) return context;
  context.data.cardinalities = {4, 5};
  context.data.sample = {0};
  if (name != "tabular") return context;
  context.data.sample = {3};
  return context;
}

std::vector<at::Tensor> inputs_for(const std::string& name, std::uint64_t seed) {
  const auto generator = test::seeded(seed);
  if (is_of_texts(name)) return {test::three_texts()};
  if (is_of_tables(name))
    return {at::randint(4, {3, 2}, generator, at::kLong),
            at::randn({3, name == "tabular" ? 3 : 0}, generator, at::kDouble)};
  if (name == "mnist_net") return {at::randn({3, 3, 28, 28}, generator, at::kDouble)};
  return {at::randn({3, 3, side_of(name), side_of(name)}, generator, at::kDouble)};
}

/// Parameters that start at zero, or next to it: the head of a vision transformer, scales of
/// layers. With them most gradients would be zero on every device.
void draw_what_is_almost_zero(const Model& model) {
  const auto generator = test::seeded(11);
  for (const auto& [name, tensor] : model.named_parameters())
    if (tensor.numel() > 0 && tensor.abs().max().item<double>() < 1e-3)
      tensor.detach().copy_(at::randn(tensor.sizes(), generator).mul_(0.1));
}

struct StepResult {
  at::Tensor output;
  std::vector<NamedTensor> gradients;  // on the host
};

StepResult step_on(c10::Device where, at::ScalarType type, const std::string& name,
                   std::uint64_t seed) {
  auto recipe = small_options().value(name, json::object());
  recipe["type"] = name;
  const auto model = test::make_model(recipe, data_for(name));
  draw_what_is_almost_zero(*model);
  model->to(where, type);
  std::vector<at::Tensor> inputs;
  for (const auto& input : inputs_for(name, seed))
    inputs.push_back(input.to(where, input.is_floating_point() ? type : input.scalar_type()));
  const auto output = model->run(inputs, test::training(3, 5));
  loss_of(output).backward();
  StepResult result{output.detach().to(at::kCPU, at::kDouble), {}};
  for (const auto& [parameter, tensor] : model->named_parameters())
    result.gradients.push_back({parameter, tensor.grad().defined()
                                               ? tensor.grad().to(at::kCPU, at::kDouble)
                                               : at::Tensor()});
  return result;
}

/// An element of a gradient is a sum over n places of images. Each summand is rounded, by epsilon
/// next to its own size, so that the sum is off by epsilon * sqrt(n) next to theirs, even where
/// they cancel: the gradient of a bias before batch norm is zero, and all that is computed of it is
/// this. As a share of the whole gradient it is an upper bound.
double rounding_of_sums(at::ScalarType type) {
  const double places = 3 * 64 * 64;
  const double epsilon = type == at::kDouble ? std::numeric_limits<double>::epsilon()
                                             : std::numeric_limits<float>::epsilon();
  return epsilon * std::sqrt(places);
}

/// Of a step from that of the CPU in fp64.
struct StepDistance {
  double output = 0, gradients = 0;  // the largest of a gradient
  std::string farthest = {};         // that gradient

  bool is_within(double output_bound, double gradients_bound) const {
    return output <= output_bound && gradients <= gradients_bound;
  }
};

StepDistance distance(const StepResult& step, at::ScalarType type, const StepResult& exact) {
  EXPECT_EQ(step.gradients.size(), exact.gradients.size());
  double whole = 0;
  for (const auto& [name, gradient] : exact.gradients)
    if (gradient.defined()) whole = std::hypot(whole, gradient.norm().item<double>());
  StepDistance all{.output = relative_distance(step.output, exact.output)};
  for (std::size_t i = 0; i < exact.gradients.size(); ++i) {
    const auto& [name, gradient] = exact.gradients[i];
    EXPECT_EQ(step.gradients[i].tensor.defined(), gradient.defined()) << name;
    if (!gradient.defined() || !step.gradients[i].tensor.defined()) continue;
    const double one =
        relative_distance(step.gradients[i].tensor, gradient, rounding_of_sums(type) * whole);
    if (one <= all.gradients || std::isnan(all.gradients)) continue;
    all.gradients = one;
    all.farthest = name;
  }
  return all;
}

std::ostream& operator<<(std::ostream& out, const StepDistance& of) {
  return out << "output " << of.output << ", gradients " << of.gradients << " " << of.farthest;
}

std::vector<std::string> networks() {
  std::vector<std::string> names;
  for (std::size_t i = 0; i < catalog<Model>().size(); ++i)
    if (const auto& entry = catalog<Model>().at(i); !entry.has("scripted"))  // a file of the user's
      names.push_back(entry.name);
  return names;
}

class EveryNetwork : public testing::TestWithParam<std::string> {
 protected:
  static StepResult step(c10::Device where, at::ScalarType type, std::uint64_t seed) {
    return step_on(where, type, GetParam(), seed);
  }
};

constexpr std::uint64_t kFirstSeed = 7, kTries = 4;

/// Whether a device's fp32 is about as far from fp64 as the CPU's: eight times, since cuDNN's
/// transforms round more often than sums. Where one unit falls to the other side of a corner of
/// ReLU, gradients move by up to some per cent, in few inputs; a kernel that is wrong is wrong in
/// all of them. So other inputs are tried, and the CPU's largest distance so far is what counts.
template <class Step>
testing::AssertionResult is_as_near_as_the_cpu(const StepResult& first, Step step) {
  StepDistance cpu;
  auto result = testing::AssertionFailure();
  for (auto seed = kFirstSeed; seed < kFirstSeed + kTries; ++seed) {
    const auto exact = seed == kFirstSeed ? first : step(at::kCPU, at::kDouble, seed);
    const auto near = distance(step(at::kCPU, at::kFloat, seed), at::kFloat, exact);
    const auto far = distance(step(device(), at::kFloat, seed), at::kFloat, exact);
    cpu.output = std::max(cpu.output, near.output);
    cpu.gradients = std::max(cpu.gradients, near.gradients);
    if (far.is_within(8 * cpu.output + 1e-4, 8 * cpu.gradients + 1e-4))
      return testing::AssertionSuccess();
    result << far << "; the CPU: " << near << "\n";
  }
  return result;
}

// In fp64 the sums of a device run in another order, and no more.
TEST_P(EveryNetwork, MakesTheStepOfTheCpu) {
  if (is_large(GetParam()) && !takes_large_networks()) GTEST_SKIP() << "DDPTRAIN_LONG=1";
  const auto exact = step(at::kCPU, at::kDouble, kFirstSeed);
  const auto far = distance(step(device(), at::kDouble, kFirstSeed), at::kDouble, exact);
  EXPECT_TRUE(far.is_within(1e-9, 1e-9)) << "fp64: " << far;
  EXPECT_TRUE(is_as_near_as_the_cpu(exact, step)) << "fp32";
}

INSTANTIATE_TEST_SUITE_P(Catalog, EveryNetwork, testing::ValuesIn(networks()),
                         [](const auto& network) { return network.param; });

}  // namespace
}  // namespace ddptrain::gpu
