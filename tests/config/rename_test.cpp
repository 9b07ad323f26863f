#include "config/rename.h"

#include <gtest/gtest.h>

#include "config/encode.h"
#include "config/yaml/reader.h"
#include "support/bare.h"

namespace ddptrain {
namespace {

/// Options that had other names once.
struct PlainOptions {
  double lr = 0.1;
  double momentum = 0;
  void fields(Fields& f) {
    f("lr", lr, {.doc = "Rate.", .was = "rate"});
    f("momentum", momentum, {.doc = "Momentum."});
  }
};

struct OtherOptions {
  double momentum_of = 0;
  void fields(Fields& f) {
    f("momentum_of", momentum_of, {.doc = "Another's.", .was = "momentum"});
  }
};

struct LogOptions {
  std::int64_t every = 1;
  void fields(Fields& f) { f("every", every, {.doc = "Steps.", .was = "period"}); }
};

struct WholeOptions {
  Choice<Optimizer> optimizer{"plain"};
  std::vector<LogOptions> logs;
  std::map<std::string, LogOptions> named;
  void fields(Fields& f) {
    f("optimizer", optimizer, {.doc = "Optimizer.", .was = "optim"});
    f("logs", logs, {.doc = "Logs."});
    f("named", named, {.doc = "More logs."});
  }
};

class Rename : public testing::Test {
 protected:
  /// The recipe after renaming, and the messages: those of problems and `path/was->now`.
  std::string renamed(const std::string& text) {
    auto read = read_yaml(text, "a.yaml");
    Problems problems;
    found =
        rename_keys(read.tree, shape_of<WholeOptions>(), {{"optimizer", &optimizers_}}, problems);
    message.clear();
    for (const auto& problem : problems) message += render(problem);
    for (const auto& key : found) message += render(renamed_warning(key));
    return to_yaml(read.tree);
  }

  std::vector<Renamed> found;
  std::string message;

 private:
  test::Bare optimizers_{"optimizer",
                         {test::bare<PlainOptions>("plain"), test::bare<OtherOptions>("other")}};
};

TEST_F(Rename, AFormerKeyIsTakenWithAWarningAtItsPlace) {
  EXPECT_EQ(renamed("optimizer:\n  type: plain\n  rate: 0.5\n"),
            "optimizer: {type: plain, lr: 0.5}\n");
  EXPECT_EQ(message,
            "a.yaml:3:3: warning[renamed-key]: optimizer: 'rate' is now 'lr'; 'ddptrain migrate "
            "FILE --write' writes that\n");
}

TEST_F(Rename, GoesIntoListsTablesAndRenamedMaps) {
  const auto former = renamed(
      "optim: {type: plain, rate: 1}\nlogs: [{every: 2}, {period: 3}]\nnamed: {x: {period: 4}}\n");
  ASSERT_EQ(found.size(), 4U);
  EXPECT_EQ(found[0].now, "optimizer");
  EXPECT_EQ(found[2].path, "logs[1]");
  EXPECT_EQ(found[3].path, "named.x");
  const auto present = renamed(
      "optimizer: {type: plain, lr: 1}\nlogs: [{every: 2}, {every: 3}]\nnamed: {x: {every: 4}}\n");
  EXPECT_EQ(former, present);
  EXPECT_TRUE(found.empty());
}

TEST_F(Rename, AnotherComponentsPresentKeyStays) {
  renamed("optimizer: {type: plain, momentum: 1}\n");
  EXPECT_TRUE(found.empty());
  renamed("optimizer: {type: other, momentum: 1}\n");
  ASSERT_EQ(found.size(), 1U);
  EXPECT_EQ(found[0].now, "momentum_of");
}

TEST_F(Rename, WithoutATypeOnlyWhatNoComponentIsCalledNow) {
  EXPECT_EQ(renamed("optimizer: {rate: 1, momentum: 2}\n"), "optimizer: {lr: 1, momentum: 2}\n");
}

TEST_F(Rename, BothNamesOfOneOptionAreAnError) {
  renamed("optimizer:\n  type: plain\n  rate: 0.5\n  lr: 0.1\n");
  EXPECT_EQ(message,
            "a.yaml:3:3: error[renamed-key]: optimizer: 'rate' is now 'lr', which is given too; "
            "remove one\n");
}

TEST_F(Rename, InTextChangesTheKeysAlone) {
  const std::string text =
      "# the rate of größe  \noptimizer: {type: plain, 'rate': 0.5}  # rate\n\nlogs:\n"
      "  - {name: größe, period:   3}\r\n  -   period: 4";
  renamed(text);
  EXPECT_EQ(rename_in_text(text, found),
            "# the rate of größe  \noptimizer: {type: plain, 'lr': 0.5}  # rate\n\nlogs:\n"
            "  - {name: größe, every:   3}\r\n  -   every: 4");
}

}  // namespace
}  // namespace ddptrain
