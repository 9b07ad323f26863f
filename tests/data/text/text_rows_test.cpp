// Texts in rows of CSV files and lines of JSON, and numbers as their targets.
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
  EXPECT_THAT(complaint_of_texts(record_recipe(folder, "text_csv", file)),
              HasSubstr("r.csv:4: column 'label': empty"));
  const auto other = folder.write("s.csv", "text,label\na,x\nb,y\nc,x\n");
  EXPECT_THAT(complaint_of_texts(record_recipe(folder, "text_csv", other)),
              HasSubstr("s.csv row 1') is only in the valid split"));
  auto recipe = record_recipe(folder, "text_csv", other);
  recipe["valid"] = {{"fraction", nullptr}, {"column", "label"}};
  EXPECT_THAT(complaint_of_texts(recipe),
              HasSubstr("row 0: 'label': 'x' is neither 'train' nor 'valid'"));
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

TEST(TextJsonl, WithoutALineIsAnError) {
  const TemporaryFolder folder;
  const auto file = folder.write("t.jsonl", "\n\n");
  EXPECT_EQ(complaint_of_texts(record_recipe(folder, "text_jsonl", file)), file + ": no lines");
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
    EXPECT_EQ(complaint_of_texts(record_recipe(folder, "text_jsonl", file)),
              file + ":2: " + message);
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
  EXPECT_EQ(complaint_of_texts(recipe),
            (folder / "t.csv") +
                " row 1: 'label': 'many' is no number, and data.task is "
                "regression");
  recipe["type"] = "text_jsonl";
  const auto message_of = [&](const std::string& label) {
    recipe["file"] = folder.write("t.jsonl", "{\"text\": \"a\", \"label\": 1}\n\n" +
                                                 ("{\"text\": \"b\", \"label\": " + label + "}\n"));
    return complaint_of_texts(recipe).substr((folder / "t.jsonl").size());
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
