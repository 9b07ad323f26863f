#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <cmath>
#include <filesystem>

#include "base/error.h"
#include "data/text_data.h"
#include "support/unreadable.h"
#include "support/where.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using Words = std::vector<std::string>;
using Ids = std::vector<std::int64_t>;

std::string complaint(const json& recipe, const DataContext& context = {}) {
  try {
    make_texts(recipe, context);
  } catch (const Error& error) {
    return error.what();
  }
  return "nothing";
}

TEST(TextFolder, NumbersTextsByTheWordsOfTheTrainingTexts) {
  const TemporaryFolder folder;
  write_reviews(folder);
  const auto data = make_texts(text_recipe(folder));
  EXPECT_EQ(data->size(Split::train), 4);
  EXPECT_EQ(data->size(Split::valid), 2);
  EXPECT_EQ(data->facts().classes, (Words{"neg", "pos"}));
  EXPECT_EQ(data->facts().padding, 1);
  EXPECT_EQ(data->facts().cardinalities.at(0) % 8, 0);
  EXPECT_EQ(words_of(*data, Split::train, 0),
            (Words{"xxbos", "bad", "bad", "film", "it", "was", "a", "bad", "film"}));
  EXPECT_EQ(words_of(*data, Split::valid, 0), (Words{"xxbos", "bad", "xxunk"}));
  EXPECT_EQ(data->label(Split::valid, 1), 1);
  EXPECT_EQ(data->sample_name(Split::valid, 1), "valid/pos/0.txt");
  EXPECT_EQ(data->length(Split::valid, 1), 6);
  // The commonest first (film 5, a 4, bad 3, good 3), of equally common ones the first met.
  const auto tokens = json::parse(data->state()).at("vocabulary");
  EXPECT_EQ(tokens.at(9), "film");
  EXPECT_EQ(tokens.at(10), "a");
  EXPECT_EQ(tokens.at(11), "bad");
  EXPECT_EQ(tokens.at(12), "good");
}

TEST(TextFolder, FillsRowsUpOnTheSideThatIsAsked) {
  const TemporaryFolder folder;
  write_reviews(folder);
  auto recipe = text_recipe(folder);
  const auto row = ids_of(*make_texts(recipe), Split::train, 2);
  ASSERT_EQ(row.size(), 3);
  EXPECT_EQ(ids_of(*make_texts(recipe), Split::train, 2, 5), (Ids{row[0], row[1], row[2], 1, 1}));
  recipe["padding"] = "first";
  EXPECT_EQ(ids_of(*make_texts(recipe), Split::train, 2, 5), (Ids{1, 1, row[0], row[1], row[2]}));
  recipe["padding"] = {{"side", "last"}, {"multiple", 4}};
  EXPECT_EQ(ids_of(*make_texts(recipe), Split::train, 2, 3), (Ids{row[0], row[1], row[2], 1}));
}

TEST(TextFolder, ReadsADocumentFromItsEnd) {
  const TemporaryFolder folder;
  write_reviews(folder);
  auto recipe = text_recipe(folder);
  const auto row = ids_of(*make_texts(recipe), Split::train, 2);
  recipe["backwards"] = true;
  EXPECT_EQ(ids_of(*make_texts(recipe), Split::train, 2), (Ids{row[2], row[1], row[0]}));
  recipe["padding"] = "first";
  EXPECT_EQ(ids_of(*make_texts(recipe), Split::train, 2, 5), (Ids{1, 1, row[2], row[1], row[0]}));
}

TEST(TextFolder, CutsOffWhatIsTooLong) {
  const TemporaryFolder folder;
  write_reviews(folder);
  auto recipe = text_recipe(folder);
  recipe["max_length"] = 3;
  EXPECT_EQ(words_of(*make_texts(recipe), Split::train, 0), (Words{"xxbos", "bad", "bad"}));
  recipe["truncate"] = "start";
  EXPECT_EQ(words_of(*make_texts(recipe), Split::train, 0), (Words{"a", "bad", "film"}));
}

TEST(TextFolder, KeepsTheTokensAroundATextThatIsCutOff) {
  const TemporaryFolder folder;
  write_reviews(folder);
  auto recipe = text_recipe(folder);
  recipe["tokenizer"] = {{"type", "wordpiece"},
                         {"file", test::in_source("tests/text/tokenizer_files/bert.json")}};
  recipe["max_length"] = 4;
  const auto data = make_texts(recipe);
  const auto words = words_of(*data, Split::train, 0);
  ASSERT_EQ(words.size(), 4);
  EXPECT_EQ(words.front(), "[CLS]");
  EXPECT_EQ(words.back(), "[SEP]");
  EXPECT_EQ(data->facts().padding, 0);
}

TEST(TextFolder, WithoutAPaddingTokenAddsANumber) {
  const TemporaryFolder folder;
  write_reviews(folder);
  auto recipe = text_recipe(folder);
  recipe["tokenizer"] = {{"type", "bpe"},
                         {"file", test::in_source("tests/text/tokenizer_files/gpt2.json")}};
  const auto data = make_texts(recipe);
  EXPECT_EQ(data->facts().padding, 500);
  EXPECT_EQ(data->facts().cardinalities, (Ids{501}));
}

TEST(TextFolder, HoldsOutAFraction) {
  const TemporaryFolder folder;
  write_reviews(folder);
  auto recipe = text_recipe(folder);
  recipe["valid"] = {{"fraction", 0.25}};
  const auto data = make_texts(recipe);
  EXPECT_EQ(data->size(Split::train), 3);
  EXPECT_EQ(data->size(Split::valid), 1);
}

TEST(TextFolder, HoldsOutWhatAListNames) {
  const TemporaryFolder folder;
  write_reviews(folder);
  auto recipe = text_recipe(folder);
  recipe["valid"] = {{"list", folder.write("held.txt", "train/pos/1.txt\n\n")}};
  const auto data = make_texts(recipe);
  EXPECT_EQ(data->size(Split::train), 3);
  EXPECT_EQ(data->sample_name(Split::valid, 0), "train/pos/1.txt");
  recipe["valid"] = {{"list", folder.write("wrong.txt", "train/pos/1.txt\nnone.txt")}};
  EXPECT_THAT(complaint(recipe), HasSubstr("wrong.txt:2: no text 'none.txt'"));
  recipe["valid"] = {{"list", folder.write("all.txt", "0.txt\n1.txt")}};
  EXPECT_THAT(complaint(recipe),
              testing::StrEq("data.valid.list: leaves no text of 4 for training"));
}

TEST(TextFolder, LeavesOutOnlyWhatItIsTold) {
  const TemporaryFolder folder;
  write_reviews(folder);
  folder.write("train/unsup/0.txt", "no opinion");
  folder.write("train/words.feat", "1:2");
  auto recipe = text_recipe(folder);
  EXPECT_THAT(complaint(recipe),
              HasSubstr("train/words.feat' is a file next to the class folders"));
  recipe["ignore"] = {"*.feat"};
  EXPECT_EQ(make_texts(recipe)->facts().classes, (Words{"neg", "pos", "unsup"}));
  recipe["ignore"] = {"*.feat", "unsup"};
  EXPECT_EQ(make_texts(recipe)->facts().classes, (Words{"neg", "pos"}));
}

TEST(TextFolder, NamesWhatIsMissing) {
  const TemporaryFolder folder;
  EXPECT_THAT(complaint(text_recipe(folder)),
              testing::EndsWith("/train'; name another, or an archive under data.source"));
  write_reviews(folder);
  folder.write("valid/mixed/0.txt", "so so");
  EXPECT_THAT(complaint(text_recipe(folder)), HasSubstr("class 'mixed' (of 'valid/mixed/0.txt') "
                                                        "is only in the valid split"));
}

TEST(TextFolder, SaysWhichTextIsNotUtf8OrReplacesOrLeavesItOut) {
  const TemporaryFolder folder;
  write_reviews(folder);
  folder.write("train/neg/2.txt", "caf\xe9 bad");
  folder.write("train/pos/2.txt", "\xff");
  auto recipe = text_recipe(folder);
  EXPECT_THAT(complaint(recipe), HasSubstr("train/neg/2.txt: not UTF-8 text (byte 4)"));
  DataContext skip;
  skip.skip_bad_samples = true;
  EXPECT_EQ(make_texts(recipe, skip)->size(Split::train), 4);
  recipe["invalid_utf8"] = "replace";
  const auto data = make_texts(recipe);
  EXPECT_EQ(data->size(Split::train), 6);
  EXPECT_EQ(words_of(*data, Split::train, 2), (Words{"xxbos", "caf", "\ufffd", "bad"}));
}

TEST(TextFolder, AnEmptyTextIsOneOfTheTokenizersOwnTokens) {
  const TemporaryFolder folder;
  write_reviews(folder);
  folder.write("train/neg/2.txt", "");
  auto recipe = text_recipe(folder);
  EXPECT_EQ(words_of(*make_texts(recipe), Split::train, 2), (Words{"xxbos"}));
  recipe["tokenizer"] = {{"type", "bpe"},
                         {"file", test::in_source("tests/text/tokenizer_files/gpt2.json")}};
  EXPECT_THAT(complaint(recipe), HasSubstr("train/neg/2.txt: the tokenizer finds no token in it"));
}

TEST(TextFolder, ReadsAGiganticText) {
  const TemporaryFolder folder;
  write_reviews(folder);
  std::string text;
  while (text.size() < (8 << 20)) text += "good film ";
  folder.write("train/neg/2.txt", text);
  folder.write("train/neg/3.txt", std::string(8 << 20, 'x'));
  auto recipe = text_recipe(folder);
  recipe["max_length"] = 100;
  const auto data = make_texts(recipe);
  EXPECT_EQ(data->length(Split::train, 2), 100);
  EXPECT_EQ(words_of(*data, Split::train, 3), (Words{"xxbos", "xxrep", "8388608", "x"}));
}

TEST(TextFolder, GivesAModelItsOwnVocabularyAgain) {
  const TemporaryFolder folder;
  write_reviews(folder);
  const auto recipe = text_recipe(folder);
  const auto before = make_texts(recipe);
  const auto ids = ids_of(*before, Split::valid, 1);
  for (int i = 0; i < 9; ++i) folder.write("train/neg/x" + std::to_string(i) + ".txt", "new words");
  DataContext again;
  again.fitted = before->state();
  const auto data = make_texts(recipe, again);
  EXPECT_EQ(data->size(Split::train), 13);
  EXPECT_EQ(ids_of(*data, Split::valid, 1), ids);
  EXPECT_EQ(data->state(), before->state());
  auto other = recipe;
  other["tokenizer"] = {{"type", "fastai"}, {"split", "spaces"}};
  EXPECT_THAT(complaint(other, again),
              testing::StrEq(
                  "data.tokenizer: it gives other tokens than the one that the model was trained "
                  "with"));
}

auto files_in(const std::string& folder) {
  return std::distance(std::filesystem::directory_iterator(folder), {});
}

TEST(TextFolder, ReadsUnlabeledTextsForAModel) {
  const TemporaryFolder folder;
  write_reviews(folder);
  const auto recipe = text_recipe(folder);
  DataContext context;
  context.fitted = make_texts(recipe)->state();
  context.unlabeled = folder.write("new/a.txt", "a good film");
  const auto kept = files_in(folder / "cache");
  auto data = make_texts(recipe, context);
  ASSERT_EQ(data->size(Split::valid), 1);
  EXPECT_EQ(data->sample_name(Split::valid, 0), "a.txt");
  EXPECT_EQ(words_of(*data, Split::valid, 0), (Words{"xxbos", "a", "good", "film"}));
  context.unlabeled = folder / "valid";
  EXPECT_EQ(make_texts(recipe, context)->size(Split::valid), 2);
  EXPECT_EQ(files_in(folder / "cache"), kept) << "such texts are not kept";
}

json record_recipe(const TemporaryFolder& folder, const std::string& type,
                   const std::string& file) {
  return {{"type", type},
          {"file", file},
          {"cache", folder / "cache"},
          {"valid", {{"fraction", nullptr}, {"rows", {1}}}},
          {"vocabulary", {{"min_freq", 1}}}};
}

TEST(TextCsv, MarksItsFieldsAndHoldsOutRows) {
  const TemporaryFolder folder;
  const auto file = folder.write("r.csv",
                                 "title,body,label\ngood,\"a film,\nreally\",1\nbad,one,0\n"
                                 "fine,two,0\n");
  auto recipe = record_recipe(folder, "text_csv", file);
  recipe["text"] = {"title", "body"};
  const auto data = make_texts(recipe);
  EXPECT_EQ(data->size(Split::train), 2);
  EXPECT_EQ(data->facts().classes, (Words{"0", "1"}));
  EXPECT_EQ(data->label(Split::train, 0), 1);
  EXPECT_EQ(words_of(*data, Split::train, 0),
            (Words{"xxbos", "xxfld", "1", "good", "xxfld", "2", "a", "film", ",", "\n", "really"}));
  EXPECT_EQ(data->sample_name(Split::valid, 0), file + " row 1");
}

TEST(TextCsv, NamesRowAndColumn) {
  const TemporaryFolder folder;
  const auto file = folder.write("r.csv", "text,label\na,x\nb,y\nc,\n");
  EXPECT_THAT(complaint(record_recipe(folder, "text_csv", file)),
              HasSubstr("r.csv:4: column 'label': empty"));
  const auto other = folder.write("s.csv", "text,label\na,x\nb,y\nc,x\n");
  EXPECT_THAT(complaint(record_recipe(folder, "text_csv", other)),
              HasSubstr("s.csv row 1') is only in the valid split"));
  auto recipe = record_recipe(folder, "text_csv", other);
  recipe["valid"] = {{"fraction", nullptr}, {"column", "label"}};
  EXPECT_THAT(complaint(recipe), HasSubstr("row 0: 'label': 'x' is neither 'train' nor 'valid'"));
}

TEST(TextJsonl, ReadsLines) {
  const TemporaryFolder folder;
  const auto train = folder.write(
      "t.jsonl",
      "{\"text\": \"good \\u00e9\", \"label\": 2}\r\n\n{\"text\": \"b\", \"label\": 10}");
  const auto valid =
      folder.write("v.jsonl", "{\"label\": 10, \"more\": [1], \"text\": \"good\"}\n");
  auto recipe = record_recipe(folder, "text_jsonl", train);
  recipe["valid_file"] = valid;
  const auto data = make_texts(recipe);
  EXPECT_EQ(data->facts().classes, (Words{"2", "10"}));  // by their value
  EXPECT_EQ(words_of(*data, Split::train, 0), (Words{"xxbos", "good", "é"}));
  EXPECT_EQ(data->sample_name(Split::train, 1), train + ":3");
  EXPECT_EQ(data->label(Split::valid, 0), 1);
}

TEST(TextFolder, NamesAFolderThatCannotBeRead) {
  const TemporaryFolder folder;
  write_reviews(folder);
  folder.write("train/neg/more/2.txt", "a long film");
  const test::Unreadable unreadable(folder / "train/neg/more");
  if (!unreadable.holds()) GTEST_SKIP() << "root cannot be another user here";
  EXPECT_EQ(complaint(text_recipe(folder)),
            "cannot read folder '" + (folder / "train/neg") + "': Permission denied");
}

TEST(TextFolder, SaysWhichSplitHasNoTexts) {
  const TemporaryFolder folder;
  write_reviews(folder);
  for (const auto* name : {"neg", "pos"})
    std::filesystem::remove(folder / ("valid/" + std::string(name) + "/0.txt"));
  EXPECT_EQ(complaint(text_recipe(folder)), "no texts in '" + (folder / "valid") + "'");
}

TEST(TextJsonl, WithoutALineIsAnError) {
  const TemporaryFolder folder;
  const auto file = folder.write("t.jsonl", "\n\n");
  EXPECT_EQ(complaint(record_recipe(folder, "text_jsonl", file)), file + ": no lines");
}

TEST(TextJsonl, NamesLineAndKey) {
  const TemporaryFolder folder;
  const std::vector<std::pair<std::string, std::string>> lines{
      {R"({"text": )", "not JSON (at byte 9)"},
      {"[1]", R"(not an object, {"text": ..., "label": ...})"},
      {R"({"text": "b"})", "no 'label'"},
      {R"({"text": 5, "label": 0})", "'text' is not text"},
      {R"({"text": "b", "label": 0.5})", "'label' is neither a word nor a whole number"},
      {"{\"text\": \"caf\xe9\", \"label\": 0}",
       "not UTF-8 text (byte 14); 'invalid_utf8: replace' reads it all the same"},
      {R"({"text": "b", "label": 1e999})", "not JSON: a number is too large"}};
  for (const auto& [line, message] : lines) {
    const auto file = folder.write("t.jsonl", "{\"text\": \"a\", \"label\": 0}\n" + line);
    EXPECT_EQ(complaint(record_recipe(folder, "text_jsonl", file)), file + ":2: " + message);
  }
}

TEST(TextJsonl, ReadsAGiganticLine) {
  const TemporaryFolder folder;
  const std::string text(4 << 20, 'y');
  const auto file = folder.write("t.jsonl", "{\"text\": \"" + text + "\", \"label\": 0}\n" +
                                                "{\"text\": \"b\", \"label\": 0}\n");
  EXPECT_EQ(make_texts(record_recipe(folder, "text_jsonl", file))->length(Split::train, 0), 4);
}

/// The target of each sample of a split, NaN written as -1.
std::vector<float> numbers_of(const Dataset& data, Split split) {
  std::vector<float> numbers;
  for (std::int64_t i = 0; i < data.size(split); ++i) {
    auto batch = data.allocate_length(split, 1, data.length(split, i));
    EXPECT_TRUE(data.load(split, i, {}, batch, 0));
    const auto number = batch.targets.at(0).item<float>();
    numbers.push_back(std::isnan(number) ? -1 : number);
  }
  return numbers;
}

TEST(TextRows, MayHaveANumberForATarget) {
  const TemporaryFolder folder;
  const auto csv = folder.write(
      "stars.csv", "text,stars,split\ngood film,4.5,train\nbad film,1,train\nfilm,,valid\n");
  const auto lines = folder.write("stars.jsonl",
                                  R"({"text": "good film", "stars": 4.5, "split": "train"}
{"text": "bad film", "stars": 1, "split": "train"}
{"text": "film", "stars": null, "split": "valid"}
)");
  for (const auto& [type, file] : {std::pair("text_csv", csv), std::pair("text_jsonl", lines)}) {
    const json recipe{{"type", type},
                      {"file", file},
                      {"label", "stars"},
                      {"task", "regression"},
                      {"vocabulary", {{"min_freq", 1}}},
                      {"cache", folder / "cache"},
                      {"valid", {{"fraction", nullptr}, {"column", "split"}}}};
    for (const auto* when : {"packed", "read from the cache"}) {
      const auto data = make_texts(recipe);
      EXPECT_EQ(data->facts().numbers, 1) << type << when;
      EXPECT_EQ(data->facts().class_count(), 0);
      EXPECT_EQ(numbers_of(*data, Split::train), (std::vector<float>{4.5F, 1})) << type << when;
      EXPECT_EQ(numbers_of(*data, Split::valid), std::vector<float>{-1}) << "missing";
    }
  }
}

TEST(TextRows, NameTheLabelThatIsNoNumber) {
  const TemporaryFolder folder;
  json recipe{{"type", "text_csv"},
              {"file", folder.write("t.csv", "text,label\na,1\nb,many\n")},
              {"task", "regression"},
              {"cache", folder / "cache"},
              {"valid", {{"fraction", nullptr}, {"rows", {0}}}}};
  EXPECT_EQ(complaint(recipe), (folder / "t.csv") +
                                   " row 1: 'label': 'many' is no number, and data.task is "
                                   "regression");
  recipe["type"] = "text_jsonl";
  const auto message_of = [&](const std::string& label) {
    recipe["file"] = folder.write("t.jsonl", "{\"text\": \"a\", \"label\": 1}\n\n" +
                                                 ("{\"text\": \"b\", \"label\": " + label + "}\n"));
    return complaint(recipe).substr((folder / "t.jsonl").size());
  };
  EXPECT_EQ(message_of("\"one\""), ":3: 'label': 'one' is no number, and data.task is regression");
  EXPECT_EQ(message_of("true"), ":3: 'label' is no number, and data.task is regression");
  EXPECT_EQ(message_of("[4]"), ":3: 'label' is no number, and data.task is regression");
  EXPECT_EQ(message_of("\"1e39\""), ":3: 'label': '1e39' is larger than a float can hold (3.4e38)");
  EXPECT_EQ(message_of("1e39"), ":3: 'label': '1e+39' is larger than a float can hold (3.4e38)");
}

// What writes every value as a string, such as Python's csv.DictReader, writes numbers so too.
TEST(TextRows, MayHaveANumberAsTextInLinesOfJson) {
  const TemporaryFolder folder;
  const auto file = folder.write("t.jsonl",
                                 R"({"text": "a", "label": "4.5"}
{"text": "b", "label": 2}
{"text": "c", "label": ""}
{"text": "d", "label": "NaN"}
{"text": "e", "label": " -1.5e1 "}
)");
  const json recipe{
      {"type", "text_jsonl"},      {"file", file},
      {"task", "regression"},      {"vocabulary", {{"min_freq", 1}}},
      {"cache", folder / "cache"}, {"valid", {{"fraction", nullptr}, {"rows", {2, 3, 4}}}}};
  const auto data = make_texts(recipe);
  EXPECT_EQ(numbers_of(*data, Split::train), (std::vector<float>{4.5F, 2}));
  EXPECT_EQ(numbers_of(*data, Split::valid), (std::vector<float>{-1, -1, -15}));
}

}  // namespace
}  // namespace ddptrain
