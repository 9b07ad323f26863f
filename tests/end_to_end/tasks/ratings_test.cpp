// Recommendation through the same loop as everything else: users, items and what one gave the
// other.
#include <gmock/gmock.h>
#include <gtest/gtest.h>
#include <signal.h>

#include <chrono>
#include <cmath>
#include <sstream>
#include <thread>

#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

/// 125 ratings of 14 users and 11 films, from 0.5 to 5: a user's mood, a film's worth, and whether
/// both are even.
std::string ratings(const std::string& header = "who,film,stars,when") {
  std::string csv = header + "\n";
  for (int row = 0; row < 125; ++row) {
    const int user = row % 14, film = (row * 3 + row / 14) % 11;
    const double stars = 1 + user % 3 + film % 4 * 0.5 + (user % 2 == film % 2 ? 0.5 : 0);
    csv += "u" + std::to_string(user) + ",film " + std::to_string(film) + "," +
           std::to_string(stars) + "," + std::to_string(row) + "\n";
  }
  return csv;
}

const std::vector<std::string> kModels{
    "model={type: embedding_dot_bias, n_factors: 5, y_range: [0, 5.5]}",
    "model={type: collab_nn, layers: [12], ps: [0.2], embed_p: 0.1, y_range: [0, 5.5]}"};

/// 100 rows are trained on, 12 at a time: the last batch of an epoch has 4.
std::vector<std::string> rating_run(const std::string& model,
                                    const std::vector<std::string>& more) {
  std::vector<std::string> all{"run",
                               test::in_source("recipes/ratings.yaml"),
                               model,
                               "~expect",
                               "data.file=ratings.csv",
                               "data.loader.drop_last=false",
                               "train.duration=9 steps",
                               "batch.global=12",
                               "parallel.device=cpu",
                               "train.threads=1",
                               "eval.batch=7",
                               "output.dir=runs"};
  all.insert(all.end(), more.begin(), more.end());
  return all;
}

/// metrics.csv of a new run.
std::string rating_scores(const std::string& folder, const std::string& model,
                          const std::vector<std::string>& more) {
  auto all = rating_run(model, {"train.precision=fp64", "log.every=1 step"});
  if (model.find("collab_nn") != std::string::npos) all.push_back("parallel.sync_bn=true");
  all.insert(all.end(), more.begin(), more.end());
  const auto ended = run(all, folder);
  EXPECT_EQ(ended.code, 0) << ended.err;
  return read(folder + "/runs/ratings/" + list(folder + "/runs/ratings").back() + "/metrics.csv");
}

void expect_close_rows(const std::string& csv, const std::string& other, const std::string& what) {
  ASSERT_THAT(csv, testing::HasSubstr("valid/rmse"));
  std::istringstream a(csv.substr(csv.find('\n'))), b(other.substr(other.find('\n')));
  std::string x, y;
  for (a >> std::ws, b >> std::ws; std::getline(a, x, ',') && std::getline(b, y, ',');)
    EXPECT_NEAR(std::stod(x), std::stod(y), 1e-9) << what;
}

class EveryRecommender : public testing::TestWithParam<std::string> {};

TEST_P(EveryRecommender, ScoresTheSameWithNoneDpAndDdp) {
  const Folder folder;
  write(folder / "ratings.csv", ratings());
  const auto with = [&](const std::vector<std::string>& more) {
    return rating_scores(folder.path(), GetParam(), more);
  };
  const auto none = with({"parallel.mode=none"});
  expect_close_rows(none, with({"parallel.mode=dp", "parallel.devices=2"}), "dp");
  for (const std::string devices : {"1", "2", "3"})
    expect_close_rows(none, with({"parallel.mode=ddp", "parallel.devices=" + devices}),
                      "ddp " + devices);
}

TEST_P(EveryRecommender, EvaluatesEquallyToTheLastBitOnAnyNumberOfRanks) {
  const Folder folder;
  write(folder / "ratings.csv", ratings());
  ASSERT_EQ(run(rating_run(GetParam(), {}), folder.path()).code, 0);
  const auto one = run({"eval", "runs/ratings/001"}, folder.path());
  ASSERT_EQ(one.code, 0) << one.err;
  for (const std::string devices : {"2", "3"}) {
    const auto more =
        run({"eval", "runs/ratings/001", "parallel.mode=ddp", "parallel.devices=" + devices},
            folder.path());
    EXPECT_EQ(more.out, one.out) << devices << " ranks: " << more.err;
  }
}

bool has_step(const std::string& run, int step) {
  char name[32];
  std::snprintf(name, sizeof name, "/checkpoints/step-%08d", step);
  return exists(run + name);
}

TEST_P(EveryRecommender, ResumesInMidEpochBitForBit) {
  const Folder folder;
  write(folder / "ratings.csv", ratings());
  const auto all = rating_run(
      GetParam(), {"train.duration=155 steps", "checkpoint.every=7 steps", "eval.every=10 steps",
                   "parallel.mode=ddp", "parallel.devices=2", "parallel.sync_bn=auto"});
  ASSERT_EQ(run(all, folder.path()).code, 0);
  Program program(all, folder.path());
  const auto whole = folder / "runs/ratings/001", cut = folder / "runs/ratings/002";
  while (program.running() && !has_step(cut, 28))
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  program.signal(SIGKILL);
  ASSERT_EQ(program.wait().code, 128 + SIGKILL) << "it ended before it was killed";
  const auto resumed = run({"resume", cut}, folder.path());
  ASSERT_EQ(resumed.code, 0) << resumed.err;
  const std::string last = "/checkpoints/step-00000155";
  for (const auto* file : {"/model.safetensors", "/optimizer.safetensors", "/state.json"}) {
    ASSERT_FALSE(read(whole + last + file).empty()) << file;
    EXPECT_TRUE(read(whole + last + file) == read(cut + last + file)) << file;
  }
  EXPECT_EQ(read(whole + "/metrics.csv"), read(cut + "/metrics.csv"));
}

std::string recommender_of(const testing::TestParamInfo<std::string>& info) {
  return info.index == 0 ? "embedding_dot_bias" : "collab_nn";
}

INSTANTIATE_TEST_SUITE_P(Models, EveryRecommender, testing::ValuesIn(kModels), recommender_of);

std::vector<std::string> rows_of_text(const std::string& text) {
  std::vector<std::string> lines;
  std::istringstream stream(text);
  for (std::string line; std::getline(stream, line);) lines.push_back(line);
  return lines;
}

class Recommender : public testing::Test {
 protected:
  Recommender() {
    write(folder_ / "ratings.csv", ratings());
    trained_ = run(rating_run(kModels[0], {"train.duration=20 epochs"}), folder_.path());
    EXPECT_EQ(trained_.code, 0) << trained_.err;
  }
  Ended call(std::vector<std::string> words) const { return run(words, folder_.path()); }

  Folder folder_;
  Ended trained_;
};

TEST_F(Recommender, RecordsTheColumnsThatItTook) {
  const auto recipe = read(folder_ / "runs/ratings/001/recipe.yaml");
  for (const auto* column : {"user: who", "item: film", "rating: stars"})
    EXPECT_THAT(recipe, testing::HasSubstr(column));
}

TEST_F(Recommender, PredictsKnownAndUnknownUsersAndCountsThese) {
  write(folder_ / "new.csv",
        "film,who\nfilm 1,u3\nfilm 1,nobody\nfilm 2,no one\nfilm 2,nobody\nno film,u3\n,u3\n");
  const auto ended = call({"predict", "runs/ratings/001", "new.csv"});
  ASSERT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(ended.err, testing::HasSubstr(
                             "warning: column 'who': 3 rows with 2 names that no training row has, "
                             "read as '#na#'"));
  EXPECT_THAT(ended.err,
              testing::HasSubstr("warning: column 'film': 1 row with 1 name that no training row "
                                 "has, read as '#na#', which is missing\n"));
  const auto rows = rows_of_text(ended.out);
  ASSERT_EQ(rows.size(), 7) << ended.out;
  const auto value = [&](std::size_t row) { return rows[row].substr(rows[row].find(',')); };
  EXPECT_EQ(value(5), value(6)) << "an unknown film and a missing one";
  EXPECT_EQ(value(3), value(4)) << "two unknown users";
  EXPECT_NE(value(1), value(2));
}

std::vector<double> numbers_of_line(const std::string& line) {
  std::vector<double> numbers;
  std::istringstream cells(line);
  std::string cell;
  std::getline(cells, cell, ',');
  while (std::getline(cells, cell, ',')) numbers.push_back(std::stod(cell));
  return numbers;
}

/// The numbers of a name in an exported table.
std::vector<double> embedding_of(const std::string& csv, const std::string& name) {
  for (const auto& line : rows_of_text(csv))
    if (line.starts_with(name + ",")) return numbers_of_line(line);
  ADD_FAILURE() << name << " is not in " << csv;
  return {};
}

// A prediction is 5.5 / (1 + exp(-(product of the vectors + both biases))).
TEST_F(Recommender, ExportsEmbeddingsByNameFromWhichItsPredictionsFollow) {
  for (const std::string column : {"who", "film"}) {
    const auto ended =
        call({"export", "runs/ratings/001", column + ".csv", "--embeddings", column});
    ASSERT_EQ(ended.code, 0) << ended.err;
  }
  const auto users = read(folder_ / "who.csv"), items = read(folder_ / "film.csv");
  EXPECT_TRUE(
      users.starts_with("who,u_weight.0,u_weight.1,u_weight.2,u_weight.3,u_weight.4,u_bias\n"
                        "#na#,"))
      << users;
  write(folder_ / "new.csv", "who,film\nu3,film 1\nnobody,film 2\n");
  const auto rows = rows_of_text(call({"predict", "runs/ratings/001", "new.csv"}).out);
  ASSERT_EQ(rows.size(), 3);
  const auto predicted = [&](const std::string& user, const std::string& item) {
    const auto a = embedding_of(users, user), b = embedding_of(items, item);
    double sum = a.back() + b.back();
    for (std::size_t i = 0; i + 1 < a.size(); ++i) sum += a[i] * b[i];
    return 5.5 / (1 + std::exp(-sum));
  };
  EXPECT_NEAR(numbers_of_line(rows[1]).at(0), predicted("u3", "film 1"), 1e-4);
  EXPECT_NEAR(numbers_of_line(rows[2]).at(0), predicted("#na#", "film 2"), 1e-4);
  const auto wrong = call({"export", "runs/ratings/001", "x.csv", "--embeddings", "films"});
  EXPECT_EQ(wrong.code, 2);
  EXPECT_THAT(wrong.err,
              testing::HasSubstr("error: --embeddings: no column 'films'; did you mean 'film'?\n"));
  const auto ending = call({"export", "runs/ratings/001", "x.safetensors", "--embeddings", "film"});
  EXPECT_EQ(ending.code, 2);
  EXPECT_THAT(ending.err,
              testing::HasSubstr(
                  "error: usage: ddptrain export RUN_FOLDER FILE.csv --embeddings COLUMN\n"));
}

TEST_F(Recommender, IsRefusedWhereAFileHasTooFewColumnsOrNoNumbers) {
  write(folder_ / "two.csv", "who,film\nu1,film 1\n");
  const auto two = run(rating_run(kModels[0], {"data.file=two.csv"}), folder_.path());
  EXPECT_EQ(two.code, 3) << two.err;
  EXPECT_THAT(
      two.err,
      testing::HasSubstr("two.csv:1: 2 columns, and a user, an item and a rating are three; write "
                         "which columns they are in data.user, data.item and data.rating\n"));
  write(folder_ / "words.csv", "who,film,stars\nu1,film 1,many\nu2,film 1,3\n");
  const auto text = run(rating_run(kModels[0], {"data.file=words.csv"}), folder_.path());
  EXPECT_EQ(text.code, 3) << text.err;
  EXPECT_THAT(text.err,
              testing::HasSubstr("words.csv:2: column 'stars': 'many' is not a number; if it "
                                 "stands for a missing one, list it in data.missing\n"));
  const auto twice = run(rating_run(kModels[0], {"data.item=who"}), folder_.path());
  EXPECT_EQ(twice.code, 2) << twice.err;
  EXPECT_THAT(twice.err, testing::HasSubstr("error: data.item: 'who' is the column of users\n"));
}

TEST(Ratings, ShippedRecipesTrainOnMovieLensColumnsAndInQuickTests) {
  const Folder folder;
  write(folder / "ratings.csv", ratings("userId,movieId,rating,timestamp"));
  const auto ended = run({"run", test::in_source("recipes/movielens.yaml"), "data.source=null",
                          "data.file=ratings.csv", "train.duration=3 steps", "parallel.device=cpu",
                          "train.threads=1", "batch.global=16", "output.dir=runs"},
                         folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
  EXPECT_THAT(
      ended.err,
      testing::ContainsRegex(
          "\nstep 3  epoch 0\\.50  valid/loss [0-9.]+  valid/rmse [0-9.]+  valid/mae [0-9.]+\n"));
  const auto quick = run({"test", "--quick", test::in_source("recipes/movielens.yaml"),
                          test::in_source("recipes/ratings.yaml")},
                         folder.path());
  EXPECT_EQ(quick.code, 0) << quick.err << quick.out;
}

/// Whole, a few seconds: its own `expect` is the test.
TEST(Ratings, ReachWhatTheirRecipeExpects) {
  const Folder folder;
  ASSERT_EQ(run({"data", "make", "ratings", "."}, folder.path()).code, 0);
  const auto ended = run({"run", test::in_source("recipes/ratings.yaml"), "data.file=ratings.csv",
                          "parallel.device=cpu", "train.threads=1", "output.dir=runs"},
                         folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
}

// The mean rating for everyone is off by 1.1, the deviation of 1 + user % 3 + film % 4 / 2 and the
// half for both even or both odd; three numbers of each can express all three parts.
TEST(Ratings, AreLearned) {
  const Folder folder;
  write(folder / "ratings.csv", ratings());
  const auto ended =
      run(rating_run(kModels[0], {"train.duration=60 epochs", "optimizer.weight_decay=0.01",
                                  "expect={rmse: {max: 0.55}}"}),
          folder.path());
  EXPECT_EQ(ended.code, 0) << ended.err;
}

}  // namespace
}  // namespace ddptrain::end_to_end
