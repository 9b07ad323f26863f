// Weights that start a model bring the names of their rows: words, categories, classes, targets.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <filesystem>
#include <nlohmann/json.hpp>
#include <sstream>

#include "end_to_end/checkpoints/weights_of_runs.h"
#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

using nlohmann::json;
using testing::HasSubstr;

/// Reviews of 3 to 21 words. `more` repeats some of them in the training split, so that its words
/// have other numbers; `changed` replaces one word by another.
void write_texts(const std::string& root, int more, const std::string& changed = "story") {
  const char* good[] = {"fine", "warm", "bright", "Grand"};
  const char* bad[] = {"dull", "cold", "weak", "Hollow"};
  const std::string plain[] = {"the", "film", "was", "a", changed, "of", "people", ",", "and"};
  for (const std::string split : {"train", "test"})
    for (int i = 0; i < 24; ++i) {
      std::string text;
      for (int word = 0; word < 3 + i * 7 % 19; ++word)
        text +=
            (word % 3 == 1 ? (i % 2 ? good : bad)[(i + word) % 4] : plain[(i * word + word) % 9]) +
            std::string(" ");
      write(root + "/" + split + (i % 2 ? "/pos/" : "/neg/") + std::to_string(i) + ".txt", text);
    }
  for (int i = 0; i < more; ++i)
    write(root + "/train/" + (i % 2 ? "pos" : "neg") + "/more" + std::to_string(i) + ".txt",
          i % 2 ? "Hollow people , of and and Grand bright" : "people of weak weak cold a , was");
}

constexpr const char* kTexts = R"(name: texts
model: {type: bag_of_embeddings, dim: 8, ngrams: 3, buckets: 40}
data: {type: text_folder, root: first, valid: test, cache: cache, vocabulary: {min_freq: 1}}
batch: {global: 8}
train: {duration: 40 steps, threads: 1}
optimizer: {type: adam, lr: 0.02}
schedule: constant
loss: cross_entropy
metrics: [accuracy]
parallel: {device: cpu}
eval: {batch: 7}
output: {dir: runs}
)";
const std::string kTransformer = "model={type: text_transformer, dim: 8, num_heads: 2, mlp_dim: 8}";
const std::string kLstm =
    "model={type: awd_lstm, emb_sz: 6, n_hid: 8, n_layers: 2, lin_ftrs: [5], bptt: 8, max_len: 16}";
const std::string kChunks = "data.padding={side: chunks, chunk: 8}";
/// Leaves float32 weights as they are.
const std::string kStill = "optimizer.lr=1e-40";

std::string newest_checkpoint(const std::string& run_folder) {
  return run_folder + "/checkpoints/" + list(run_folder + "/checkpoints").back();
}

class Transfer : public testing::Test {
 protected:
  Transfer() {
    write_texts(folder_ / "first", 0);
    write_texts(folder_ / "second", 9);
    write(folder_ / "texts.yaml", kTexts);
  }
  Ended train(const std::vector<std::string>& overrides, const std::string& recipe = "texts.yaml") {
    std::vector<std::string> words{"run", recipe};
    words.insert(words.end(), overrides.begin(), overrides.end());
    const auto ended = run(words, folder_.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    return ended;
  }
  std::string scores(const std::vector<std::string>& words) {
    std::vector<std::string> all{"eval"};
    all.insert(all.end(), words.begin(), words.end());
    const auto ended = run(all, folder_.path());
    EXPECT_EQ(ended.code, 0) << ended.err;
    EXPECT_THAT(ended.out, HasSubstr("valid/"));
    return ended.out;
  }
  json group(const std::string& run_folder, const std::string& what) {
    const auto transfer = json::parse(read(folder_ / (run_folder + "/transfer.json")));
    for (const auto& each : transfer.at("groups"))
      if (each.at("what") == what) return each;
    ADD_FAILURE() << "no '" << what << "' in " << transfer;
    return {};
  }
  const Folder folder_;
};

TEST_F(Transfer, ToTheSameWordsInAnotherOrderKeepsEveryScore) {
  for (const auto& [model, name] :
       {std::pair{std::string("model.ngrams=3"), "bag"}, {kTransformer, "transformer"}}) {
    const auto named = "name=" + std::string(name), home = "runs/" + std::string(name);
    train({model, named});
    const auto started = train({model, named, "model.weights=" + home + "/001", "data.root=second",
                                "train.duration=1 step", kStill});
    const auto words = group(home + "/002", "words");
    EXPECT_GT(words.at("moved"), 5) << words;
    EXPECT_EQ(words.at("initialized"), 0) << words;
    EXPECT_EQ(scores({home + "/002"}), scores({home + "/001"})) << model;
    EXPECT_THAT(started.err, testing::ContainsRegex(
                                 "\n  rows by name +copied  moved  re-initialized  dropped\n"))
        << started.err;
    EXPECT_THAT(read(folder_ / (home + "/002/report.html")), HasSubstr("Weights at the start"));
  }
}

// A step moves the statistics of its classifier's batch norm, so that scores differ: its rows do
// not.
TEST_F(Transfer, OfAwdLstmMovesTheRowsOfWords) {
  train({kLstm, kChunks});
  train({kLstm, kChunks, "model.weights=runs/texts/001", "data.root=second",
         "train.duration=1 step", kStill});
  const auto words = [&](const std::string& run) {
    const auto newest = newest_checkpoint(folder_ / ("runs/texts/" + run));
    const auto names = json::parse(read(newest + "/state.json"))
                           .at("fitted")
                           .at("vocabulary")
                           .get<std::vector<std::string>>();
    std::map<std::string, std::vector<double>> rows;
    for (const auto& [name, values] : weights_of(newest)) {
      if (!name.ends_with("encoder.weight")) continue;
      const auto width = values.size() / names.size();
      for (std::size_t i = 0; i < names.size(); ++i)
        rows[names[i]] = {values.begin() + static_cast<std::ptrdiff_t>(i * width),
                          values.begin() + static_cast<std::ptrdiff_t>((i + 1) * width)};
    }
    return rows;
  };
  EXPECT_GT(group("runs/texts/002", "words").at("moved"), 5);
  EXPECT_EQ(words("002"), words("001"));
}

TEST_F(Transfer, OfAnExportedFileWorksTheSame) {
  train({kLstm, kChunks});
  train({kLstm, kChunks, "data.root=second", "train.duration=1 step"});
  ASSERT_EQ(run({"export", "runs/texts/001", "first.safetensors"}, folder_.path()).code, 0);
  EXPECT_EQ(scores({"runs/texts/002", "--weights", "first.safetensors"}),
            scores({"runs/texts/001"}));
}

TEST_F(Transfer, GivesNewWordsTheMeanAndSaysWhatCameAndWent) {
  train({});
  write_texts(folder_ / "third", 0, "plot");
  const auto started =
      train({"model.weights=runs/texts/001", "data.root=third", "train.duration=1 step", kStill});
  const auto words = group("runs/texts/002", "words");
  EXPECT_EQ(words.at("new"), json({"plot"}));
  EXPECT_EQ(words.at("gone"), json({"story"}));
  EXPECT_THAT(started.err, HasSubstr("words, re-initialized (mean of the old rows): 'plot'"));
  EXPECT_THAT(started.err, HasSubstr("\n  words, dropped: 'story'\n"));
  const auto newest = [&](const std::string& number) {
    return newest_checkpoint(folder_ / ("runs/texts/" + number));
  };
  const auto before = weights_of(newest("001")).at("embedding.weight");
  const auto vocabulary = [&](const std::string& number) {
    return json::parse(read(newest(number) + "/state.json")).at("fitted").at("vocabulary");
  };
  const auto old_words = vocabulary("001"), new_words = vocabulary("002");
  const auto after = weights_of(newest("002")).at("embedding.weight");
  for (std::size_t word = 0; word < new_words.size(); ++word) {
    if (new_words[word] != "plot") continue;
    for (std::size_t i = 0; i < 8; ++i) {
      double mean = 0;
      for (std::size_t row = 0; row < old_words.size(); ++row) mean += before[8 * row + i];
      EXPECT_NEAR(after[8 * word + i], mean / static_cast<double>(old_words.size()), 1e-6);
    }
  }
}

TEST_F(Transfer, NamesAnotherTokenizer) {
  train({});
  const auto started = train({"model.weights=runs/texts/001", "train.duration=1 step",
                              "data.tokenizer={type: fastai, rules: [fix_html], split: words}"});
  EXPECT_THAT(started.err, HasSubstr("tokens of another tokenizer (rules: ")) << started.err;
}

// tests/golden/transfer.py made the files.
TEST_F(Transfer, OfFastaisLanguageModelTakesItsWordsFromAPickle) {
  const auto golden = test::in_source("tests/golden/transfer/plain");
  const std::string file = "weights: {file: " + golden + ".pth";
  const auto model = [&](const std::string& weights) {
    return kLstm.substr(0, kLstm.size() - 1) + ", " + weights + "}}";
  };
  const auto started =
      train({model(file + ", words: " + golden + ".pkl"), "train.duration=1 step", kChunks});
  const auto words = group("runs/texts/001", "words");
  EXPECT_EQ(words.at("copied").get<int>() + words.at("moved").get<int>(), 12) << words;
  EXPECT_EQ(words.at("gone"), json({"good", "bad"})) << words;
  EXPECT_THAT(started.err, HasSubstr("'1', which such a file does not have, is re-initialized"));
  const auto blind =
      run({"run", "texts.yaml", model(file), "train.duration=1 step", kChunks}, folder_.path());
  EXPECT_EQ(blind.code, 3) << blind.err;
  EXPECT_THAT(
      blind.err,
      HasSubstr("; '0.module.encoder.weight' has a row for each of the words, and the file does "
                "not name its own: write the file that lists them in 'model.weights.words'; "
                "'remap' renames, and 'strict: false' takes what fits\n"));
}

TEST_F(Transfer, IsResumedExactlyWithoutTheFile) {
  train({"train.duration=6 steps"});
  ASSERT_EQ(run({"export", "runs/texts/001", "start.safetensors"}, folder_.path()).code, 0);
  const std::vector<std::string> from{"model.weights=start.safetensors", "data.root=second"};
  const auto with = [&](const std::string& more) {
    auto all = from;
    all.push_back(more);
    return all;
  };
  train(with("train.duration=8 steps"));
  train(with("train.duration=3 steps"));
  std::filesystem::remove(folder_ / "start.safetensors");
  const auto resumed = run({"resume", "runs/texts/003", "train.duration=8 steps"}, folder_.path());
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  EXPECT_EQ(read(folder_ / "runs/texts/003/checkpoints/step-00000008/model.safetensors"),
            read(folder_ / "runs/texts/002/checkpoints/step-00000008/model.safetensors"));
}

TEST_F(Transfer, IsTheSameOnAnyNumberOfRanks) {
  train({"train.duration=6 steps"});
  std::filesystem::create_directory(folder_ / "kept");
  std::filesystem::rename(folder_ / "runs/texts/001", folder_ / "kept/start");
  for (const std::string mode : {"none", "ddp", "dp"})
    train({"model.weights=kept/start", "data.root=second", "train.duration=5 steps",
           "train.precision=fp64", "parallel.mode=" + mode, "name=" + mode,
           "parallel.devices=" + std::string(mode == "none" ? "1" : "2")});
  const auto one = weights_of(folder_ / "runs/none");
  EXPECT_LE(difference(weights_of(folder_ / "runs/ddp"), one), 1e-12);
  EXPECT_LE(difference(weights_of(folder_ / "runs/dp"), one), 1e-12);
}

TEST_F(Transfer, EvaluationCountsUnknownWords) {
  train({});
  write_texts(folder_ / "third", 0, "plot");
  const auto scored = run({"eval", "runs/texts/001", "data.root=third"}, folder_.path());
  ASSERT_EQ(scored.code, 0) << scored.err;
  EXPECT_THAT(scored.err, HasSubstr(" texts, are no words of the model's vocabulary: read as "
                                    "'xxunk'"))
      << scored.err;
}

/// 40 rows; colors by the letters of `colors`, whose first makes the target.
std::string flats_of(const std::string& colors, bool swapped) {
  std::string csv = swapped ? "area,city,color,price,kind\n" : "color,city,area,price,kind\n";
  for (int i = 0; i < 40; ++i) {
    const auto color = std::string(1, colors[static_cast<std::size_t>(i * 7 % 3)]);
    const std::string city = i % 4 ? "Rome" : "Oslo", area = std::to_string(20 + i * 11 % 37);
    csv += (swapped ? area + "," + city + "," + color : color + "," + city + "," + area) + "," +
           std::to_string(i * 7 % 3 * 5 + i % 4) + "," + (i * 7 % 3 == 0 ? "dear" : "cheap") + "\n";
  }
  return csv;
}

constexpr const char* kFlatsRecipe = R"(name: flats
model: {type: tabular, layers: [6], use_bn: false, bn_cont: false}
data: {type: csv_table, file: first.csv, target: kind, valid: {fraction: 0.3}}
batch: {global: 8}
train: {duration: 30 steps, threads: 1}
optimizer: {type: adam, lr: 0.02}
loss: cross_entropy
metrics: [accuracy]
parallel: {device: cpu}
output: {dir: runs}
)";

double loss_in(const std::string& scores) {
  std::istringstream words(scores.substr(scores.find("valid/loss")));
  std::string name;
  double value = -1;
  words >> name >> value;
  return value;
}

class TableTransfer : public Transfer {
 protected:
  TableTransfer() {
    write(folder_ / "first.csv", flats_of("abc", false));
    write(folder_ / "table.yaml", kFlatsRecipe);
  }
  Ended table(const std::vector<std::string>& overrides) { return train(overrides, "table.yaml"); }
};

TEST_F(TableTransfer, FollowsColumnsWhereverTheyStand) {
  table({});
  write(folder_ / "swapped.csv", flats_of("abc", true));
  const auto started = table(
      {"model.weights=runs/flats/001", "data.file=swapped.csv", "train.duration=1 step", kStill});
  EXPECT_NEAR(loss_in(scores({"runs/flats/002"})), loss_in(scores({"runs/flats/001"})), 1e-5)
      << started.err;
}

TEST_F(TableTransfer, GivesOtherCategoriesTheMeanAndSaysSo) {
  table({});
  write(folder_ / "other.csv", flats_of("xyz", false));
  const auto started = table(
      {"model.weights=runs/flats/001", "data.file=other.csv", "train.duration=1 step", kStill});
  const auto color = group("runs/flats/002", "column 'color'");
  EXPECT_EQ(color.at("copied"), 1) << color;  // #na#
  EXPECT_EQ(color.at("new"), json({"x", "y", "z"})) << color;
  EXPECT_EQ(color.at("gone"), json({"a", "b", "c"})) << color;
  EXPECT_THAT(started.err,
              HasSubstr("column 'color', re-initialized (mean of the old rows): 'x', 'y', 'z'"));
  const auto scored =
      run({"eval", "runs/flats/001", "data.file=other.csv", "--split", "all"}, folder_.path());
  EXPECT_THAT(scored.err, HasSubstr("column 'color': 40 of 40 samples (100.0 %) have a value that "
                                    "no training sample had: read as '#na#'"))
      << scored.err;
}

TEST_F(TableTransfer, MatchesTargetsByName) {
  const std::string regression = "~metrics";
  const auto numbers = [&](const std::string& target, std::vector<std::string> more) {
    more.insert(more.end(), {"data.target=" + target, "loss=mse", regression});
    return table(more);
  };
  numbers("[price, area]", {});
  numbers("[area, price]", {"model.weights=runs/flats/001", "train.duration=1 step", kStill});
  const auto targets = group("runs/flats/002", "targets");
  EXPECT_EQ(targets.at("moved"), 2) << targets;
  EXPECT_NEAR(loss_in(scores({"runs/flats/002"})), loss_in(scores({"runs/flats/001"})), 1e-4);
}

TEST_F(TableTransfer, KeepsTheRowsOfClassesThatBothHave) {
  table({});
  auto csv = flats_of("abc", false);
  std::size_t found = 0;
  for (std::size_t at = 0; (at = csv.find("cheap", at)) != std::string::npos; at += 4)
    if (++found % 2 == 0) csv.replace(at, 5, "fair");
  write(folder_ / "more.csv", csv);
  table({"model.weights=runs/flats/001", "data.file=more.csv", "train.duration=1 step", kStill});
  const auto classes = group("runs/flats/002", "classes");
  EXPECT_EQ(classes.at("new"), json({"fair"})) << classes;
  EXPECT_EQ(classes.at("how"), "mean of the old rows");
  const auto before = weights_of(newest_checkpoint(folder_ / "runs/flats/001")),
             after = weights_of(newest_checkpoint(folder_ / "runs/flats/002"));
  const auto& old_bias = before.at("layers.1.0.bias");
  const auto& bias = after.at("layers.1.0.bias");  // cheap, dear, fair
  ASSERT_EQ(bias.size(), 3U);
  EXPECT_EQ(bias[0], old_bias[0]);
  EXPECT_EQ(bias[1], old_bias[1]);
  EXPECT_NEAR(bias[2], (old_bias[0] + old_bias[1]) / 2, 1e-6);
}

}  // namespace
}  // namespace ddptrain::end_to_end
