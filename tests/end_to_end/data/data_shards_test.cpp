// Tar shards: written, trained from, read from a store.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <nlohmann/json.hpp>

#include "end_to_end/program.h"
#include "sources/remote/store_server.h"

namespace ddptrain::end_to_end {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Writes the small shapes as shards of `size` into FOLDER/shards.
Ended write_shards_of_shapes(const Folder& folder, const std::string& size = "40KiB") {
  write(folder / "small.yaml", small_recipe());
  return run({"data", "shards", "small.yaml", "shards", "--size", size}, folder.path(),
             environment());
}

/// "train-{000000..000007}.tar": all shards of a split.
std::string shards_of(const json& index, const std::string& split) {
  const auto last = index[split]["shards"].back()["name"].get<std::string>();
  return split + "-{000000.." + last.substr(split.size() + 1, 6) + "}.tar";
}

/// The small recipe with the shards as its data, from `place` ("root: shards").
std::string recipe_for(const Folder& folder, const std::string& place) {
  const auto index = json::parse(read(folder / "shards/index.json"));
  auto recipe = small_recipe();
  const std::string from =
      "type: image_folder\n  root: ${env:SHAPES}\n  train: train\n  valid: val";
  return recipe.replace(recipe.find(from), from.size(),
                        "type: image_shards\n  " + place + "\n  train: '" +
                            shards_of(index, "train") + "'\n  valid: '" +
                            shards_of(index, "valid") + "'\n  sampler: {type: shuffle, window: 2}");
}

/// The weights of the newest checkpoint of a run.
std::string weights_of(const std::string& run) {
  std::string newest;
  for (const auto& name : list(run + "/checkpoints"))
    if (name.starts_with("step-")) newest = name;
  return read(run + "/checkpoints/" + newest + "/model.safetensors");
}

std::vector<std::string> training(int steps, const std::string& recipe = "shards.yaml") {
  return {"run",
          recipe,
          kSmallModel,
          "train.duration=" + std::to_string(steps) + " steps",
          "schedule={type: constant}",
          "checkpoint.every=1 step",
          "eval.every=100 steps"};
}

TEST(DataShards, HaveEverySampleOnceWithItsClassAndSizesAndDigests) {
  const Folder folder;
  const auto ended = write_shards_of_shapes(folder);
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, HasSubstr("wrote 120 samples of train into"));
  const auto index = json::parse(read(folder / "shards/index.json"));
  EXPECT_EQ(index["classes"].size(), 10);
  std::int64_t samples = 0;
  for (const auto& shard : index["train"]["shards"]) {
    samples += shard["samples"].get<std::int64_t>();
    EXPECT_EQ(read(folder / ("shards/" + shard["name"].get<std::string>())).size(), shard["bytes"]);
    EXPECT_LE(shard["bytes"], 40 * 1024);
  }
  EXPECT_EQ(samples, 120);
  write(folder / "shards.yaml", recipe_for(folder, "root: shards"));
  const auto of_folder = run({"data", "stats", "small.yaml"}, folder.path(), environment());
  const auto of_shards = run({"data", "stats", "shards.yaml"}, folder.path(), environment());
  EXPECT_EQ(of_shards.code, 0) << of_shards.err;
  EXPECT_EQ(of_shards.out, of_folder.out);
  EXPECT_EQ(run({"data", "check", "shards.yaml"}, folder.path(), environment()).out,
            "160 samples read, 0 bad\n");
}

TEST(DataShards, AreNotWrittenTwiceNorOverOthers) {
  const Folder folder;
  write_shards_of_shapes(folder);
  EXPECT_THAT(write_shards_of_shapes(folder).err, HasSubstr("the shards are in 'shards' already"));
  const auto other = write_shards_of_shapes(folder, "80KiB");
  EXPECT_EQ(other.code, 3);
  EXPECT_THAT(other.err, HasSubstr("'shards' has shards of other samples or of another size"));
  EXPECT_THAT(
      run({"data", "shards", "small.yaml", folder.path()}, folder.path(), environment()).err,
      HasSubstr("has other files; name another folder"));
  EXPECT_THAT(run({"data", "shards", "small.yaml", "s", "--size", "big"}, folder.path()).err,
              HasSubstr("--size: 'big' is not a size such as 256MiB"));
}

TEST(DataShards, OfLinesOfJsonAreTheSameTexts) {
  const Folder folder;
  std::string lines;
  for (int i = 0; i < 9; ++i)
    lines += R"({"text": "word )" + std::to_string(i) + R"( again", "label": )" +
             std::to_string(i % 2) + "}\n";
  write(folder / "t.jsonl", lines);
  write(
      folder / "t.yaml",
      "recipe: 1\nmodel: {type: bag_of_embeddings}\ndata: {type: text_jsonl, file: t.jsonl, cache: "
      "cache, vocabulary: {min_freq: 1}}\nbatch: {global: 2}\n");
  const auto ended = run({"data", "shards", "t.yaml", "s", "--size", "4KiB"}, folder.path());
  ASSERT_EQ(ended.code, 0) << ended.err;
  const auto last = json::parse(read(folder / "s/index.json"))["train"]["shards"].size() - 1;
  EXPECT_GT(last, 0);
  const auto show = [&](const std::string& file) {
    return run({"data", "stats", "t.yaml", "data.file=" + file}, folder.path());
  };
  const auto shards = show("s/train-{000000..00000" + std::to_string(last) + "}.tar");
  EXPECT_EQ(shards.code, 0) << shards.err;
  EXPECT_EQ(shards.out, show("t.jsonl").out);
}

TEST(ImageShards, ARunResumedInAWindowEqualsAnUninterruptedOne) {
  const Folder folder;
  ASSERT_EQ(write_shards_of_shapes(folder).code, 0);
  write(folder / "shards.yaml", recipe_for(folder, "root: shards"));
  auto whole = training(9);
  whole.insert(whole.end(), {"name=whole"});
  ASSERT_EQ(run(whole, folder.path(), environment()).code, 0);
  auto parts = training(4);
  parts.insert(parts.end(), {"name=parts"});
  ASSERT_EQ(run(parts, folder.path(), environment()).code, 0);
  const auto resumed =
      run({"resume", "runs/parts/latest", "train.duration=9 steps"}, folder.path(), environment());
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(weights_of(folder / "runs/parts/latest"), weights_of(folder / "runs/whole/latest"));
}

TEST(ImageShards, AStoreGivesTheWeightsThatTheFolderGives) {
  if (const auto why = test::why_no_http(); !why.empty()) GTEST_SKIP() << why;
  const Folder folder;
  ASSERT_EQ(write_shards_of_shapes(folder).code, 0);
  const test::StoreServer server(folder.path());
  write(folder / "shards.yaml", recipe_for(folder, "root: shards"));
  const auto cache = "\n  store: {cache: {folder: cache, limit: 200 KiB}}";
  write(folder / "store.yaml", recipe_for(folder, "root: " + server.url("busy/shards") + cache));
  auto local = training(9), far = training(9, "store.yaml");
  local.insert(local.end(), {"name=local"});
  far.insert(far.end(), {"name=far"});
  ASSERT_EQ(run(local, folder.path(), environment()).code, 0);
  const auto ended = run(far, folder.path(), environment());
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_EQ(weights_of(folder / "runs/far/latest"), weights_of(folder / "runs/local/latest"));
  std::size_t bytes = 0;
  for (const auto& name : list(folder / "cache"))
    if (name.ends_with(".shard")) bytes += read(folder / ("cache/" + name)).size();
  EXPECT_LE(bytes, 200 * 1024);
  EXPECT_GT(bytes, 0);
}

TEST(ImageShards, ARunNamesAStoreThatLacksAShard) {
  if (const auto why = test::why_no_http(); !why.empty()) GTEST_SKIP() << why;
  const Folder folder;
  ASSERT_EQ(write_shards_of_shapes(folder).code, 0);
  const test::StoreServer server(folder.path());
  auto recipe = recipe_for(folder, "root: " + server.url("files/none"));
  write(folder / "store.yaml", recipe);
  const auto ended = run(training(2, "store.yaml"), folder.path(), environment());
  EXPECT_EQ(ended.code, 3);
  EXPECT_THAT(ended.err, HasSubstr("train-000000.tar' cannot be read: the server has no such file "
                                   "(404)"));
}

}  // namespace
}  // namespace ddptrain::end_to_end
