#include <ATen/core/grad_mode.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/full.h>
#include <ATen/ops/randint.h>
#include <ATen/ops/tensor.h>
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>

#include "base/error.h"
#include "models/layer_groups.h"
#include "models/texts.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using namespace test;
using testing::ElementsAre;
using testing::HasSubstr;

const json kSmallGpt2 = {{"type", "gpt2"},  {"n_embd", 24},      {"n_layer", 2},
                         {"n_head", 3},     {"n_positions", 64}, {"embd_pdrop", 0},
                         {"attn_pdrop", 0}, {"resid_pdrop", 0}};

ModelContext tokens_of(std::int64_t vocabulary) {
  ModelContext context;
  context.data.cardinalities = {vocabulary};
  context.generator = seeded(3);
  return context;
}

std::unique_ptr<Model> gpt2(const json& options = json::object(),
                            at::ScalarType type = at::kDouble) {
  auto model = make_model(with(kSmallGpt2, options), tokens_of(50));
  model->to(at::kCPU, type);
  return model;
}

at::Tensor some_tokens(std::vector<std::int64_t> sizes, std::uint64_t seed) {
  return at::randint(50, sizes, seeded(seed), at::kLong);
}

/// A block [1, time] of documents: tokens and positions.
std::vector<at::Tensor> block_of(const std::vector<at::Tensor>& documents) {
  std::vector<at::Tensor> positions;
  for (const auto& document : documents) positions.push_back(at::arange(document.size(0)));
  return {at::cat(documents).unsqueeze(0), at::cat(positions).unsqueeze(0)};
}

/// A document of 11 tokens at different places of a block of 47 tokens, among others.
TEST(Gpt2, ADocumentIsTheSameToTheLastBitWhereverItStands) {
  const at::NoGradGuard no_grad;
  const auto document = some_tokens({11}, 7);
  for (const auto type : {at::kFloat, at::kDouble})
    for (const std::int64_t width : {24, 60, 96, 256}) {
      const auto model = gpt2({{"n_embd", width}, {"n_head", 4}, {"n_inner", 3 * width + 7}}, type);
      at::Tensor first;
      for (const std::int64_t before : {0, 1, 5, 16, 30, 36}) {
        const auto rest = 36 - before;
        std::vector<at::Tensor> documents;
        if (before > 3) documents.push_back(some_tokens({before - 3}, 20));
        if (before > 0) documents.push_back(some_tokens({std::min<std::int64_t>(before, 3)}, 21));
        documents.push_back(document);
        if (rest > 0) documents.push_back(some_tokens({rest}, 22));
        const auto hidden = model->run(block_of(documents), {}).narrow(1, before, 11);
        if (!first.defined()) first = hidden;
        EXPECT_TRUE(first.equal(hidden))
            << width << ", " << before << ": " << largest_difference(first, hidden);
      }
    }
}

TEST(Gpt2, ReadsADocumentOfABlockAsItWouldAlone) {
  const at::NoGradGuard no_grad;
  const auto model = gpt2();
  const auto a = some_tokens({9}, 1), b = some_tokens({1}, 2), c = some_tokens({20}, 3);
  const auto hidden = model->run(block_of({a, b, c}), {});
  EXPECT_LT(largest_difference(hidden.narrow(1, 10, 20), model->forward(c.unsqueeze(0), {})),
            1e-12);
  EXPECT_LT(largest_difference(hidden.narrow(1, 9, 1), model->forward(b.unsqueeze(0), {})), 1e-12);
}

std::vector<at::Tensor> gradients_of(Model& model, const std::vector<at::Tensor>& inputs,
                                     const Pass& pass) {
  std::vector<at::Tensor> all;
  for (const auto& [name, tensor] : model.named_parameters()) tensor.mutable_grad() = at::Tensor();
  const auto hidden = model.run(inputs, pass);
  project(hidden, model.projection()).square().mean().backward();
  all.push_back(hidden.detach());
  for (const auto& [name, tensor] : model.named_parameters()) all.push_back(tensor.grad());
  return all;
}

TEST(Gpt2, RecomputedBlocksGiveTheSameGradientsToTheLastBit) {
  const auto model =
      gpt2({{"embd_pdrop", 0.2}, {"attn_pdrop", 0.2}, {"resid_pdrop", 0.2}}, at::kFloat);
  const std::vector<std::vector<at::Tensor>> batches{
      {some_tokens({3, 20}, 4)}, block_of({some_tokens({9}, 1), some_tokens({30}, 2)})};
  for (const auto& inputs : batches) {
    auto pass = training(5, 2);
    const auto kept = gradients_of(*model, inputs, pass);
    pass.recompute = true;
    const auto again = gradients_of(*model, inputs, pass);
    for (std::size_t i = 0; i < kept.size(); ++i) EXPECT_TRUE(kept[i].equal(again[i])) << i;
  }
}

TEST(Gpt2, DropsByTheRowOfTheGlobalBatch) {
  const at::NoGradGuard no_grad;
  const auto model = gpt2({{"embd_pdrop", 0.2}, {"attn_pdrop", 0.2}, {"resid_pdrop", 0.2}});
  const auto tokens = some_tokens({4, 20}, 4);
  const auto whole = model->forward(tokens, training(5, 2));
  const auto cut = model->forward(tokens.narrow(0, 1, 3), training(5, 3));
  EXPECT_LT(largest_difference(whole.narrow(0, 1, 3), cut), 1e-12);
  EXPECT_GT(largest_difference(whole, model->forward(tokens, {})), 1e-3);
}

/// Further tokens of all sequences: sequence i reads `tokens[i]`.
Continuation next_of(const std::vector<at::Tensor>& tokens,
                     const std::vector<std::int64_t>& sequences) {
  Continuation next{at::cat(tokens), sequences, {}};
  for (const auto& own : tokens) next.counts.push_back(own.size(0));
  return next;
}

TEST(Gpt2, ExtendsToWhatTheWholeTextGives) {
  const auto model = gpt2();
  const auto text = some_tokens({30}, 5);
  const auto whole = model->forward(text.unsqueeze(0), {})[0];
  const auto memory = model->make_memory();
  memory->begin(1, 30);
  std::int64_t read = 0;
  for (const std::int64_t count : {7, 1, 1, 12, 9}) {
    const auto hidden = model->extend(next_of({text.narrow(0, read, count)}, {0}), *memory);
    read += count;
    EXPECT_EQ(memory->length(0), read);
    EXPECT_LT(largest_difference(hidden[0], whole[read - 1]), 1e-12) << read;
  }
}

TEST(Gpt2, ASequenceIsTheSameToTheLastBitWhateverTheOthersAre) {
  for (const auto type : {at::kFloat, at::kDouble})
    for (const std::int64_t width : {24, 60, 256}) {
      const auto model = gpt2({{"n_embd", width}, {"n_head", 4}, {"n_inner", 3 * width + 7}}, type);
      const auto alone = model->make_memory(), together = model->make_memory();
      alone->begin(1, 20);
      together->begin(5, 40);
      const auto prompt = some_tokens({6}, 1);
      std::vector<at::Tensor> prompts;
      for (const std::int64_t length : {3, 1, 6, 17, 2})
        prompts.push_back(length == 6 ? prompt : some_tokens({length}, 9));
      auto own = model->extend(next_of({prompt}, {0}), *alone)[0];
      auto among = model->extend(next_of(prompts, {0, 1, 2, 3, 4}), *together)[2];
      EXPECT_TRUE(own.equal(among)) << width;
      for (std::uint64_t step = 0; step < 8; ++step) {
        const auto token = some_tokens({1}, 30 + step), other = some_tokens({1}, 60 + step);
        own = model->extend(next_of({token}, {0}), *alone)[0];
        among = model->extend(next_of({other, token, other}, {4, 2, 0}), *together)[1];
        EXPECT_TRUE(own.equal(among)) << width << ", step " << step;
      }
    }
}

TEST(Gpt2, ForgetsCopiesAndRestoresWhatItRead) {
  const auto model = gpt2();
  const auto memory = model->make_memory(), other = model->make_memory();
  memory->begin(2, 20);
  other->begin(1, 30);
  const auto text = some_tokens({9}, 5);
  model->extend(next_of({text.narrow(0, 0, 8)}, {0}), *memory);
  memory->copy(0, 1);
  other->load(0, memory->save(0));
  const auto last = text.narrow(0, 8, 1);
  const auto expected = model->extend(next_of({last}, {0}), *memory)[0];
  EXPECT_TRUE(expected.equal(model->extend(next_of({last}, {1}), *memory)[0]));
  EXPECT_TRUE(expected.equal(model->extend(next_of({last}, {0}), *other)[0]));
  memory->cut(0, 8);
  EXPECT_TRUE(expected.equal(model->extend(next_of({last}, {0}), *memory)[0]));
  memory->begin(1, 5);
  EXPECT_EQ(memory->length(0), 0);
}

void expect_error(const std::function<void()>& act, const std::string& part) {
  try {
    act();
    FAIL() << "expected: " << part;
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr(part));
  }
}

TEST(Gpt2, RefusesWhatItHasNoVectorFor) {
  const auto model = gpt2();
  expect_error(
      [&] {
        model->forward(at::full({1, 65}, 1, at::kLong), {});
      },
      "model.n_positions: the model reads 64 tokens at most, and a row has 65; write "
      "shorter blocks or a larger number");
  expect_error(
      [&] {
        model->forward(at::full({1, 3}, 50, at::kLong), {});
      },
      "the data have token 50, and the model has those from 0 to 49");
  expect_error([&] { model->forward(at::full({1, 3}, -1, at::kLong), {}); }, "token -1");
  expect_error(
      [&] {
        model->run({at::full({1, 2}, 1, at::kLong), at::full({1, 2}, 64, at::kLong)}, {});
      },
      "the data have position 64, and the model has those from 0 to 63");
  expect_error([&] { model->make_memory()->begin(1, 65); },
               "the model reads 64 tokens at most, not 65");
  expect_error(
      [] {
        make_model(with(kSmallGpt2, {{"vocabulary", 49}}), tokens_of(50));
      },
      "model.vocabulary: the data have 50 tokens, more than 49");
  ModelContext images;
  images.data.sample = {3, 8, 8};
  expect_error([&] { make_model(kSmallGpt2, images); }, "gpt2 continues texts");
}

TEST(Gpt2, MayHaveMoreVectorsThanTheDataHaveTokens) {
  const auto model = make_model(with(kSmallGpt2, {{"vocabulary", 64}}), tokens_of(50));
  EXPECT_EQ(model->projection().weight.size(0), 64);
}

TEST(Gpt2, TakesNoRows) {
  const auto model = gpt2({{"attn_pdrop", 0.1}});
  for (const bool trains : {false, true}) {
    const auto hidden = model->forward(at::full({0, 5}, 1, at::kLong), {.training = trains});
    EXPECT_EQ(hidden.sizes(), (std::vector<std::int64_t>{0, 5, 24}));
  }
  const auto none = at::full({0, 5}, 1, at::kLong);
  EXPECT_EQ(model->run({none, none}, {}).size(0), 0);
}

TEST(Gpt2, HasTheEmbeddingsEachBlockAndTheHeadAsLayerGroups) {
  const auto groups = layer_groups(*gpt2());
  ASSERT_EQ(groups.size(), 4U);
  EXPECT_THAT(groups[0], ElementsAre("transformer.wte.weight", "transformer.wpe.weight"));
  EXPECT_EQ(groups[1].front(), "transformer.h.0.ln_1.weight");
  EXPECT_THAT(groups[3], ElementsAre("transformer.ln_f.weight", "transformer.ln_f.bias"));
  const auto untied = layer_groups(*gpt2({{"tie_word_embeddings", false}}));
  EXPECT_EQ(untied[3].back(), "lm_head.weight");
}

// transformers 5.23: torch.manual_seed(3), GPT2LMHeadModel of this configuration; the last number
// of each weight and its norm.
TEST(Gpt2, BeginsWithTheWeightsOfTransformers) {
  struct First {
    std::string name;
    double last, norm;
  };
  const std::vector<First> all{
      {"transformer.wte.weight", 0.014053652063012123, 0.7046821720647046},
      {"transformer.wpe.weight", -0.009765206836163998, 0.7440277776347918},
      {"transformer.h.0.attn.c_attn.weight", -0.038074322044849396, 0.83782577047384},
      {"transformer.h.0.attn.c_proj.weight", 0.016722645610570908, 0.25894077201897076},
      {"transformer.h.1.mlp.c_proj.weight", 0.0045115528628230095, 0.47944906572786633},
      {"lm_head.weight", -0.022994205355644226, 0.7028105099383233}};
  const auto model = gpt2({{"tie_word_embeddings", false}}, at::kFloat);
  for (const auto& [name, last, norm] : all) {
    const auto weight = find(model->state(), name).detach().to(at::kDouble);
    EXPECT_NEAR(weight.flatten()[-1].item<double>(), last, 1e-8) << name;
    EXPECT_NEAR(weight.norm().item<double>(), norm, 1e-6) << name;
  }
  const auto tied =
      find(gpt2(json::object(), at::kFloat)->state(), "transformer.h.1.mlp.c_proj.weight");
  EXPECT_NEAR(tied.flatten()[-1].item<double>(), 0.0045115528628230095, 1e-8);
}

}  // namespace
}  // namespace ddptrain
