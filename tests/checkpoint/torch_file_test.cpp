// Files of torch_files/, which Python's torch wrote (make.py there says what is in them).
#include "checkpoint/pytorch/torch_file.h"

#include <ATen/ATen.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>

#include "base/error.h"
#include "base/files/files.h"
#include "support/where.h"
#include "tensors.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;

std::string given(const std::string& name) {
  return test::in_source("tests/checkpoint/torch_files/") + name;
}

std::vector<std::string> names(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const auto& named : tensors) names.push_back(named.name);
  return names;
}

at::Tensor find(const std::vector<NamedTensor>& tensors, const std::string& name) {
  for (const auto& named : tensors)
    if (named.name == name) return named.tensor;
  ADD_FAILURE() << name;
  return {};
}

/// What the reader says to these bytes; empty: it reads them.
std::string refused_torch_file(const std::string& bytes) {
  const TemporaryFolder folder;
  write_bytes(folder / "x.pth", bytes);
  try {
    read_torch_file(folder / "x.pth");
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_THAT(error.what(), HasSubstr("x.pth"));
    return error.what();
  }
  return "";
}

class StateDictFile : public testing::TestWithParam<const char*> {};

TEST_P(StateDictFile, GivesNamesTypesShapesAndValues) {
  const auto tensors = read_torch_file(given(GetParam()));
  EXPECT_EQ(names(tensors),
            (std::vector<std::string>{"a.weight", "a.bias", "tied", "turned", "part", "half",
                                      "brain", "flags", "bn.num_batches_tracked", "empty"}));
  const auto weight = at::arange(6, at::kFloat).reshape({2, 3}) / 4;
  EXPECT_TRUE(at::equal(find(tensors, "a.weight"), weight));
  EXPECT_TRUE(at::equal(find(tensors, "a.bias"), at::tensor({1.5, -2.0}, at::kDouble)));
  EXPECT_TRUE(at::equal(find(tensors, "tied"), weight));
  EXPECT_TRUE(at::equal(find(tensors, "turned"), weight.t()));
  EXPECT_TRUE(at::equal(find(tensors, "part"), at::tensor({1.0F, 1.25F})));
  EXPECT_TRUE(at::equal(find(tensors, "half"), weight.to(at::kHalf)));
  EXPECT_TRUE(at::equal(find(tensors, "brain"), weight.to(at::kBFloat16)));
  EXPECT_TRUE(at::equal(find(tensors, "flags"), at::tensor({1, 0}).to(at::kBool)));
  EXPECT_EQ(find(tensors, "bn.num_batches_tracked").item<std::int64_t>(), 7);
  EXPECT_EQ(find(tensors, "empty").sizes(), (std::vector<std::int64_t>{0, 3}));
}

INSTANTIATE_TEST_SUITE_P(Forms, StateDictFile, testing::Values("zip.pth", "old.pth"),
                         [](const auto& form) { return form.index == 0 ? "zip" : "old"; });

TEST(TorchFile, OfATrainingScriptGivesTheModelWithoutTheParallelPrefix) {
  for (const auto* file : {"training.pth", "old_training.pth"}) {
    const auto tensors = read_torch_file(given(file));
    EXPECT_EQ(names(tensors), (std::vector<std::string>{"a.weight", "a.bias", "tied", "turned",
                                                        "part", "half", "brain", "empty"}));
    EXPECT_EQ(find(tensors, "a.weight")[1][2].item<float>(), 1.25F);
  }
}

TEST(TorchFile, ThatAsksForCallsIsRefused) {
  EXPECT_THAT(
      refused_torch_file(read_text(given("danger.pth"))),
      testing::EndsWith("x.pth' asks Python to call 'posix.system': weights need no such call, and "
                        "torch.load with weights_only=False would make it. Nothing was called. Do "
                        "not trust the file; '--allow-calls' (in a recipe model.weights: "
                        "{allow_calls: true}) reads the tensors that do not depend on it"));
  EXPECT_FALSE(std::filesystem::exists("/tmp/ddptrain-danger"));
}

TEST(TorchFile, ExecutesNothing) {
  const auto tensors = read_torch_file(given("danger.pth"), Calls::left_out);
  EXPECT_EQ(names(tensors), std::vector<std::string>{"a.weight"});
  EXPECT_FALSE(std::filesystem::exists("/tmp/ddptrain-danger"));
}

TEST(TorchFile, WithoutTensorsIsRefused) {
  EXPECT_THAT(refused_torch_file(read_text(given("no_tensors.pth"))),
              testing::EndsWith("x.pth' cannot be read as a torch file: there is no dict of "
                                "tensors in it, neither itself nor under 'state_dict' or 'model'"));
  for (const auto* bytes : {"text", ""})
    EXPECT_THAT(refused_torch_file(bytes),
                testing::EndsWith("x.pth' cannot be read as a torch file: it begins neither like a "
                                  "zip file nor like one of torch before 1.6"));
}

TEST(TorchFile, CutShortIsRefusedWhereverItWasCut) {
  for (const auto* file : {"zip.pth", "old.pth", "old_training.pth"}) {
    const auto whole = read_text(given(file));
    for (std::size_t size = 0; size < whole.size(); size += 7)
      EXPECT_NE(refused_torch_file(whole.substr(0, size)), "") << file << size;
  }
}

TEST(TorchFile, WithAFlippedByteIsReadOrRefused) {
  const auto whole = read_text(given("old.pth"));
  int refused = 0;
  for (std::size_t at = 0; at < whole.size(); ++at)
    for (const char flip : {'\x01', '\x80'}) {
      auto bytes = whole;
      bytes[at] = static_cast<char>(bytes[at] ^ flip);
      refused += !refused_torch_file(bytes).empty();
    }
  EXPECT_GT(refused, 500);
}

}  // namespace
}  // namespace ddptrain
