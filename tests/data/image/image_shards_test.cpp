#include <gmock/gmock.h>

#include <filesystem>

#include "data/image_data.h"
#include "sources/archives.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

json shards_section(const TemporaryFolder& folder, const json& more = json::object()) {
  const json steps = json::array({{{"type", "resize"}, {"size", {4, 4}}}});
  json made = {{"type", "image_shards"},
               {"root", folder.path()},
               {"train", "train-{0..1}.tar"},
               {"valid", "valid-0.tar"},
               {"transforms", {{"train", steps}, {"valid", steps}}}};
  made.update(more);
  return made;
}

/// Samples of a shard: a key and a class each, all of one image.
std::string shard_of(const std::vector<std::pair<std::string, std::string>>& samples) {
  std::vector<Item> items;
  for (const auto& [key, label] : samples) {
    items.push_back({key + ".jpg", image("a_rgb.jpg")});
    items.push_back({key + ".cls", label});
  }
  return tar_of(items);
}

void write_three(const TemporaryFolder& folder) {
  folder.write("train-0.tar", shard_of({{"a", "0"}, {"b", "2"}}));
  folder.write("train-1.tar", shard_of({{"c", "10"}, {"d", "0"}}));
  folder.write("valid-0.tar", shard_of({{"e", "2"}}));
}

TEST(ImageShards, AreSamplesInOrderWithTheirClassesAndShards) {
  const TemporaryFolder folder;
  write_three(folder);
  const auto data = build_data(shards_section(folder));
  EXPECT_THAT(data->facts().classes, ElementsAre("0", "2", "10"));
  ASSERT_EQ(data->size(Split::train), 4);
  ASSERT_EQ(data->size(Split::valid), 1);
  std::vector<std::int64_t> labels, shards;
  for (std::int64_t i = 0; i < 4; ++i) {
    labels.push_back(data->label(Split::train, i));
    shards.push_back(data->shard(Split::train, i));
  }
  EXPECT_THAT(labels, ElementsAre(0, 1, 2, 0));
  EXPECT_THAT(shards, ElementsAre(0, 0, 1, 1));
  EXPECT_EQ(data->sample_name(Split::train, 2), folder / "train-1.tar/c.jpg");
}

// A file is the same whether it lies in a folder or in a shard.
TEST(ImageShards, ReadTheImagesThatAFolderHas) {
  const TemporaryFolder folder;
  write_three(folder);
  folder.write("f/train/x/a.jpg", image("a_rgb.jpg"));
  folder.write("f/val/x/a.jpg", image("a_rgb.jpg"));
  const auto shards = build_data(shards_section(folder));
  auto of_folder = shards_section(folder, {{"type", "image_folder"}, {"root", folder / "f"}});
  of_folder.erase("train");
  of_folder.erase("valid");
  const auto files = build_data(of_folder);
  const auto from_shard = load_one(*shards, Split::train, 1);
  const auto from_file = load_one(*files, Split::train, 0);
  ASSERT_TRUE(from_shard.good && from_file.good);
  EXPECT_TRUE(from_shard.batch.inputs[0].equal(from_file.batch.inputs[0]));
  EXPECT_EQ(from_shard.batch.targets[0].item<std::int64_t>(), 1);
}

TEST(ImageShards, AreReadAsWebDatasetWritesThem) {
  const TemporaryFolder folder;
  const auto golden = read_text(test::in_source("tests/golden/shards/webdataset.tar"));
  folder.write("train-0.tar", golden);
  folder.write("train-1.tar", golden);
  folder.write("valid-0.tar", golden);
  const auto numbers = build_data(shards_section(folder));
  EXPECT_THAT(numbers->facts().classes, ElementsAre("0", "1"));
  EXPECT_EQ(numbers->size(Split::train), 6);
  for (std::int64_t i = 0; i < 3; ++i) EXPECT_TRUE(load_one(*numbers, Split::valid, i).good);
  const auto words = build_data(shards_section(folder, {{"label", "json"}, {"field", "label"}}));
  EXPECT_THAT(words->facts().classes, ElementsAre("class 0", "class 1", "class 2"));
  const auto deep = build_data(shards_section(folder, {{"label", "json"}, {"field", "deep.id"}}));
  EXPECT_EQ(deep->label(Split::train, 5), 2);
}

TEST(ImageShards, ClassesHaveTheNamesOfTheRecipeOrOfIndexJson) {
  const TemporaryFolder folder;
  write_three(folder);
  std::vector<std::string> names;
  for (int i = 0; i < 11; ++i) names.push_back("n" + std::to_string(i));
  EXPECT_EQ(build_data(shards_section(folder, {{"classes", names}}))->facts().classes, names);
  folder.write("index.json", json{{"classes", names}}.dump());
  const auto data = build_data(shards_section(folder));
  EXPECT_EQ(data->facts().classes, names);
  EXPECT_EQ(data->label(Split::train, 2), 10);
  EXPECT_THAT(data_problem(shards_section(folder, {{"classes", {"a", "b"}}})),
              HasSubstr("'train-0.tar/b.jpg' is of class '2', which is not among 2 class names"));
}

TEST(ImageShards, AFractionOfTheSamplesMayBeHeldOut) {
  const TemporaryFolder folder;
  write_three(folder);
  const auto data = build_data(shards_section(folder, {{"valid", {{"fraction", 0.25}}}}));
  EXPECT_EQ(data->size(Split::train), 3);
  EXPECT_EQ(data->size(Split::valid), 1);
  for (std::int64_t i = 0; i < 3; ++i)
    EXPECT_THAT(data->sample_name(Split::train, i),
                HasSubstr("train-" + std::to_string(data->shard(Split::train, i))));
}

TEST(ImageShards, WhatIsMissingIsNamed) {
  const TemporaryFolder folder;
  write_three(folder);
  const auto shard = folder / "train-1.tar";
  folder.write("train-1.tar", tar_of({{"c.cls", "0"}, {"c.txt", "no image"}}));
  EXPECT_EQ(
      data_problem(shards_section(folder)),
      "data.image: shard '" + shard + "': sample 'c' has no image (.jpg, .jpeg, .png, .webp)");
  folder.write("train-1.tar", tar_of({{"c.jpg", "x"}}));
  EXPECT_EQ(data_problem(shards_section(folder)),
            "data.label: shard '" + shard + "': sample 'c' has no .cls");
  folder.write("train-1.tar", tar_of({{"c.jpg", "x"}, {"c.json", R"({"a": {"b": []}})"}}));
  const auto with_field = [&](const char* field) {
    return data_problem(
        shards_section(folder, {{"train", "train-1.tar"}, {"label", "json"}, {"field", field}}));
  };
  EXPECT_EQ(with_field("a.c"), "data.field: '" + shard + "/c.json' has no 'a.c'");
  EXPECT_EQ(with_field("a.b"),
            "data.field: '" + shard + "/c.json': 'a.b' is neither a word nor a whole number");
  std::filesystem::remove(shard);
  EXPECT_EQ(data_problem(shards_section(folder)),
            "data.train: shard '" + shard + "' cannot be read: No such file or directory");
}

TEST(ImageShards, ABadImageIsNamedByShardAndSample) {
  const TemporaryFolder folder;
  write_three(folder);
  folder.write(
      "train-0.tar",
      tar_of(
          {{"a.jpg", image("a_rgb.jpg")}, {"a.cls", "0"}, {"b.jpg", "no image"}, {"b.cls", "0"}}));
  const auto data = build_data(shards_section(folder));
  try {
    load_one(*data, Split::train, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_THAT(error.what(), HasSubstr(folder / "train-0.tar/b.jpg"));
  }
}

}  // namespace
}  // namespace ddptrain
