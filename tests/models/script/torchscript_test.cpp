// Modules that torch scripted: what torch computes with them, and files that are refused
// (tests/golden/torchscript/make.py).
#include <ATen/TensorOperators.h>
#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/ones.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/files/digest.h"
#include "base/files/files.h"
#include "models/nets.h"
#include "support/temporary_folder.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using namespace test;
using nlohmann::json;
using testing::ElementsAre;

std::string script_file_of(const std::string& name) {
  return in_source("tests/golden/torchscript/" + name);
}

ModelContext three_classes() {
  ModelContext context;
  context.data.classes = {"a", "b", "c"};
  return context;
}

std::unique_ptr<Model> scripted(const std::string& name, ModelContext context = three_classes()) {
  return make_model({{"type", "torchscript"}, {"file", script_file_of(name)}}, std::move(context));
}

/// formula() of make.py.
at::Tensor by_formula(const std::vector<std::int64_t>& shape, int k) {
  std::int64_t count = 1;
  for (const auto size : shape) count *= size;
  std::vector<double> values;
  for (std::int64_t i = 0; i < count; ++i)
    values.push_back(std::sin(12.9898 * static_cast<double>(i) + 78.233 * k));
  return at::tensor(values, at::kDouble).view(shape);
}

json expected_of(const std::string& name) {
  return json::parse(read_text(script_file_of("expected.json"))).at(name);
}

void expect_near(const at::Tensor& found, const json& expected, const std::string& what) {
  const auto flat = found.detach().to(at::kDouble).flatten().contiguous();
  const auto wanted = expected.get<std::vector<double>>();
  ASSERT_EQ(flat.numel(), std::ssize(wanted)) << what;
  for (std::size_t i = 0; i < wanted.size(); ++i)
    EXPECT_NEAR(flat.const_data_ptr<double>()[i], wanted[i], 1e-12) << what << " " << i;
}

void descend_as_torch_did(const std::string& name, const std::vector<std::int64_t>& sample) {
  const auto expected = expected_of(name);
  const auto model = scripted(name + ".pt");
  model->to(at::kCPU, at::kDouble);
  auto shape = sample;
  shape.insert(shape.begin(), 4);
  for (int k = 0; k < 5; ++k) {
    const auto output = model->run({by_formula(shape, 10 + k)}, training(k, 0));
    const auto loss = at::cross_entropy_loss(output, at::arange(4, at::kLong).remainder(3));
    EXPECT_NEAR(loss.item<double>(), expected.at("losses")[static_cast<std::size_t>(k)], 1e-12);
    loss.backward();
    for (auto& [unused, parameter] : model->named_parameters()) {
      parameter.detach().sub_(parameter.grad(), 0.1);
      parameter.mutable_grad() = at::Tensor();
    }
  }
  const at::NoGradGuard no_grad;
  expect_near(model->run({by_formula(shape, 20)}, {}), expected.at("output"), "output");
  for (const auto& [key, tensor] : model->state())
    expect_near(tensor, expected.at("state").at(key), key);
  EXPECT_EQ(model->state().size(), expected.at("state").size());
}

TEST(TorchScript, LearnsAsInTorch) { descend_as_torch_did("plain", {6}); }

TEST(TorchScript, KeepsStatisticsOfBatchNormAsInTorch) {
  descend_as_torch_did("images", {3, 4, 4});
}

TEST(TorchScript, HasTheNamesOfItsStateDict) {
  std::vector<std::string> names;
  for (const auto& each : scripted("images.pt")->state()) names.push_back(each.name);
  EXPECT_THAT(names, ElementsAre("conv.weight", "conv.bias", "norm.weight", "norm.bias",
                                 "norm.running_mean", "norm.running_var",
                                 "norm.num_batches_tracked", "head.weight", "head.bias"));
}

TEST(TorchScript, KnowsItsNormsByTheirClass) {
  const auto model = scripted("images.pt");
  for (const auto& [path, module] : model->modules())
    EXPECT_EQ(module->is_norm(), path == "norm") << path;
}

TEST(TorchScript, LeavesStatisticsAloneWhereAsked) {
  const auto model = scripted("images.pt");
  for (const auto& [unused, module] : model->modules()) module->keep_statistics(true);
  const auto before = find(model->state(), "norm.running_mean").clone();
  model->run({by_formula({4, 3, 4, 4}, 1).to(at::kFloat)}, training(0, 0));
  EXPECT_TRUE(at::equal(find(model->state(), "norm.running_mean"), before));
}

TEST(TorchScript, HasOneTensorOfTwoNames) {
  const auto model = scripted("tied.pt", {});
  EXPECT_EQ(model->named_parameters().size(), 1U);
  EXPECT_EQ(model->state().size(), 2U);
  const auto weight = model->named_parameters()[0].tensor;
  model->run({at::ones({2, 6})}, training(0, 0)).sum().backward();
  EXPECT_TRUE(weight.grad().defined());
  const at::NoGradGuard no_grad;
  weight.detach().zero_();
  EXPECT_EQ(model->run({at::ones({2, 6})}, {}).abs().max().item<double>(), 0);
}

TEST(TorchScript, TakesTheTwoInputsOfATable) {
  ModelContext context;
  context.data.numbers = 1;
  const auto model = scripted("table.pt", context);
  const auto output = model->run({at::zeros({4, 1}, at::kLong), at::ones({4, 3})}, {});
  EXPECT_THAT(output.sizes().vec(), ElementsAre(4, 1));
}

TEST(TorchScript, ComputesNothingOfNoRows) {
  const auto model = scripted("images.pt");
  const auto output = model->run({at::zeros({0, 3, 4, 4})}, training(0, 0));
  EXPECT_THAT(output.sizes().vec(), ElementsAre(0, 3));
  output.sum().backward();
  for (const auto& [name, parameter] : model->named_parameters())
    EXPECT_EQ(parameter.grad().abs().sum().item<double>(), 0) << name;
}

ModelContext ten_classes() {
  ModelContext context;
  context.data.classes = std::vector<std::string>(10, "class");
  return context;
}

// The mask of a step does not depend on the steps before it, so a resumed run draws the same.
TEST(TorchScript, DrawsTheSameInTheSameStepAndRows) {
  const auto model = scripted("dropping.pt", ten_classes());
  const auto images = at::ones({8, 3, 2, 2});
  const auto first = model->run({images}, training(3, 0));
  EXPECT_FALSE(at::equal(model->run({images}, training(4, 0)), first));
  EXPECT_FALSE(at::equal(model->run({images}, training(3, 8)), first));
  EXPECT_TRUE(at::equal(model->run({images}, training(3, 0)), first));
  EXPECT_TRUE(at::equal(model->run({images}, {}), model->run({images}, {})));
}

std::string refusal_of_script(const json& recipe, ModelContext context = three_classes(),
                              const std::vector<at::Tensor>& inputs = {}) {
  auto whole = recipe;
  whole["type"] = "torchscript";
  try {
    const auto model = make_model(whole, std::move(context));
    if (!inputs.empty()) model->run(inputs, {});
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::recipe);
    return error.what();
  }
  return "";
}

constexpr const char* kWriteOne =
    "; write one in Python: torch.jit.script(model).save(\"model.pt\")";

std::string refusal_of_file(const std::string& path) { return refusal_of_script({{"file", path}}); }

TEST(TorchScriptFiles, AreNamedWhereTheyAreNone) {
  const TemporaryFolder folder;
  const auto start = [](const std::string& path) { return "model.file: '" + path + "' "; };
  EXPECT_EQ(refusal_of_file(folder / "none.pt"),
            start(folder / "none.pt") + "is missing" + kWriteOne);
  EXPECT_EQ(refusal_of_file(folder.path()),
            "model.file: cannot read '" + folder.path() + "': it is a folder, not a regular file");
  const auto text = folder.write("text.pt", "not a module, but some text");
  EXPECT_EQ(refusal_of_file(text), start(text) + "is no file of torch.jit.save" + kWriteOne);
  const auto empty = folder.write("empty.pt", "");
  EXPECT_EQ(refusal_of_file(empty), start(empty) + "is no file of torch.jit.save" + kWriteOne);
  const auto weights = script_file_of("weights.pth");
  EXPECT_EQ(refusal_of_file(weights),
            start(weights) +
                "is a file of torch.save with weights alone, without the code of a "
                "model" +
                kWriteOne);
  const auto old = script_file_of("old_weights.pth");
  EXPECT_EQ(refusal_of_file(old),
            start(old) + "is a pickle of torch.save, which holds no code" + kWriteOne);
  const auto exported = script_file_of("exported.pt2");
  EXPECT_EQ(
      refusal_of_file(exported),
      start(exported) + "is a file of torch.export, which cannot be trained here" + kWriteOne);
  const auto frozen = script_file_of("frozen.pt");
  EXPECT_EQ(refusal_of_file(frozen),
            start(frozen) +
                "has no parameters: torch.jit.freeze makes constants of them; save "
                "the scripted module before it is frozen");
}

TEST(TorchScriptFiles, ReachNoFiles) {
  for (const auto& [name, what] :
       {std::pair("reads_file.pt", "aten::from_file"), std::pair("writes_file.pt", "aten::save")})
    EXPECT_EQ(refusal_of_file(script_file_of(name)),
              "model.file: '" + script_file_of(name) + "' calls '" + what +
                  "', which is not run here: a model reaches no files and is made of PyTorch's own "
                  "operators");
  EXPECT_EQ(refusal_of_file(script_file_of("runs_when_read.pt")),
            "model.file: '" + script_file_of("runs_when_read.pt") +
                "' has '__setstate__' in its code, which is not run here: a model is made of "
                "PyTorch's own operators");
}

TEST(TorchScriptFiles, ThatAreCutOrDamagedAreRefused) {
  const TemporaryFolder folder;
  const auto whole = read_text(script_file_of("plain.pt"));
  for (std::size_t size = 0; size < whole.size(); size += whole.size() / 40)
    EXPECT_THAT(refusal_of_file(folder.write("cut.pt", whole.substr(0, size))),
                testing::StartsWith("model.file: '" + folder / "cut.pt" + "' "));
  for (std::size_t at = 0; at < whole.size(); at += 61) {
    auto damaged = whole;
    damaged[at] = static_cast<char>(damaged[at] ^ 0x10);
    refusal_of_file(folder.write("damaged.pt", damaged));  // refused or harmless, and no crash
  }
}

TEST(TorchScriptFiles, HaveTheDigestOfTheRecipe) {
  const auto file = script_file_of("plain.pt");
  const auto digest = digest_file(DigestKind::sha256, file);
  EXPECT_EQ(refusal_of_script({{"file", file}, {"sha256", digest}}), "");
  const std::string other(64, '0');
  EXPECT_EQ(refusal_of_script({{"file", file}, {"sha256", other}}),
            "model.file: sha256 of '" + file + "' is " + digest + ", and the recipe wants " +
                other + ": the file has changed since");
}

TEST(TorchScript, NamesInputsAndOutputsThatDoNotFit) {
  const auto forward = [](const std::string& name) {
    return "model.file: forward of '" + script_file_of(name) + "' ";
  };
  const auto plain = script_file_of("plain.pt");
  EXPECT_EQ(refusal_of_script({{"file", plain}}, three_classes(),
                              {at::zeros({2, 1}, at::kLong), at::zeros({2, 6})}),
            forward("plain.pt") + "takes 1 input, and the data gives 2");
  EXPECT_EQ(refusal_of_script({{"file", plain}}, ten_classes(), {at::zeros({2, 6})}),
            forward("plain.pt") +
                "returns a tensor of [2, 3], and the data asks for [2, 10]: an output for each "
                "class; in Python, give its last layer 10 outputs, and script it again");
  const std::string shapes = "mat1 and mat2 shapes cannot be multiplied (2x5 and 6x8)";
  EXPECT_THAT(refusal_of_script({{"file", plain}}, three_classes(), {at::zeros({2, 5})}),
              testing::AnyOf(forward("plain.pt") + "failed: RuntimeError: " + shapes,
                             forward("plain.pt") + "failed: RuntimeError: addmm: " + shapes))
      << "LibTorch 2.15 names the operator";
  EXPECT_EQ(refusal_of_script({{"file", script_file_of("tuple.pt")}}, three_classes(),
                              {at::zeros({2, 6})}),
            forward("tuple.pt") + "returns Tuple, and a model returns one tensor");
}

}  // namespace
}  // namespace ddptrain
