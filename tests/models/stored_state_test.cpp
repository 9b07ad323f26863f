#include "models/stored_state.h"

#include <ATen/ops/ones.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "models/model.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

/// A state whose head is the embedding.
std::vector<NamedTensor> tied_state() {
  const auto table = at::zeros({4, 2});
  return {{"table.weight", table}, {"norm.weight", at::zeros({2})}, {"head.weight", table}};
}

std::vector<std::string> names_of(const std::vector<NamedTensor>& tensors) {
  std::vector<std::string> names;
  for (const auto& named : tensors) names.push_back(named.name);
  return names;
}

TEST(StoredState, HasATensorWithTwoNamesOnce) {
  EXPECT_THAT(names_of(without_aliases(tied_state())),
              testing::ElementsAre("table.weight", "norm.weight"));
}

/// An embedding with two names, as fastai's, which is the head where that is tied.
std::vector<std::string> stored_names_of_language_model(bool tied) {
  ModelContext context;
  context.data.cardinalities = {5};
  context.data.padding = 1;
  const auto model = catalog<Model>().build(
      fragment<Model>({{"type", "awd_lstm_lm"}, {"n_layers", 1}, {"tie_weights", tied}}), context);
  std::vector<std::string> names;
  for (const auto& name : names_of(stored_state(*model)))
    if (name.ends_with("emb.weight") || name.ends_with("coder.weight")) names.push_back(name);
  return names;
}

TEST(StoredState, HasATiedHeadOnceAndOtherNamesAsPyTorch) {
  EXPECT_THAT(
      stored_names_of_language_model(false),
      testing::ElementsAre("0.encoder.weight", "0.encoder_dp.emb.weight", "1.decoder.weight"));
  EXPECT_THAT(stored_names_of_language_model(true), testing::ElementsAre("0.encoder.weight"));
}

TEST(StoredState, OfAFileHasTheFirstNameWhicheverTheFileHas) {
  for (const std::vector<std::string>& there : {std::vector<std::string>{"table.weight"},
                                                {"head.weight"},
                                                {"head.weight", "table.weight"}}) {
    std::vector<NamedTensor> tensors;
    for (const auto& name : there) tensors.push_back({name, at::ones({4, 2})});
    join_aliases(tensors, tied_state());
    EXPECT_THAT(names_of(tensors), testing::ElementsAre("table.weight"));
  }
}

TEST(StoredState, RefusesTiedCopiesThatDiffer) {
  std::vector<NamedTensor> tensors{{"table.weight", at::ones({4, 2})},
                                   {"head.weight", at::zeros({4, 2})}};
  EXPECT_THAT([&] { join_aliases(tensors, tied_state()); },
              ThrowsMessage<Error>(HasSubstr("'head.weight' and 'table.weight' differ in the file, "
                                             "and are one tensor in the model")));
}

}  // namespace
}  // namespace ddptrain
