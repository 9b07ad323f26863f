// Samples divided into folds.
#include "sources/split/fold.h"

#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include <algorithm>
#include <map>
#include <set>

#include "base/error.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;
using testing::ThrowsMessage;

FoldSpec fold(std::int64_t index, std::int64_t of, Auto<FoldRule> by = {}) {
  return {index, of, by, {}};
}

std::vector<Parts> all_folds(std::int64_t n, std::int64_t of, const FoldKeys& keys,
                             Auto<FoldRule> by = {}, std::int64_t seed = 42) {
  std::vector<Parts> folds;
  for (std::int64_t i = 0; i < of; ++i) folds.push_back(fold_parts(n, fold(i, of, by), keys, seed));
  return folds;
}

/// Each sample is valid once, and otherwise trained on.
void expect_partition(const std::vector<Parts>& folds, std::int64_t n) {
  std::vector<int> valid(static_cast<std::size_t>(n));
  for (const auto& parts : folds) {
    std::set<std::int64_t> all(parts.train.begin(), parts.train.end());
    all.insert(parts.valid.begin(), parts.valid.end());
    EXPECT_EQ(std::ssize(all), n);
    EXPECT_EQ(std::ssize(parts.train) + std::ssize(parts.valid), n);
    EXPECT_TRUE(std::is_sorted(parts.train.begin(), parts.train.end()));
    EXPECT_TRUE(std::is_sorted(parts.valid.begin(), parts.valid.end()));
    for (const auto i : parts.valid) ++valid[static_cast<std::size_t>(i)];
  }
  EXPECT_EQ(std::count(valid.begin(), valid.end(), 1), n);
}

std::vector<std::size_t> sizes_of(const std::vector<Parts>& folds) {
  std::vector<std::size_t> sizes;
  for (const auto& parts : folds) sizes.push_back(parts.valid.size());
  std::sort(sizes.begin(), sizes.end());
  return sizes;
}

/// "a", "b" and "c" mixed, five times each or more.
std::vector<std::string> mixed_keys() {
  std::vector<std::string> keys;
  for (int i = 0; i < 23; ++i) keys.emplace_back(i % 4 == 3 ? "c" : i % 3 == 0 ? "a" : "b");
  return keys;
}

TEST(Folds, HoldEachSampleOutOnce) {
  for (const std::int64_t n : {5, 23, 100}) {
    const auto folds = all_folds(n, 5, {});
    expect_partition(folds, n);
    const auto sizes = sizes_of(folds);
    EXPECT_LE(sizes.back() - sizes.front(), 1U);
  }
}

TEST(Folds, HaveAsManyOfEachClassGiveOrTakeOne) {
  const auto keys = mixed_keys();
  const auto folds = all_folds(23, 4, {keys, {}});
  expect_partition(folds, 23);
  const auto sizes = sizes_of(folds);
  EXPECT_LE(sizes.back() - sizes.front(), 1U);
  for (const std::string name : {"a", "b", "c"}) {
    const auto wanted = std::count(keys.begin(), keys.end(), name) / 4;
    for (const auto& parts : folds) {
      const auto found = std::count_if(parts.valid.begin(), parts.valid.end(), [&](auto i) {
        return keys[static_cast<std::size_t>(i)] == name;
      });
      EXPECT_THAT(found, testing::AnyOf(wanted, wanted + 1)) << name;
    }
  }
}

TEST(Folds, AreOfAllClassesAlikeOnlyWhereThatIsWanted) {
  const auto keys = mixed_keys();
  const auto random = all_folds(23, 3, {keys, {}}, FoldRule::random);
  EXPECT_EQ(random[0].valid, all_folds(23, 3, {})[0].valid);
  EXPECT_NE(random[0].valid, all_folds(23, 3, {keys, {}})[0].valid);
}

// scikit-learn's GroupKFold: 4, 3, 2, 2, 1 samples come to folds of 4, 4 and 4.
TEST(Folds, KeepGroupsWholeAndTheirSizesEven) {
  const std::vector<std::string> groups{"p", "q", "r", "p", "q", "s", "p", "q", "t", "p", "r", "s"};
  const auto folds = all_folds(12, 3, {{}, groups}, FoldRule::groups);
  expect_partition(folds, 12);
  EXPECT_EQ(sizes_of(folds), (std::vector<std::size_t>{4, 4, 4}));
  std::map<std::string, std::set<std::size_t>> in;
  for (std::size_t k = 0; k < folds.size(); ++k)
    for (const auto i : folds[k].valid) in[groups[static_cast<std::size_t>(i)]].insert(k);
  for (const auto& [group, where] : in) EXPECT_EQ(where.size(), 1U) << group;
}

TEST(Folds, DependOnTheSeedAndOnNothingThatWasAskedBefore) {
  const auto keys = mixed_keys();
  const auto third = fold_parts(23, fold(2, 4), {keys, {}}, 42).valid;
  EXPECT_EQ(all_folds(23, 4, {keys, {}})[2].valid, third);
  EXPECT_NE(fold_parts(23, fold(2, 4), {keys, {}}, 43).valid, third);
}

TEST(Folds, AreRefusedWhereOneWouldHoldOutNothing) {
  EXPECT_THAT([] { fold_parts(3, fold(0, 4), {}, 42); },
              ThrowsMessage<Error>(
                  HasSubstr("3 samples, fewer than 4 folds: fold 4 of 4 would hold out none")));
  EXPECT_THAT(
      [] {
        fold_parts(5, fold(0, 3), {{"cat", "dog", "dog", "cat", "dog"}, {}}, 42);
      },
      ThrowsMessage<Error>(HasSubstr("class 'cat' has 2 samples, fewer than 3 folds: "
                                     "fold 3 of 3 would hold out none")));
  EXPECT_THAT(
      [] {
        fold_parts(4, fold(0, 3, FoldRule::groups), {{}, {"p", "q", "p", "q"}}, 42);
      },
      ThrowsMessage<Error>(HasSubstr("2 groups, fewer than 3 folds: fold 3 of 3 would hold")));
}

TEST(Folds, AreRefusedWhereATrainingPartLacksAClass) {
  // The largest group goes to the first fold.
  const FoldKeys keys{{"cat", "cat", "dog", "dog", "dog"}, {"p", "p", "p", "q", "r"}};
  for (const auto index : {0, 1})
    EXPECT_THAT([&] { fold_parts(5, fold(index, 2, FoldRule::groups), keys, 42); },
                ThrowsMessage<Error>(HasSubstr("class 'cat': all of its samples are in fold 1 of "
                                               "2, whose training part lacks the class")));
  EXPECT_THAT(
      [] {
        fold_parts(5, fold(1, 2, FoldRule::random), {{"x", "y", "x", "x", "x"}, {}}, 42);
      },
      ThrowsMessage<Error>(HasSubstr("class 'y': all of its samples are in fold")));
}

TEST(Folds, AreRefusedWhereNothingSaysWhatTheyAreBy) {
  const auto message = [](const std::string& what) {
    return ThrowsMessage<Error>(HasSubstr("data.valid.fold.by: " + what));
  };
  EXPECT_THAT([] { fold_parts(9, fold(0, 3, FoldRule::classes), {}, 42); },
              message("targets are not classes"));
  EXPECT_THAT([] { fold_parts(9, fold(0, 3, FoldRule::groups), {}, 42); },
              message("nothing says which group a sample is of"));
}

TEST(Folds, AreRefusedWhereEachGroupIsAClass) {
  const std::vector<std::string> classes{"cat", "dog", "cat", "dog"};
  const std::vector<std::string> folders{"a/cat", "a/dog", "a/cat", "a/dog"};
  EXPECT_THAT(
      [&] {
        fold_parts(4, fold(0, 2, FoldRule::groups), {classes, folders}, 42);
      },
      ThrowsMessage<Error>(HasSubstr("data.valid.fold.by: each class is one group (class "
                                     "'cat', group 'a/cat'), so training lacks")));
  const std::vector<std::string> patients{"p", "p", "q", "q"};
  EXPECT_EQ(fold_parts(4, fold(0, 2, FoldRule::groups), {classes, patients}, 42).valid.size(), 2U);
}

FoldSpec grouped(const std::string& groups) { return {0, 2, FoldRule::groups, groups}; }

TEST(GroupsOfFiles, AreWhatTheFirstGroupOfThePatternHolds) {
  EXPECT_THAT(groups_of_files({"a/x/v1_f0.png", "b/v2_f0.png", "v1_f9.png"}, grouped("(v\\d)_(f)")),
              testing::ElementsAre("v1", "v2", "v1"));
  EXPECT_THAT(groups_of_files({"a/x/v1.png", "b/v2.png"}, fold(0, 2, FoldRule::groups)),
              testing::ElementsAre("a/x", "b"));
}

TEST(GroupsOfFiles, AreRefusedWithTheFileOrTheExpression) {
  const auto refused = [](const std::string& groups, const std::string& message) {
    EXPECT_THAT(
        [&] {
          groups_of_files({"a/v1.png", "a/w2.png"}, grouped(groups));
        },
        ThrowsMessage<Error>(HasSubstr("data.valid.fold.groups: " + message)));
  };
  refused("(v\\d)", "'a/w2.png' does not match");
  refused("v(\\d*)1|w", "'a/v1.png' has an empty group");
  refused("v\\d", "'v\\d' has no group ( )");
  refused("(v", "'(v' is not a regular expression: ");
}

}  // namespace
}  // namespace ddptrain
