// Lines of JSON in several files, and in tar shards.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/error.h"
#include "data/text_data.h"
#include "sources/archives.h"

namespace ddptrain {
namespace {

using nlohmann::json;

json shard_lines_recipe(const TemporaryFolder& folder, const std::string& file) {
  return {{"type", "text_jsonl"},
          {"file", folder / file},
          {"cache", folder / "cache"},
          {"valid", {{"fraction", nullptr}, {"rows", {3}}}},
          {"vocabulary", {{"min_freq", 1}}}};
}

std::string shard_lines_problem(const json& recipe) {
  try {
    make_texts(recipe);
  } catch (const Error& error) {
    return error.what();
  }
  return "none";
}

const std::vector<std::string> kShardObjects{
    R"({"text": "a good film", "label": "pos"})", R"({"text": "a bad film", "label": "neg"})",
    R"({"text": "good", "label": "pos"})", R"({"text": "bad day", "label": "neg"})"};

/// Words and labels of all samples.
std::vector<std::pair<std::vector<std::string>, std::int64_t>> all_shown_texts(
    const Dataset& data) {
  std::vector<std::pair<std::vector<std::string>, std::int64_t>> all;
  for (const auto split : {Split::train, Split::valid})
    for (std::int64_t i = 0; i < data.size(split); ++i)
      all.emplace_back(words_of(data, split, i), data.label(split, i));
  return all;
}

TEST(TextShards, LinesInSeveralFilesAreThoseOfOne) {
  const TemporaryFolder folder;
  folder.write("all.jsonl", kShardObjects[0] + "\n" + kShardObjects[1] + "\n" + kShardObjects[2] +
                                "\n" + kShardObjects[3]);
  folder.write("part-0.jsonl", kShardObjects[0] + "\n");
  folder.write("part-1.jsonl",
               kShardObjects[1] + "\n\n" + kShardObjects[2] + "\n" + kShardObjects[3]);
  const auto one = make_texts(shard_lines_recipe(folder, "all.jsonl"));
  const auto several = make_texts(shard_lines_recipe(folder, "part-{0..1}.jsonl"));
  EXPECT_EQ(all_shown_texts(*several), all_shown_texts(*one));
  EXPECT_EQ(several->sample_name(Split::train, 2), folder / "part-1.jsonl:3");
}

TEST(TextShards, SamplesOfTarShardsAreLines) {
  const TemporaryFolder folder;
  std::string lines;
  for (const auto& object : kShardObjects) lines += object + "\n";
  folder.write("all.jsonl", lines);
  folder.write("part-0.tar", tar_of({{"a.json", kShardObjects[0]}, {"b.json", kShardObjects[1]}}));
  folder.write("part-1.tar", tar_of({{"c.json", kShardObjects[2]}, {"d.json", kShardObjects[3]}}));
  const auto one = make_texts(shard_lines_recipe(folder, "all.jsonl"));
  const auto shards = make_texts(shard_lines_recipe(folder, "part-{0..1}.tar"));
  EXPECT_EQ(all_shown_texts(*shards), all_shown_texts(*one));
  EXPECT_EQ(shards->sample_name(Split::valid, 0), folder / "part-1.tar/d");
}

TEST(TextShards, FilesTxtAndClsAreKeys) {
  const TemporaryFolder folder;
  folder.write("t.tar", tar_of({{"a.txt", "a good film"},
                                {"a.cls", "1\n"},
                                {"b.txt", "bad"},
                                {"b.cls", "0"},
                                {"c.txt", "good"},
                                {"c.cls", "1"},
                                {"d.txt", "bad day"},
                                {"d.cls", "0"}}));
  auto recipe = shard_lines_recipe(folder, "t.tar");
  recipe["text"] = {"txt"};
  recipe["label"] = "cls";
  const auto data = make_texts(recipe);
  EXPECT_EQ(data->facts().classes, (std::vector<std::string>{"0", "1"}));
  EXPECT_EQ(data->label(Split::train, 0), 1);
  EXPECT_EQ(words_of(*data, Split::valid, 0).back(), "xxunk");
}

TEST(TextShards, AMistakeIsNamedByShardAndSample) {
  const TemporaryFolder folder;
  folder.write("t.tar", tar_of({{"a.json", R"({"text": "x"})"}}));
  EXPECT_EQ(shard_lines_problem(shard_lines_recipe(folder, "t.tar")),
            folder / "t.tar/a: no 'label'");
  folder.write("t.tar", tar_of({{"a.jpg", "x"}, {"a.json", "[1]"}, {"a.txt", "x"}}));
  EXPECT_EQ(shard_lines_problem(shard_lines_recipe(folder, "t.tar")),
            folder / "t.tar/a: its .json is no object");
  EXPECT_EQ(shard_lines_problem(shard_lines_recipe(folder, "t-{0..1}.jsonl")),
            "cannot read '" + (folder / "t-0.jsonl") + "': No such file or directory");
}

}  // namespace
}  // namespace ddptrain
