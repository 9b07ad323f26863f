// Users and items out of a table, as fastai's CollabDataLoaders.from_df has them.
#include <gmock/gmock.h>

#include "base/error.h"
#include "data/dataset.h"
#include "data/preview.h"
#include "sources/csv_tables.h"
#include "support/node.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;

class Ratings : public testing::Test {
 protected:
  std::unique_ptr<Dataset> make(nlohmann::json options, const DataContext& context = {}) const {
    options["type"] = "ratings";
    options["file"] = file_;
    options["valid"] = {{"fraction", nullptr}, {"rows", {3, 4}}};
    return catalog<Dataset>().build(fragment<Dataset>(options), context);
  }
  std::string refusal(const nlohmann::json& options) const {
    try {
      make(options);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }
  static std::vector<std::string> row(const Dataset& data, Split split, std::int64_t index) {
    std::vector<std::string> cells;
    for (const auto& [column, text] : data.preview(split, index, {}).cells)
      cells.push_back(column + " " + text);
    return cells;
  }

  TemporaryFolder folder_;
  std::string file_ = folder_.write("r.csv",
                                    "userId,movieId,rating,timestamp\n"
                                    "10,7,4.5,1\n"
                                    "9,12,3,2\n"
                                    "10,12,0.5,3\n"
                                    "9,70,5,4\n"
                                    "11,7,2,5\n");
};

// fastai: columns 0, 1 and 2; classes are those of the rows, "#na#" before them, numbers in their
// order.
TEST_F(Ratings, AreTheFirstThreeColumns) {
  const auto data = make({});
  EXPECT_THAT(data->facts().cardinalities, ElementsAre(3, 3));
  EXPECT_THAT(data->facts().sample, ElementsAre(0));
  EXPECT_TRUE(data->facts().classes.empty());
  EXPECT_THAT(row(*data, Split::train, 0), ElementsAre("target 4.5", "userId 10", "movieId 7"));
  auto batch = data->allocate(Split::train, 1);
  data->load(Split::train, 1, {}, batch, 0);
  const auto* codes = batch.inputs[0].const_data_ptr<std::int64_t>();
  EXPECT_EQ(codes[0], 1) << "9 is the first user";
  EXPECT_EQ(codes[1], 2);
  EXPECT_EQ(batch.targets[0].item<float>(), 3);
}

TEST_F(Ratings, HaveUnknownUsersAndItemsAsMissingOnesAndCountThem) {
  const auto data = make({});
  EXPECT_THAT(row(*data, Split::valid, 0), ElementsAre("target 5", "userId 9", "movieId #na#"));
  EXPECT_THAT(row(*data, Split::valid, 1), ElementsAre("target 2", "userId #na#", "movieId 7"));
  TableOptions options;
  options.file = file_;
  options.target.column = "rating";
  options.categories = std::vector<std::string>{"userId", "movieId"};
  options.continuous = std::vector<std::string>{};
  options.valid.fraction = {};
  options.valid.rows = {0, 3, 4};
  EXPECT_THAT(
      unseen_notes(test::read_csv_table(options)),
      ElementsAre("column 'userId': 1 row with 1 name that no training row has, read as '#na#', "
                  "which is missing",
                  "column 'movieId': 3 rows with 2 names that no training row has, read as '#na#', "
                  "which is missing"));
}

TEST_F(Ratings, MayGiveHeldOutOnesClassesOrRefuseThem) {
  EXPECT_THAT(make({{"unseen", "class"}})->facts().cardinalities, ElementsAre(4, 4));
  EXPECT_THAT(refusal({{"unseen", "error"}}), HasSubstr("is in no training row (data.unseen)"));
}

TEST_F(Ratings, AreColumnsByName) {
  const auto data = make({{"user", "movieId"}, {"item", "userId"}, {"rating", "timestamp"}});
  EXPECT_THAT(row(*data, Split::train, 0), ElementsAre("target 1", "movieId 7", "userId 10"));
  EXPECT_TRUE(data->chosen().members.empty());
  const auto chosen = make({{"user", "movieId"}, {"item", "userId"}})->chosen();
  ASSERT_EQ(chosen.members.size(), 1);
  EXPECT_EQ(chosen.find("rating")->text, "rating");
  EXPECT_THAT(refusal({{"user", "userID"}}), HasSubstr("did you mean 'userId'?"));
  EXPECT_THAT(refusal({{"item", "userId"}}), HasSubstr("'userId' is the column of users"));
}

TEST_F(Ratings, ReadOtherColumnsOfAnotherFileAsTheirRecipeSays) {
  const auto trained = make({});
  DataContext context;
  context.fitted = trained->state();
  context.unlabeled = folder_.write("new.csv", "movieId,userId\n7,9\n8,9\n");
  const auto data = make({{"user", "userId"}, {"item", "movieId"}, {"rating", "rating"}}, context);
  EXPECT_EQ(data->size(Split::valid), 2);
  auto batch = data->allocate(Split::valid, 1);
  data->load(Split::valid, 1, {}, batch, 0);
  const auto* codes = batch.inputs[0].const_data_ptr<std::int64_t>();
  EXPECT_EQ(codes[0], 1);
  EXPECT_EQ(codes[1], 0) << "an item without ratings";
}

}  // namespace
}  // namespace ddptrain
