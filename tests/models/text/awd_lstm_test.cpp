// awd_lstm against fastai's text_classifier_learner, and what it refuses.
#include <ATen/core/grad_mode.h>
#include <ATen/ops/cross_entropy_loss.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "models/text/rnn_dropout.h"
#include "models/texts.h"
#include "models/waves.h"
#include "support/refused.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using namespace test;
using testing::HasSubstr;

const json small = {{"type", "awd_lstm"}, {"emb_sz", 6},    {"n_hid", 8}, {"n_layers", 2},
                    {"lin_ftrs", {5}},    {"drop_mult", 0}, {"ps", {0}},  {"bptt", 4}};

struct PeerRun {
  json options;
  std::vector<double> losses;   // of four steps
  std::vector<double> outputs;  // of the three texts afterwards, in evaluation
};

void expect_close(const std::vector<double>& actual, const std::vector<double>& expected) {
  ASSERT_EQ(actual.size(), expected.size());
  for (std::size_t i = 0; i < actual.size(); ++i) EXPECT_NEAR(actual[i], expected[i], 1e-9) << i;
}

/// Gradient descent as the replica makes it: mean loss and mean penalty, rate 0.5.
double descend(Model& model, const at::Tensor& texts, const at::Tensor& labels) {
  Penalty penalty;
  const auto output = model.forward(texts, {.training = true, .penalty = &penalty});
  const auto loss = at::cross_entropy_loss(output, labels);
  (penalty.sum().defined() ? loss.add(penalty.sum().mean()) : loss).backward();
  const at::NoGradGuard no_grad;
  for (const auto& [name, parameter] : model.named_parameters()) {
    parameter.add_(parameter.grad(), -0.5);
    parameter.mutable_grad().reset();
  }
  return loss.item<double>();
}

void expect_run(const PeerRun& run) {
  const auto model =
      make_model(with(with(small, {{"padding", "fastai"}}), run.options), text_context());
  model->to(at::kCPU, at::kDouble);
  fill_with_waves(*model);
  const at::Tensor texts[] = {three_texts(), tokens({{2, 7, 18, 7, 2, 3, 10, 23, 14, 11, 14},
                                                     {7, 13, 25, 15, 11, 13, 21, 7, 27, 1, 1},
                                                     {1, 1, 1, 1, 12, 19, 4, 23, 20, 23, 1}})};
  const at::Tensor labels[] = {at::tensor({0, 1, 1}, at::kLong), at::tensor({1, 0, 1}, at::kLong)};
  std::vector<double> losses;
  for (int step = 0; step < 4; ++step)
    losses.push_back(descend(*model, texts[step % 2], labels[step % 2]));
  expect_close(losses, run.losses);
  const at::NoGradGuard no_grad;
  expect_close(numbers_of(model->forward(texts[0], {})), run.outputs);
}

// fastai 2.8.12 in double: get_text_classifier(AWD_LSTM, 30, 2, seq_len=4, max_len=..., config with
// these sizes and no dropout), weights as waves, a Learner with SGD (lr 0.5, no momentum, no
// decay), ModelResetter, RNNCallback and RNNRegularizer(alpha, beta), four steps on the two batches
// alternately. Tensor.float was made to keep double, as the penalty goes through it.
TEST(AwdLstm, TrainsAsFastaiDoes) {
  expect_run({{{"alpha", 0}, {"beta", 0}},
              {1.851829657937337, 2.178328319551853, 1.3701710460850347, 0.96044261973283},
              {-0.17183960901428186, -0.1964702415706966, -0.27249559318634, -0.0925158822917301,
               -0.3749154213692625, 0.12942083980077843}});
}

TEST(AwdLstm, IsRegularizedAsFastaisRnnRegularizerDoes) {
  expect_run({json::object(),  // alpha 2, beta 1
              {1.851829657937337, 2.176429915747456, 1.372811482575263, 0.9805653826069968},
              {-0.234214314243054, -0.1317340819402299, -0.32070456223752275, -0.0410671226297388,
               -0.37610403812207016, 0.15956536837737986}});
}

TEST(AwdLstm, LearnsFromTheLastTokensAlone) {
  expect_run({{{"max_len", 4}},
              {0.39648508111999997, 0.9867733845274765, 0.45173321929205706, 3.7121115059963663},
              {-0.6350855029733102, -0.04802904129226934, -0.5678828401409649, 0.19533311959285615,
               -0.4373522322915371, 0.15017165877503993}});
}

TEST(AwdLstm, ReadsBothWays) {
  expect_run({{{"bidir", true}},
              {0.8359303202386724, 1.4766291381104457, 1.1781732751490013, 0.7215903163009757},
              {0.043752729411247804, -0.20027007281097237, 0.008036649452114478,
               -0.18004478927727177, -0.9558447678669326, -0.1486467050101336}});
}

/// The penalty of each row.
at::Tensor penalty_of(Model& model, const at::Tensor& texts) {
  Penalty penalty;
  model.forward(texts, {.training = true, .penalty = &penalty});
  return penalty.sum().detach();
}

// In fastai zeros stand for what a short text lacks; here a text's penalty is its own.
TEST(AwdLstm, PenalizesATextByItsOwnTokens) {
  for (const auto& options : {json::object(), json{{"bidir", true}}}) {
    const auto model = make_model(with(small, options), text_context());
    model->to(at::kCPU, at::kDouble);
    fill_with_waves(*model);
    const auto texts = tokens({{2, 6, 16, 4, 26, 26, 4, 16, 6, 2, 4},
                               {1, 1, 1, 1, 9, 14, 25, 14, 9, 10, 1},
                               {1, 1, 1, 1, 1, 1, 1, 1, 16, 22, 6}});
    const auto all = penalty_of(*model, texts);
    const at::Tensor alone[] = {texts.narrow(0, 0, 1), tokens({{9, 14, 25, 14, 9, 10}}),
                                tokens({{16, 22, 6}})};
    for (std::int64_t row = 0; row < 3; ++row) {
      const auto twice = at::cat({alone[row], alone[row]});  // a batch norm wants two rows
      EXPECT_LT(largest_difference(penalty_of(*model, twice)[0], all[row]), 1e-12)
          << options << " row " << row;
    }
    const auto fastai =
        make_model(with(with(small, options), {{"padding", "fastai"}}), text_context());
    fastai->to(at::kCPU, at::kDouble);
    fill_with_waves(*fastai);
    EXPECT_GT(largest_difference(penalty_of(*fastai, texts), all), 1e-4);
  }
}

// fastai after torch.manual_seed(1), in float32: sums of some parameters, the first and last that
// are drawn among them.
TEST(AwdLstm, DrawsItsFirstWeightsAsFastai) {
  const auto sum = [](const Model& model, const std::string& name) {
    return find(model.named_parameters(), name).sum(at::kDouble).item<double>();
  };
  const auto model = make_model(small, text_context(1));
  EXPECT_NEAR(sum(*model, "0.module.encoder.weight"), 0.4353721684019547, 1e-6);
  EXPECT_NEAR(sum(*model, "0.module.rnns.0.weight_hh_l0_raw"), 1.2622581410687417, 1e-6);
  EXPECT_NEAR(sum(*model, "0.module.rnns.1.module.bias_hh_l0"), 0.8629103098064661, 1e-6);
  EXPECT_NEAR(sum(*model, "1.layers.1.1.weight"), 0.8486967012286186, 1e-6);
  const auto both = make_model(with(small, {{"bidir", true}}), text_context(1));
  EXPECT_NEAR(sum(*both, "0.module.rnns.0.module.weight_hh_l0_reverse"), -4.4987539649009705, 1e-6);
  EXPECT_NEAR(sum(*both, "0.module.rnns.1.module.bias_hh_l0_reverse"), 1.8420044020749629, 1e-6);
  EXPECT_NEAR(sum(*both, "1.layers.1.1.weight"), -0.8419161907513626, 1e-6);
}

TEST(AwdLstm, DoesNotSeeWholeSegmentsOfPadding) {
  const auto model = make_model(small, text_context());
  const auto texts = three_texts();
  const at::NoGradGuard no_grad;
  const auto output = model->forward(texts, {});
  EXPECT_LT(largest_difference(output, model->forward(padded_in_front(texts, 8), {})), 1e-6);
  EXPECT_GT(largest_difference(output.select(0, 1), output.select(0, 2)), 1e-4);
}

TEST(AwdLstm, TakesARowByItsOwnTokensWhateverStandsAboveIt) {
  const auto model = make_model(small, text_context());
  const auto texts = three_texts();
  const at::NoGradGuard no_grad;
  const auto order = at::tensor({2, 0, 1}, at::kLong);
  EXPECT_LT(largest_difference(model->forward(texts.index_select(0, order), {}),
                               model->forward(texts, {}).index_select(0, order)),
            1e-6);
}

void expect_padding_refused(const Rows& rows) {
  const auto model = make_model(small, text_context());
  try {
    model->forward(tokens(rows), {.training = true});
    FAIL() << "rows that are padded otherwise were taken";
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("write 'data.padding: {side: chunks, chunk: 4}'"));
  }
}

TEST(AwdLstm, LearnsFromTextsPaddedInWholeSegmentsAlone) {
  expect_padding_refused({{2, 3, 4, 5, 6, 7, 8}, {1, 1, 4, 5, 6, 7, 8}});
  expect_padding_refused({{2, 3, 4, 5, 6, 7, 8}, {2, 3, 1, 1, 1, 1, 1}});
}

TEST(AwdLstm, GivesFiniteNumbersForTextsWithoutTokensAndForNoTexts) {
  const auto model = make_model(small, text_context());
  const at::NoGradGuard no_grad;
  EXPECT_TRUE(model->forward(at::full({2, 9}, 1, at::kLong), {}).isfinite().all().item<bool>());
  EXPECT_EQ(model->forward(at::full({0, 9}, 1, at::kLong), {}).size(0), 0);
  EXPECT_EQ(model->forward(at::full({0, 0}, 1, at::kLong), {}).size(0), 0);
}

TEST(AwdLstm, DropsWeightsAndTokensWithTheShareOfTheRecipeTimesDropMult) {
  const json shares = {{"drop_mult", 0.5}, {"weight_p", 0.6}, {"embed_p", 0.2},
                       {"input_p", 0},     {"hidden_p", 0},   {"output_p", 0}};
  const auto with_dropout = make_model(with(small, shares), text_context());
  const auto plain = make_model(small, text_context());
  const Pass pass{.training = true, .seed = 3, .step = 5};
  EXPECT_GT(largest_difference(with_dropout->forward(three_texts(), pass),
                               plain->forward(three_texts(), pass)),
            1e-4);
  const auto like = at::full({400, 300}, 0.0);
  const auto kept = shared_mask(like, {"rnn", 0, 0.3}, pass);
  EXPECT_NEAR(kept.eq(0).to(at::kDouble).mean().item<double>(), 0.3, 0.004);  // three deviations
  EXPECT_NEAR(kept.max().item<double>(), 1 / 0.7, 1e-6);
}

TEST(RnnDropout, StaysOverTimeAndChangesFromSegmentToSegment) {
  RnnDropout dropout(0.5);
  const Pass pass{.training = true, .seed = 3, .step = 5, .first_row = 7};
  const auto x = at::full({4, 6, 40}, 1.0);
  const auto first = dropout.drop(x, {0, 4, {}}, pass);
  EXPECT_TRUE(first.select(1, 0).equal(first.select(1, 5)));
  EXPECT_FALSE(first.select(0, 0).equal(first.select(0, 1)));
  EXPECT_FALSE(first.equal(dropout.drop(x, {1, 4, {}}, pass)));
}

TEST(RnnDropout, FollowsFromTheRowInTheGlobalBatch) {
  RnnDropout dropout(0.5);
  const Pass whole{.training = true, .seed = 3, .step = 5, .first_row = 7};
  auto cut = whole;
  cut.first_row = 9;
  const auto x = at::full({4, 6, 40}, 1.0);
  const auto all = dropout.drop(x, {2, 4, {}}, whole);
  EXPECT_TRUE(all.narrow(0, 2, 2).equal(dropout.drop(x.narrow(0, 0, 2), {2, 2, {}}, cut)));
  const auto rows = at::tensor({1, 3}, at::kLong);
  EXPECT_TRUE(
      all.index_select(0, rows).equal(dropout.drop(x.index_select(0, rows), {2, 4, rows}, whole)));
}

TEST(SharedMask, IsTheSameForAllRowsAndAnotherForEachSegmentAndStep) {
  const auto like = at::full({20, 30}, 0.0);
  const Pass pass{.training = true, .seed = 3, .step = 5};
  auto other_rows = pass, other_step = pass;
  other_rows.first_row = 9;
  other_step.step = 6;
  const auto mask = shared_mask(like, {"rnn", 0, 0.5}, pass);
  EXPECT_TRUE(mask.equal(shared_mask(like, {"rnn", 0, 0.5}, other_rows)));
  EXPECT_FALSE(mask.equal(shared_mask(like, {"rnn", 0, 0.5}, other_step)));
  EXPECT_FALSE(mask.equal(shared_mask(like, {"rnn", 1, 0.5}, pass)));
  EXPECT_FALSE(mask.equal(shared_mask(like, {"other", 0, 0.5}, pass)));
}

TEST(AwdLstm, SaysWhatDoesNotFit) {
  const auto message_of = [](const json& more) { return test::refused<Model>(with(small, more)); };
  EXPECT_EQ(message_of({{"max_len", 3}}), "bptt: 'bptt: 4' is above 'max_len: 3'\n");
  EXPECT_EQ(message_of({{"bidir", true}, {"n_hid", 7}}),
            "bidir: 'bidir: true' needs an even 'n_hid'; it is 7\n");
  EXPECT_EQ(message_of({{"ps", {0.1, 0.2}}}), "ps: 'ps' has 2 items, and 'lin_ftrs' has 1 item\n");
  EXPECT_EQ(message_of({{"drop_mult", 2.5}, {"weight_p", 0.4}}), "") << "2.5 times 0.4 is 1";
  EXPECT_EQ(message_of({{"drop_mult", 2.5}}),
            "drop_mult: 'drop_mult: 2.5' times 'weight_p: 0.5' (the default) is above 1\n");
  EXPECT_EQ(message_of({{"y_range", {2, 1}}}), "y_range[1]: 1 is below the number before it, 2\n");
  EXPECT_EQ(message_of({{"y_range", {1, 1}}}), "y_range[1]: 1 is not above the number before it\n");
  ModelContext images;
  images.data.sample = {3, 32, 32};
  expect_refused(with(small, {{"num_classes", 2}}),
                 "model: awd_lstm wants texts (data: {type: text_folder})", images);
}

}  // namespace
}  // namespace ddptrain
