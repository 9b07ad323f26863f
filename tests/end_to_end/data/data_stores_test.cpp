// Data behind addresses: the same numbers as from this machine, and errors that name what cannot be
// read.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <regex>

#include "end_to_end/program.h"
#include "sources/remote/store_server.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

using testing::HasSubstr;

using Words = std::vector<std::string>;

/// What `plan` prints, without the disk's free space, which other programs change.
std::string without_free_space(const std::string& plan) {
  return std::regex_replace(plan, std::regex("; free [^\n]*"), "");
}

/// What a store holds: shapes as files and as shards, a table, texts.
class DataStores : public testing::Test {
 protected:
  void SetUp() override {
    if (const auto why = test::why_no_http(); !why.empty()) GTEST_SKIP() << why;
    write(folder_ / "small.yaml", small_recipe());
    std::string table = "size,rooms,kind,price\n", lines;
    for (int i = 0; i < 80; ++i) {
      table += std::to_string(40 + i * 7 % 60) + "," + std::to_string(1 + i % 5) + "," +
               (i % 3 == 0 ? "flat" : "house") + "," + std::to_string(100 + i * 13 % 90) + "\n";
      const auto text = "word" + std::to_string(i % 7) + " and word" + std::to_string(i % 5);
      const std::string label = i % 2 == 0 ? "pos" : "neg";
      write(folder_ / ("data/texts/" + std::string(i < 60 ? "train/" : "test/") + label + "/" +
                       std::to_string(i) + ".txt"),
            text);
      lines += R"({"text": ")" + text + R"(", "label": ")" + label + "\"}\n";
    }
    write(folder_ / "data/houses.csv", table);
    write(folder_ / "data/reviews.jsonl", lines);
    server_.emplace(folder_.path());
  }

  /// Overrides that make the store the tests' own.
  Words of_store() const {
    return {"data.store.endpoint=" + server_->url(),
            "data.store.cache.folder=" + folder_ / "cache"};
  }

  Ended program(Words words, const Words& more = {}) const {
    words.insert(words.end(), more.begin(), more.end());
    auto variables = environment();
    variables["XDG_CACHE_HOME"] = folder_ / "home";
    return run(words, folder_.path(), variables);
  }

  /// Scores of a run with these words.
  std::string trained(const std::string& recipe, const std::string& name, Words more) const {
    more.push_back("name=" + name);
    const auto ended = program({"run", recipe}, more);
    EXPECT_EQ(ended.code, 0) << ended.err;
    const auto folder = folder_ / ("runs/" + name + "/latest/checkpoints/");
    std::string newest;
    if (ended.code != 0) return name;
    for (const auto& each : list(folder))
      if (each.starts_with("step-")) newest = each;
    return read(folder + newest + "/model.safetensors");
  }

  /// That `option` as an address gives the weights that it gives as a path.
  void expect_same(const std::string& recipe, const std::string& option, const std::string& path,
                   const std::string& bucket) const {
    const auto here = trained(recipe, "here", {option + "=" + path});
    auto far = of_store();
    far.push_back(option + "=" + bucket + "/" + path);
    EXPECT_EQ(trained(recipe, "far", far), here);
  }

  Folder folder_;
  std::optional<test::StoreServer> server_;
};

constexpr const char* kHousesFromStore = R"(recipe: 1
model: {type: tabular, layers: [8]}
data: {type: csv_table, file: data/houses.csv, target: price, valid: {fraction: 0.2}}
batch: {global: 8}
train: {duration: 6 steps}
loss: {type: mse, scale: 50}
parallel: {device: cpu}
)";

constexpr const char* kTextsFromStore = R"(recipe: 1
model: {type: bag_of_embeddings}
data: {type: text_folder, root: data/texts, valid: test, vocabulary: {min_freq: 1}}
batch: {global: 8}
train: {duration: 6 steps}
parallel: {device: cpu}
)";

constexpr const char* kLinesFromStore = R"(recipe: 1
model: {type: bag_of_embeddings}
data: {type: text_jsonl, file: data/reviews.jsonl, valid: {fraction: 0.2}, vocabulary: {min_freq: 1}}
batch: {global: 8}
train: {duration: 6 steps}
parallel: {device: cpu}
)";

TEST_F(DataStores, ATableGivesTheSameWeights) {
  write(folder_ / "table.yaml", kHousesFromStore);
  expect_same("table.yaml", "data.file", "data/houses.csv", "s3://busy");
  expect_same("table.yaml", "data.file", "data/houses.csv", server_->url("files"));
  EXPECT_FALSE(list(folder_ / "cache").empty());
}

TEST_F(DataStores, AParquetFileGivesTheSameWeights) {
  std::filesystem::copy(test::in_source("tests/golden/parquet/people_zstd.parquet"),
                        folder_ / "data/people.parquet");
  write(folder_ / "people.yaml", R"(recipe: 1
model: {type: tabular, layers: [8]}
data: {type: parquet_table, file: data/people.parquet, target: income, valid: {fraction: 0.2}}
batch: {global: 8}
train: {duration: 4 steps}
parallel: {device: cpu}
)");
  expect_same("people.yaml", "data.file", "data/people.parquet", "s3://pages");
}

TEST_F(DataStores, TextsGiveTheSameWeights) {
  write(folder_ / "texts.yaml", kTextsFromStore);
  write(folder_ / "lines.yaml", kLinesFromStore);
  expect_same("texts.yaml", "data.root", "data/texts", "gs://pages");
  expect_same("lines.yaml", "data.file", "data/reviews.jsonl", "s3://files");
}

TEST_F(DataStores, TokensGiveTheSameWeights) {
  write(folder_ / "tokens.yaml", R"(recipe: 1
model: {type: awd_lstm_lm, emb_sz: 8, n_hid: 8, n_layers: 1}
data: {type: text_folder, root: data/texts, task: language_model, valid: test, vocabulary: {min_freq: 1}, blocks: {layout: streams, length: 4}}
batch: {global: 2}
train: {duration: 4 steps}
parallel: {device: cpu}
)");
  const auto written = program({"data", "tokens", "tokens.yaml", "data/tokens"});
  ASSERT_EQ(written.code, 0) << written.err;
  const auto tokens = [&](const std::string& place) {
    return "data={type: token_file, train: '" + place + "/train.tokens', valid: '" + place +
           "/valid.tokens', blocks: {layout: streams, length: 4}}";
  };
  const auto here = trained("tokens.yaml", "here", {tokens("data/tokens")});
  auto far = of_store();
  far.insert(far.begin(), tokens("s3://pages/data/tokens"));
  EXPECT_EQ(trained("tokens.yaml", "far", far), here);
}

class ImagesInStores : public DataStores {
 protected:
  void SetUp() override {
    DataStores::SetUp();
    if (IsSkipped()) return;
    server_.emplace(shapes());
  }
  Words steps(int count) const {
    return {kSmallModel, "train.duration=" + std::to_string(count) + " steps",
            "schedule={type: constant}", "checkpoint.every=1 step", "eval.every=100 steps"};
  }
};

TEST_F(ImagesInStores, AFolderGivesTheSameWeights) {
  const auto here = trained("small.yaml", "here", steps(3));
  auto far = steps(3);
  for (const auto& word : of_store()) far.push_back(word);
  far.push_back("data.root=s3://pages");
  EXPECT_EQ(trained("small.yaml", "far", far), here);
}

TEST_F(ImagesInStores, ShardsOfAPatternGiveTheSameWeightsAfterAKill) {
  ASSERT_EQ(program({"data", "shards", "small.yaml", "shards", "--size", "40KiB"}).code, 0);
  auto recipe = small_recipe();
  const std::string from =
      "type: image_folder\n  root: ${env:SHAPES}\n  train: train\n  valid: val";
  recipe.replace(recipe.find(from), from.size(),
                 "type: image_shards\n  root: shards\n  train: 'train-*.tar'\n  valid: "
                 "'valid-*.tar'\n  sampler: {type: shuffle, window: 2}");
  write(folder_ / "shards.yaml", recipe);
  server_.emplace(folder_.path());
  const auto here = trained("shards.yaml", "here", steps(9));
  auto far = steps(9);
  for (const auto& word : of_store()) far.push_back(word);
  for (const auto* word : {"data.root=s3://pages/shards", "name=far"}) far.emplace_back(word);
  auto variables = environment();
  variables["XDG_CACHE_HOME"] = folder_ / "home";
  far.insert(far.begin(), {"run", "shards.yaml"});
  Program killed(far, folder_.path(), variables);
  while (killed.running() && !exists(folder_ / "runs/far/latest/checkpoints/step-00000003"))
    ::usleep(1000);
  killed.signal(SIGKILL);
  killed.wait();
  const auto resumed = program({"resume", "runs/far/latest"});
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(read(folder_ / "runs/far/latest/checkpoints/step-00000009/model.safetensors"), here);
}

TEST_F(ImagesInStores, VerbsOfDataReadThem) {
  auto words = of_store();
  words.push_back("data.root=s3://pages");
  EXPECT_EQ(program({"data", "check", "small.yaml"}, words).out, "160 samples read, 0 bad\n");
  EXPECT_EQ(program({"data", "stats", "small.yaml"}, words).out,
            program({"data", "stats", "small.yaml"}).out);
  EXPECT_EQ(program({"validate", "small.yaml", "--level", "data"}, words).code, 0);
  const auto plan = program({"plan", "small.yaml"}, words);
  EXPECT_EQ(plan.code, 0) << plan.err;
  EXPECT_EQ(without_free_space(plan.out), without_free_space(program({"plan", "small.yaml"}).out));
}

TEST_F(DataStores, PredictReadsAddresses) {
  write(folder_ / "table.yaml", kHousesFromStore);
  auto words = of_store();
  words.push_back("data.file=s3://files/data/houses.csv");
  ASSERT_EQ(program({"run", "table.yaml", "name=far"}, words).code, 0);
  const auto predict = [&](const std::string& file, const std::string& output) {
    const auto ended = program({"predict", "runs/far/latest", file, "--output", output});
    EXPECT_EQ(ended.code, 0) << ended.err;
    return read(folder_ / output);
  };
  EXPECT_EQ(predict("s3://pages/data/houses.csv", "far.csv"),
            predict("data/houses.csv", "here.csv"));
}

TEST_F(DataStores, SayWhatCannotBeRead) {
  write(folder_ / "texts.yaml", kTextsFromStore);
  write(folder_ / "table.yaml", kHousesFromStore);
  const auto problem = [&](const std::string& recipe, const Words& words) {
    const auto ended = program({"validate", recipe}, words);
    EXPECT_EQ(ended.code, 2);
    return ended.err + ended.out;
  };
  EXPECT_THAT(problem("texts.yaml", {"data.root=https://host/texts"}),
              HasSubstr("data.root: 'https://host/texts' is a folder whose files are listed, which "
                        "a web server does not do; read it from s3:// or gs://, or pack it into "
                        "shards ('ddptrain data shards') and name these by a pattern, as in "
                        "'train-{000000..000099}.tar'"));
  EXPECT_THAT(
      problem("table.yaml", {"data.file=hdfs://host/houses.csv"}),
      HasSubstr("data.file: 'hdfs://host/houses.csv' begins with none of https://, http://, "
                "s3:// and gs://"));
  EXPECT_THAT(problem("table.yaml", {"data.store.region=eu-west-1"}),
              HasSubstr("data.store.region: no path of 'data' is an address, such as "
                        "s3://bucket/folder"));
  EXPECT_THAT(problem("table.yaml", {"data.file=s3://b/t.csv", "data.store.endpoint=minio"}),
              HasSubstr("data.store.endpoint: 'minio' begins with neither https:// nor http://"));
  EXPECT_THAT(problem("table.yaml", {"data.file=s3://b/t.csv", "data.source.url=https://h/a.tgz",
                                     "data.source.md5=e793b78cc4c9e9a4ccc0c1155377a412"}),
              HasSubstr("data.source: an archive is unpacked on this machine, and 'data' is read "
                        "from an address"));
  EXPECT_THAT(program({"init", "s3://bucket/houses.csv"}).err,
              HasSubstr("'s3://bucket/houses.csv' is an address, and 'init' looks at files of this "
                        "machine; draft a recipe from a part of them here, and write the address "
                        "into its data section"));
}

TEST_F(DataStores, NameAFileThatIsMissingOrRefused) {
  write(folder_ / "table.yaml", kHousesFromStore);
  const auto problem = [&](const std::string& url) {
    auto words = of_store();
    words.push_back("data.file=" + url);
    words.emplace_back("data.store.attempts=2");
    const auto ended = program({"validate", "table.yaml", "--level", "data"}, words);
    EXPECT_EQ(ended.code, 3);
    return ended.err + ended.out;
  };
  EXPECT_THAT(
      problem("s3://files/data/none.csv"),
      HasSubstr("cannot read 's3://files/data/none.csv': the server has no such file (404)"));
  EXPECT_THAT(problem("s3://signed/data/houses.csv"),
              HasSubstr("cannot read 's3://signed/data/houses.csv': the server refuses it (403)"));
  EXPECT_THAT(problem("s3://larger/data/houses.csv"),
              HasSubstr("cannot read 's3://larger/data/houses.csv': "));
}

}  // namespace
}  // namespace ddptrain::end_to_end
