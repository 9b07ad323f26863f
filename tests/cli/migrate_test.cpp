// `migrate FILE...`, in a program whose sgd once called its rate 'eta'.
#include <gmock/gmock.h>
#include <gtest/gtest.h>

#include "base/files/files.h"
#include "cli/cli_output.h"
#include "support/bare.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::HasSubstr;

struct SgdOptions {
  double lr = 0.1;
  void fields(Fields& f) { f("lr", lr, {.doc = "Rate.", .was = "eta"}); }
};

class Migrate : public testing::Test {
 protected:
  test::CliOutput cli_output(std::vector<std::string> words) {
    return test::cli_output(std::move(words), program_);
  }

  const std::string former_ =
      "# eta is the rate\nrecipe: 1\nmodel: {type: mlp}\ndata: {type: mnist, root: digits}\n"
      "optimizer:\n  type: sgd\n  'eta':   1e-2   # as in the paper\nbatch: {global: 64}\r\n";
  const std::string present_ =
      "# eta is the rate\nrecipe: 1\nmodel: {type: mlp}\ndata: {type: mnist, root: digits}\n"
      "optimizer:\n  type: sgd\n  'lr':   1e-2   # as in the paper\nbatch: {global: 64}\r\n";
  TemporaryFolder folder_;
  test::Inside inside_{folder_.path()};

 private:
  static Catalogs with(const CatalogBase& optimizers) {
    auto catalogs = *engine_program().catalogs;
    catalogs["optimizer"] = &optimizers;
    return catalogs;
  }
  const test::Bare optimizers_{"optimizer", {test::bare<SgdOptions>("sgd", {"lr"})}};
  const Catalogs catalogs_ = with(optimizers_);
  const Program program_{&catalogs_, engine_program().verbs};
};

TEST_F(Migrate, AFormerKeyIsStillReadWithAWarning) {
  folder_.write("a.yaml", former_);
  const auto answer = cli_output({"validate", "a.yaml"});
  EXPECT_EQ(answer.code, 0);
  EXPECT_THAT(answer.err,
              HasSubstr("a.yaml:7:3: warning[renamed-key]: optimizer: 'eta' is now 'lr'; "
                        "'ddptrain migrate FILE --write' writes that\n"));
  EXPECT_EQ(cli_output({"validate", "--strict", "a.yaml"}).code, 2);
}

TEST_F(Migrate, ShowsTheLinesAndLeavesTheFile) {
  folder_.write("a.yaml", former_);
  const auto answer = cli_output({"migrate", "a.yaml"});
  EXPECT_EQ(answer.code, 0);
  EXPECT_EQ(answer.out,
            "--- a.yaml\n+++ a.yaml\n@@ -7 +7 @@\n-  'eta':   1e-2   # as in the paper\n"
            "+  'lr':   1e-2   # as in the paper\n");
  EXPECT_EQ(read_text("a.yaml"), former_);
}

TEST_F(Migrate, WritesInPlaceAndKeepsAllElse) {
  folder_.write("a.yaml", former_);
  folder_.write("b.yaml", present_);
  EXPECT_EQ(cli_output({"migrate", "--write", "a.yaml", "b.yaml"}).code, 0);
  EXPECT_EQ(read_text("a.yaml"), present_);
  EXPECT_EQ(read_text("b.yaml"), present_);
  EXPECT_EQ(cli_output({"validate", "--strict", "a.yaml"}).code, 0);
  EXPECT_EQ(cli_output({"migrate", "a.yaml"}).out, "");
}

TEST_F(Migrate, AFileWithAnErrorStaysAsItIs) {
  const auto both = former_ + "optimizer: {lr: 1}\n";
  folder_.write("bad.yaml", both);
  folder_.write("good.yaml", former_);
  const auto answer = cli_output({"migrate", "--write", "bad.yaml", "good.yaml"});
  EXPECT_EQ(answer.code, 2);
  EXPECT_THAT(answer.err, HasSubstr("bad.yaml:9:1: error[duplicate-key]"));
  EXPECT_EQ(read_text("bad.yaml"), both);
  EXPECT_EQ(read_text("good.yaml"), present_);
}

}  // namespace
}  // namespace ddptrain
