// Rows of saved tensors to those of a model, by the names that file and data give them.
#include "train/transfer/row_names.h"

#include <ATen/CPUGeneratorImpl.h>
#include <ATen/ops/allclose.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/equal.h>
#include <ATen/ops/tensor.h>
#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include "base/error.h"
#include "models/model.h"
#include "support/node.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;
using Names = std::vector<std::string>;

std::unique_ptr<Model> model_of(const json& recipe, const DataFacts& data) {
  ModelContext context;
  context.data = data;
  context.generator = at::make_generator<at::CPUGeneratorImpl>(3);
  return catalog<Model>().build(fragment<Model>(recipe), context);
}

const EntryBase& entry_named(const std::string& type) { return *catalog<Model>().find(type); }

/// Every tensor a ramp, as a file would have it.
std::vector<NamedTensor> ramps_of(const Model& model) {
  std::vector<NamedTensor> saved;
  for (const auto& [name, tensor] : model.state())
    saved.push_back(
        {name,
         at::arange(tensor.numel(), at::kDouble).to(tensor.scalar_type()).view(tensor.sizes())});
  return saved;
}

at::Tensor tensor_in(const std::vector<NamedTensor>& tensors, const std::string& name) {
  for (const auto& named : tensors)
    if (named.name == name) return named.tensor;
  ADD_FAILURE() << "no " << name;
  return {};
}

const TransferGroup& group_in(const Matched& found, const std::string& what) {
  for (const auto& group : found.groups)
    if (group.what == what) return group;
  throw std::runtime_error("no group " + what);
}

DataFacts table_facts(const std::vector<std::int64_t>& values, std::int64_t numbers) {
  DataFacts facts;
  facts.cardinalities = values;
  facts.sample = {numbers};
  facts.classes = {"no", "yes"};
  return facts;
}

RowNames table_names(std::vector<NamedColumn> columns, Names numbers, Names outputs) {
  RowNames names;
  names.fitted.columns = std::move(columns);
  names.fitted.numbers = std::move(numbers);
  names.outputs = std::move(outputs);
  return names;
}

const json kSmallTabular{{"type", "tabular"}, {"layers", {4}}, {"embedding_sizes", {2, 2}}};

TEST(RowsByName, OfATableFollowColumnsCategoriesNumbersAndClasses) {
  const auto there = table_names({{"city", {"#na#", "Oslo", "Rome"}}, {"color", {"#na#", "red"}}},
                                 {"area", "year"}, {"no", "yes"});
  const auto here = table_names({{"color", {"#na#", "red"}}, {"city", {"#na#", "Rome", "Oslo"}}},
                                {"year", "area"}, {"yes", "no"});
  const auto before = model_of(kSmallTabular, table_facts({3, 2}, 2));
  const auto model = model_of(kSmallTabular, table_facts({2, 3}, 2));
  auto saved = ramps_of(*before);
  const auto first = tensor_in(saved, "layers.0.0.weight");  // [4, 6]: city 2, color 2, area, year
  const auto city = tensor_in(saved, "embeds.0.weight"),
             last = tensor_in(saved, "layers.1.0.weight");
  const auto found = match_rows_by_name(saved, there, here, {*model, entry_named("tabular")});
  EXPECT_TRUE(at::equal(tensor_in(saved, "embeds.1.weight"),
                        city.index_select(0, at::tensor(std::vector<std::int64_t>{0, 2, 1}))));
  EXPECT_TRUE(
      at::equal(tensor_in(saved, "layers.0.0.weight"),
                first.index_select(1, at::tensor(std::vector<std::int64_t>{2, 3, 0, 1, 5, 4}))));
  EXPECT_TRUE(
      at::equal(tensor_in(saved, "bn_cont.running_mean"), at::tensor(std::vector<float>{1, 0})));
  EXPECT_TRUE(at::equal(tensor_in(saved, "layers.1.0.weight"), last.flip(0)));
  EXPECT_EQ(group_in(found, "column 'city'").moved, 2);
  EXPECT_EQ(group_in(found, "column 'color'").copied, 2);
  EXPECT_EQ(group_in(found, "classes").moved, 2);
  EXPECT_EQ(group_in(found, "inputs of the first layer").moved, 6);
}

TEST(RowsByName, OfColumnsWithoutACounterpartAreTheModelsOwn) {
  const auto there = table_names({{"city", {"#na#", "Oslo", "Rome"}}, {"size", {"#na#", "big"}}},
                                 {}, {"no", "yes"});
  const auto here = table_names({{"city", {"#na#", "Oslo", "Rome"}}, {"color", {"#na#", "red"}}},
                                {}, {"no", "yes"});
  const auto model = model_of(kSmallTabular, table_facts({3, 2}, 0));
  auto saved = ramps_of(*model);
  const auto own = tensor_in(model->state(), "layers.0.0.weight").detach();
  const auto first = tensor_in(saved, "layers.0.0.weight");
  const auto found = match_rows_by_name(saved, there, here, {*model, entry_named("tabular")});
  EXPECT_THAT(found.absent, ElementsAre("embeds.1.weight"));
  const auto made = tensor_in(saved, "layers.0.0.weight");
  EXPECT_TRUE(at::equal(made.narrow(1, 0, 2), first.narrow(1, 0, 2)));
  EXPECT_TRUE(at::equal(made.narrow(1, 2, 2), own.narrow(1, 2, 2)));
  EXPECT_EQ(group_in(found, "column 'color'").initialized, 2);
  EXPECT_EQ(group_in(found, "column 'size'").dropped, 2);
}

TEST(RowsByName, OfALinearSkipFollowColumnsAndNumbers) {
  auto recipe = kSmallTabular;
  recipe["linear_skip"] = true;
  const NamedColumn city{"city", {"#na#", "Oslo", "Rome"}}, color{"color", {"#na#", "red"}};
  const auto there = table_names({city, color}, {"area", "year"}, {"no", "yes"});
  const auto here = table_names({city, color}, {"year", "rooms"}, {"no", "yes"});
  const auto model = model_of(recipe, table_facts({3, 2}, 2));
  auto saved = ramps_of(*model);
  const auto before = tensor_in(saved, "skip.weight");  // [2, 6]: city 2, color 2, area, year
  match_rows_by_name(saved, there, here, {*model, entry_named("tabular")});
  const auto after = tensor_in(saved, "skip.weight");
  EXPECT_TRUE(at::equal(after.narrow(1, 0, 4), before.narrow(1, 0, 4)));
  EXPECT_TRUE(at::equal(after.select(1, 4), before.select(1, 5)));
  EXPECT_TRUE(at::equal(after.select(1, 5), at::zeros({2})));  // as it starts
}

// fastai's rule gives a column of more categories a wider embedding.
TEST(RowsByName, OfAnotherWidthAreTheModelsOwn) {
  const json recipe{{"type", "tabular"}, {"layers", {4}}};
  const auto there = table_names({{"city", {"#na#", "a", "b"}}}, {}, {"no", "yes"});
  const auto here = table_names({{"city", {"#na#", "a", "b", "c", "d"}}}, {}, {"no", "yes"});
  const auto before = model_of(recipe, table_facts({3}, 0)),
             model = model_of(recipe, table_facts({5}, 0));
  auto saved = ramps_of(*before);
  const auto found = match_rows_by_name(saved, there, here, {*model, entry_named("tabular")});
  EXPECT_THAT(found.absent, ElementsAre("embeds.0.weight"));
  EXPECT_THAT(group_in(found, "column 'city'").note,
              HasSubstr("embeddings are [3, 3] there and [5, 4] here"));
  EXPECT_EQ(misfit(take_weights(saved, model->state(), found.output_layers, found.absent)), "");
}

// Users and items are what they are by their place, however their columns are called.
TEST(RowsByName, OfUsersAndItemsMatchWhateverTheirColumnsAreCalled) {
  const auto there =
      table_names({{"user", {"#na#", "u1", "u2"}}, {"film", {"#na#", "f1"}}}, {}, {});
  const auto here =
      table_names({{"userId", {"#na#", "u2", "u3"}}, {"movieId", {"#na#", "f1"}}}, {}, {});
  auto facts = table_facts({3, 2}, 0);
  facts.classes.clear();
  facts.numbers = 1;
  for (const std::string type : {"embedding_dot_bias", "collab_nn"}) {
    const auto model = model_of({{"type", type}}, facts);
    auto saved = ramps_of(*model);
    const auto name = type == "collab_nn" ? "embeds.0.weight" : "u_weight.weight";
    const auto users = tensor_in(saved, name);
    const auto found = match_rows_by_name(saved, there, here, {*model, entry_named(type)});
    const auto made = tensor_in(saved, name);
    EXPECT_TRUE(at::equal(made.select(0, 0), users.select(0, 0))) << type;
    EXPECT_TRUE(at::equal(made.select(0, 1), users.select(0, 2))) << type;
    EXPECT_TRUE(at::allclose(made.select(0, 2), users.mean(0))) << type;
    EXPECT_EQ(group_in(found, "column 'userId'").fresh_names, Names{"u3"});
    EXPECT_EQ(misfit(take_weights(saved, model->state(), found.output_layers, found.absent)), "");
  }
}

TEST(RowsByName, WithoutNamesStayRowByRowAndSaySo) {
  DataFacts facts;
  facts.cardinalities = {4};
  facts.padding = 0;
  facts.classes = {"no", "yes"};
  const json recipe{{"type", "bag_of_embeddings"}, {"dim", 2}};
  const auto model = model_of(recipe, facts);
  RowNames here;
  here.fitted.columns = {{"", {"xxpad", "a", "b", "c"}, true}};
  here.outputs = facts.classes;
  auto saved = ramps_of(*model);
  const auto found =
      match_rows_by_name(saved, {}, here, {*model, entry_named("bag_of_embeddings")});
  EXPECT_EQ(group_in(found, "words").note, "row by row: the file names no words");
  EXPECT_EQ(group_in(found, "words").copied, 4);
  EXPECT_EQ(group_in(found, "classes").note, "row by row: the file names no classes");
  facts.cardinalities = {6};
  auto longer = ramps_of(*model_of(recipe, facts));
  const auto misfits =
      match_rows_by_name(longer, {}, here, {*model, entry_named("bag_of_embeddings")});
  EXPECT_EQ(misfits.hint,
            "'embedding.weight' has a row for each of the words, and the file does not name its "
            "own: write the file that lists them in 'model.weights.words'");
  EXPECT_EQ(group_in(misfits, "words").initialized, 4);
}

TEST(RowsByName, OfFewerRowsThanNamesAreRefused) {
  DataFacts facts;
  facts.cardinalities = {3};
  facts.padding = 0;
  facts.classes = {"no", "yes"};
  const auto model = model_of({{"type", "bag_of_embeddings"}, {"dim", 2}}, facts);
  RowNames there, here;
  there.fitted.columns = {{"", {"a", "b", "c", "d"}, true}};
  here.fitted.columns = {{"", {"a", "b", "c"}, true}};
  auto saved = ramps_of(*model);
  EXPECT_THAT(
      [&] {
        match_rows_by_name(saved, there, here, {*model, entry_named("bag_of_embeddings")});
      },
      testing::ThrowsMessage<Error>(HasSubstr("4 names for the rows of 'embedding.weight'")));
}

// Hashed runs keep their rows: a word brings its code. A file of before there were codes has the
// words' numbers for them.
TEST(RowsByName, OfRunsOfWordsFollowTheCodesOfTheWords) {
  DataFacts facts;
  facts.cardinalities = {3};
  facts.padding = 0;
  facts.classes = {"no", "yes"};
  const auto model =
      model_of({{"type", "bag_of_embeddings"}, {"dim", 1}, {"ngrams", 2}, {"buckets", 5}}, facts);
  RowNames there, here;
  there.fitted.columns = {{"", {"xxpad", "a", "b"}, true}};
  here.fitted.columns = {{"", {"xxpad", "b", "new"}, true}};
  auto saved = ramps_of(*model);
  std::erase_if(saved, [](const auto& named) { return named.name == "embedding.codes"; });
  match_rows_by_name(saved, there, here, {*model, entry_named("bag_of_embeddings")});
  EXPECT_TRUE(at::equal(tensor_in(saved, "embedding.codes").flatten(),
                        at::tensor(std::vector<std::int64_t>{0, 2, 3})));
  EXPECT_TRUE(at::equal(tensor_in(saved, "embedding.weight").flatten(),
                        at::tensor(std::vector<float>{0, 2, 1, 3, 4, 5, 6, 7})));
}

TEST(RowsByName, OfBothHeadsOfASegmentationFollowTheClasses) {
  DataFacts facts;
  facts.classes = {"sky", "road"};
  facts.mask = MaskFacts{2, {}};
  facts.sample = {3, 64, 64};
  const auto model = model_of({{"type", "fcn"}, {"body", "resnet18"}, {"aux_loss", 0.4}}, facts);
  auto saved = ramps_of(*model);
  const auto found =
      match_rows_by_name(saved, table_names({}, {}, {"road", "sky"}),
                         table_names({}, {}, {"sky", "road"}), {*model, entry_named("fcn")});
  for (const std::string head : {"classifier.4.bias", "aux_classifier.4.bias"})
    EXPECT_TRUE(at::equal(tensor_in(saved, head), at::tensor(std::vector<float>{1, 0}))) << head;
  EXPECT_EQ(group_in(found, "classes").moved, 2);
}

TEST(RowsByName, OfALastLayerWithABatchNormMoveTogether) {
  auto recipe = kSmallTabular;
  recipe["bn_final"] = true;
  const auto model = model_of(recipe, table_facts({3, 2}, 0));
  const std::vector<NamedColumn> columns{{"a", {"#na#", "x", "y"}}, {"b", {"#na#", "x"}}};
  auto saved = ramps_of(*model);
  const auto last = tensor_in(saved, "layers.1.0.weight");
  match_rows_by_name(saved, table_names(columns, {}, {"yes", "no"}),
                     table_names(columns, {}, {"no", "yes"}), {*model, entry_named("tabular")});
  EXPECT_TRUE(at::equal(tensor_in(saved, "layers.1.0.weight"), last.flip(0)));
  EXPECT_TRUE(
      at::equal(tensor_in(saved, "layers.1.1.running_mean"), at::tensor(std::vector<float>{1, 0})));
}

TEST(RowsByName, OfOtherClassesAltogetherAreTheModelsOwn) {
  const auto model = model_of(kSmallTabular, table_facts({3, 2}, 0));
  auto saved = ramps_of(*model);
  const auto found =
      match_rows_by_name(saved, table_names({}, {}, {"p", "q"}), table_names({}, {}, {"no", "yes"}),
                         {*model, entry_named("tabular")});
  EXPECT_THAT(found.absent, ElementsAre("layers.1.0"));
  EXPECT_EQ(group_in(found, "classes").dropped_names, (Names{"p", "q"}));
}

RowNames words_of_texts(Names words, FittedTokenizer tokenizer = {}) {
  RowNames names;
  names.fitted.columns = {{"", std::move(words), true}};
  names.fitted.tokenizer = std::move(tokenizer);
  return names;
}

TEST(TokenizerWarnings, NameTheOptionsThatDiffer) {
  const auto there = words_of_texts({"a"}, {"1", {{"type", "fastai"}, {"split", "spaces"}}});
  const auto here = words_of_texts({"a"}, {"2", {{"type", "fastai"}, {"split", "words"}}});
  EXPECT_THAT(tokenizer_warnings(there, here),
              ElementsAre(HasSubstr("another tokenizer (split: spaces there, words here)")));
  EXPECT_TRUE(tokenizer_warnings(here, here).empty());
}

TEST(TokenizerWarnings, LookAtWordsWithoutOptions) {
  const Names fastai{"xxunk", "xxpad", "xxbos", "the", "film"};
  EXPECT_TRUE(tokenizer_warnings(words_of_texts(fastai), words_of_texts(fastai)).empty());
  EXPECT_THAT(
      tokenizer_warnings(words_of_texts({"[PAD]", "[UNK]", "the", "film"}), words_of_texts(fastai)),
      ElementsAre(HasSubstr("none of this tokenizer's special tokens 'xxunk', 'xxpad', "
                            "'xxbos', and others: '[PAD]', '[UNK]'")));
  EXPECT_THAT(tokenizer_warnings(words_of_texts({"der", "Film"}), words_of_texts({"The", "film"})),
              ElementsAre(HasSubstr("only 0 of 2 words here are among the 2 of the weights")));
  EXPECT_THAT(tokenizer_warnings(words_of_texts({"the", "film"}), words_of_texts({"The", "film"})),
              ElementsAre(HasSubstr("all are in lower case, and 1 of 2 words here are not")));
}

}  // namespace
}  // namespace ddptrain
