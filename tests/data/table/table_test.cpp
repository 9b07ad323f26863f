#include "sources/table/table.h"

#include <gmock/gmock.h>

#include <cmath>
#include <cstring>

#include "base/error.h"
#include "data/dataset.h"
#include "data/loader/scored.h"
#include "data/prediction_form.h"
#include "data/preview.h"
#include "sources/csv_tables.h"
#include "support/node.h"
#include "support/refused.h"
#include "support/temporary_folder.h"

namespace ddptrain {
namespace {

using testing::Contains;
using testing::ElementsAre;
using testing::HasSubstr;
using testing::Pair;
using Names = std::vector<std::string>;

class Tables : public testing::Test {
 protected:
  TableOptions options(const std::string& text, const std::vector<std::int64_t>& valid) {
    TableOptions made;
    made.file = folder_.write("t.csv", text);
    made.target.column = "y";
    made.valid.fraction = {};
    made.valid.rows = valid;
    return made;
  }

  static std::string problem(const TableOptions& options, const std::string& fitted = {}) {
    try {
      test::read_csv_table(options, fitted);
    } catch (const Error& error) {
      return error.what();
    }
    return "none";
  }

  TemporaryFolder folder_;
};

const std::string kPeople =
    "age,work,split,y\n"
    "20,a,train,no\n"
    ",b,train,yes\n"
    "40,a,train,no\n"
    "90,c,valid,yes\n"
    ",NA,valid,no\n";

// Median of 20 and 40 is 30; then mean 30 and deviation sqrt(200 / 3).
TEST_F(Tables, AreFittedOnTheTrainingRowsAlone) {
  const auto table = test::read_csv_table(options(kPeople, {3, 4}));
  EXPECT_THAT(table.fit.categories[0].classes, ElementsAre("#na#", "a", "b"));
  EXPECT_EQ(table.fit.categories[1].name, "split");
  EXPECT_EQ(table.fit.categories[2].name, "age_na");
  EXPECT_EQ(table.fit.continuous[0].fill, 30);
  EXPECT_EQ(table.fit.continuous[0].mean, 30);
  EXPECT_THAT(table.fit.target_classes, ElementsAre("no", "yes"));
  const auto& valid = table.splits[1];
  EXPECT_THAT(valid.categories, ElementsAre(0, 0, 1, 0, 0, 2));
  EXPECT_THAT(valid.continuous, ElementsAre(testing::FloatNear(60 / std::sqrt(200 / 3.), 1e-5), 0));
  EXPECT_THAT(valid.labels, ElementsAre(1, 0));
}

TEST_F(Tables, AreHeldOutByAColumnAsColSplitterReadsIt) {
  for (const auto* words : {"train,valid", "False,True", "0,1"}) {
    const std::string train(words, std::strchr(words, ',')), valid(std::strchr(words, ',') + 1);
    auto made =
        options("x,is_valid,y\n1," + train + ",a\n2," + valid + ",a\n3," + train + ",b\n", {});
    made.valid.column = "is_valid";
    const auto table = test::read_csv_table(made);
    EXPECT_THAT(table.splits[0].rows, ElementsAre(0, 2)) << words;
    EXPECT_THAT(table.splits[1].rows, ElementsAre(1)) << words;
    EXPECT_TRUE(table.fit.categories.empty()) << "the column is no input";
  }
  auto made = options("x,s,y\n1,train,a\n2,test,a\n", {});
  made.valid.column = "s";
  EXPECT_THAT(problem(made),
              HasSubstr("t.csv:3: column 's': 'test' is neither 'train' nor 'valid'"));
}

// fastai 2.8.12: RandomSplitter(0.3, seed=42)(range(10)).
TEST_F(Tables, AreHeldOutByAFractionAsRandomSplitterDoes) {
  auto made = options("x,y\n0,a\n1,a\n2,a\n3,a\n4,a\n5,a\n6,a\n7,a\n8,a\n9,a\n", {});
  made.valid.fraction = 0.3;
  made.valid.order = SplitRule::fastai;
  const auto table = test::read_csv_table(made);
  EXPECT_THAT(table.splits[0].rows, ElementsAre(8, 4, 5, 0, 9, 3, 7));
  EXPECT_THAT(table.splits[1].rows, ElementsAre(2, 6, 1));
}

// fastai 2.8.12: IndexSplitter([4, 1])(range(6)) gives ([0, 2, 3, 5], [4, 1]).
TEST_F(Tables, AreHeldOutByTheirIndexInOrderOfTheFile) {
  const auto table = test::read_csv_table(options("x,y\n0,a\n1,a\n2,a\n3,a\n4,a\n5,a\n", {4, 1}));
  EXPECT_THAT(table.splits[0].rows, ElementsAre(0, 2, 3, 5));
  EXPECT_THAT(table.splits[1].rows, ElementsAre(1, 4));
  EXPECT_THAT(problem(options("x,y\n0,a\n", {7})), HasSubstr("there is no row 7"));
}

TEST_F(Tables, WantOneRuleForWhatIsHeldOut) {
  const auto message_of = [](const nlohmann::json& valid) {
    return test::refused<Dataset>(
        {{"type", "csv_table"}, {"file", "x.csv"}, {"target", "y"}, {"valid", valid}});
  };
  EXPECT_EQ(message_of({{"fraction", nullptr}}),
            "valid.fraction: give one of 'fraction', 'column', 'rows', 'fold'\n");
  EXPECT_EQ(message_of({{"column", "split"}}), "") << "it replaces the default fraction";
  EXPECT_EQ(message_of({{"column", "split"}, {"fraction", 0.3}}),
            "valid.fraction: 'fraction' and 'column' exclude each other; give one of them, null "
            "removes the other\n");
  EXPECT_EQ(message_of({{"column", "split"}, {"fraction", nullptr}}), "");
}

TEST_F(Tables, InferWhatIsANumberOrAreTold) {
  const std::string text = "a,b,y\n1,x,0.5\n2,y,1\n1,x,2\n";
  auto made = options(text, {2});
  EXPECT_TRUE(test::read_csv_table(made).fit.target_classes.empty());
  EXPECT_THAT(test::read_csv_table(made).splits[1].numbers, ElementsAre(2));
  made.categories = Names{"a"};
  auto table = test::read_csv_table(made);
  EXPECT_THAT(table.fit.categories[0].classes, ElementsAre("#na#", "1", "2"));
  EXPECT_TRUE(table.fit.continuous.empty());
  made = options(text, {2});
  made.continuous = Names{"b"};
  EXPECT_THAT(problem(made), HasSubstr("t.csv:2: column 'b': 'x' is not a number"));
  made = options(kPeople, {3});
  made.continuous = Names{"agee"};
  EXPECT_THAT(problem(made), HasSubstr("has no column 'agee'; did you mean 'age'?"));
  made.continuous = Names{"y"};
  EXPECT_EQ(problem(made), "data.continuous: 'y' is the target");
  EXPECT_EQ(problem(options("y\na\nb\n", {1})), "data: no column is left to predict 'y' from");
}

TEST_F(Tables, TreatNamesThatOnlyValidRowsHaveAsToldTo) {
  auto made = options("c,y\na,0\nb,0\nz,0\n", {2});
  EXPECT_THAT(test::read_csv_table(made).splits[1].categories, ElementsAre(0));
  made.unseen = Unseen::own_class;
  EXPECT_THAT(test::read_csv_table(made).splits[1].categories, ElementsAre(3));
  made.unseen = Unseen::error;
  EXPECT_THAT(problem(made), HasSubstr("t.csv:4: column 'c': 'z' is in no training row"));
}

TEST_F(Tables, NameTheRowOfATargetThatCannotBe) {
  EXPECT_THAT(problem(options("c,y\na,p\nb,q\nz,r\n", {2})),
              HasSubstr("t.csv:4: column 'y': class 'r' is in no training row"));
  EXPECT_THAT(problem(options("c,y\na,p\nb,\nz,p\n", {2})),
              HasSubstr("t.csv:3: column 'y': the target is missing"));
  EXPECT_THAT(problem(options("c,y\na,p\nb,None\nz,p\n", {2})),
              HasSubstr("the target is missing: data.missing counts 'None' as such"));
  EXPECT_THAT(problem(options("c,y\na,1\nb,1e39\nz,1\n", {2})),
              HasSubstr("t.csv:3: column 'y': '1e39' is larger than a float can hold"));
}

class TablesOfSeveralTargets : public Tables {
 protected:
  TableOptions listed(const Names& targets, const std::string& text,
                      const std::vector<std::int64_t>& valid) {
    auto made = options(text, valid);
    made.target = {.column = {}, .columns = targets};
    return made;
  }
};

TEST_F(TablesOfSeveralTargets, HaveANumberOfEachInARow) {
  const auto table = test::read_csv_table(
      listed({"b", "a"}, "x,a,b,kind\n1,10,0.5,u\n2,20,,v\n3,NA,1.5,u\n", {2}));
  EXPECT_TRUE(table.fit.target_classes.empty());
  EXPECT_EQ(table.fit.categories.size(), 1U) << "no target is an input";
  EXPECT_EQ(table.fit.continuous.size(), 1U);
  const auto& train = table.splits[0].numbers;
  ASSERT_EQ(train.size(), 4U);
  EXPECT_EQ(train[0], 0.5F);
  EXPECT_EQ(train[1], 10);
  EXPECT_TRUE(std::isnan(train[2])) << "missing";
  EXPECT_EQ(train[3], 20);
  ASSERT_EQ(table.splits[1].numbers.size(), 2U);
  EXPECT_EQ(table.splits[1].numbers[0], 1.5F);
  EXPECT_TRUE(std::isnan(table.splits[1].numbers[1]));
}

// A list of one: the way to train on rows of which some lack the number.
TEST_F(TablesOfSeveralTargets, MayBeOneThatIsMissingInPlaces) {
  const auto table = test::read_csv_table(listed({"y"}, "x,y\n1,\n2,7\n3,8\n", {2}));
  EXPECT_TRUE(std::isnan(table.splits[0].numbers.at(0)));
  EXPECT_EQ(table.splits[0].numbers.at(1), 7);
  EXPECT_THAT(problem(options("x,y\n1,\n2,7\n3,8\n", {2})),
              HasSubstr("t.csv:2: column 'y': the target is missing; 'target: [y]' leaves it out"));
}

TEST_F(TablesOfSeveralTargets, AreNumbersAndNoInputs) {
  const std::string text = "x,a,kind\n1,10,\n2,20,flat\n3,30,house\n";
  EXPECT_THAT(problem(listed({"a", "kind"}, text, {2})),
              HasSubstr("t.csv:3: column 'kind': 'flat' is not a number, and targets that are "
                        "listed are; a class is predicted alone: 'target: kind'"));
  EXPECT_THAT(problem(listed({"a", "kin"}, text, {2})),
              HasSubstr("data.target: '" + folder_ / "t.csv" +
                        "' has no column 'kin'; did you mean 'kind'?"));
  EXPECT_THAT(problem(listed({"price"}, text, {2})),
              HasSubstr("' has no column 'price'; its columns are 'x', 'a', 'kind'"));
  auto made = listed({"a", "x"}, text, {2});
  made.continuous = Names{"x"};
  EXPECT_EQ(problem(made), "data.continuous: 'x' is a target");
  EXPECT_THAT(problem(listed({"a", "b"}, "x,a,b\n1,1,\n2,2,\n3,3,4\n", {2})),
              HasSubstr("column 'b' has no number in any training row"));
  EXPECT_EQ(problem(listed({"a", "b"}, "a,b\n1,1\n2,2\n", {1})),
            "data: no column is left to predict 'a', 'b' from");
}

TEST_F(TablesOfSeveralTargets, AreOfACheckpointInItsOrder) {
  const std::string text = "x,a,b\n1,10,0.5\n2,20,1\n3,30,1.5\n";
  const auto made = listed({"a", "b"}, text, {2});
  const auto kept = to_json(test::read_csv_table(made).fit, made);
  EXPECT_THAT(test::read_csv_table(made, kept).splits[1].numbers, ElementsAre(30, 1.5));
  EXPECT_EQ(problem(listed({"b", "a"}, text, {2}), kept),
            "data.target: [\"b\",\"a\"], but the model was trained with [\"a\",\"b\"]");
}

TEST_F(TablesOfSeveralTargets, AreListedOnceAndNoClassification) {
  const auto message_of = [](const nlohmann::json& target, const char* task) {
    return test::refused<Dataset>(
        {{"type", "csv_table"}, {"file", "x.csv"}, {"target", target}, {"task", task}});
  };
  EXPECT_EQ(message_of({"a", "b"}, "regression"), "");
  EXPECT_EQ(message_of("a", "classification"), "");
  EXPECT_EQ(message_of({"a", "b"}, "classification"),
            "target.columns: 'target.columns' needs 'task' other than classification; it is "
            "classification\n");
  EXPECT_EQ(message_of({"a", "a"}, "regression"), "target[1]: 'a' is listed twice\n");
  EXPECT_EQ(message_of(nlohmann::json::array(), "auto"),
            "target: give one of 'column', 'columns'\n");
}

TEST_F(TablesOfSeveralTargets, AreATensorWithAColumnForEach) {
  const auto file = folder_.write("t.csv", "x,a,b\n1,10,0.5\n2,,1\n3,30,1.5\n");
  const auto data = catalog<Dataset>().build(
      fragment<Dataset>({{"type", "csv_table"},
                         {"file", file},
                         {"target", {"a", "b"}},
                         {"valid", {{"fraction", nullptr}, {"rows", {2}}}}}),
      DataContext{});
  EXPECT_EQ(data->facts().numbers, 2);
  auto batch = data->allocate(Split::train, 2);
  EXPECT_THAT(batch.targets[0].sizes().vec(), ElementsAre(2, 2));
  for (std::int64_t i = 0; i < 2; ++i) data->load(Split::train, i, {}, batch, i);
  EXPECT_EQ(batch.targets[0][0][0].item<float>(), 10);
  EXPECT_EQ(batch.targets[0][0][1].item<float>(), 0.5);
  EXPECT_TRUE(std::isnan(batch.targets[0][1][0].item<float>()));
  EXPECT_EQ(batch.targets[0][1][1].item<float>(), 1);
  const auto shown = data->preview(Split::train, 1, {});
  EXPECT_THAT(shown.cells, ElementsAre(Pair("a", "missing"), Pair("b", "1"), Pair("x", "2")));
  ASSERT_NE(data->prediction_form(), nullptr);
  EXPECT_THAT(data->prediction_form()->columns(), ElementsAre("a", "b"));
}

TEST_F(TablesOfSeveralTargets, KnowTheRowsThatHaveNone) {
  const auto file = folder_.write("t.csv", "x,a,b\n1,10,0.5\n2,,1\n3,,\n4,,\n5,1,1\n");
  const auto data = catalog<Dataset>().build(
      fragment<Dataset>({{"type", "csv_table"},
                         {"file", file},
                         {"target", {"a", "b"}},
                         {"valid", {{"fraction", nullptr}, {"rows", {3, 4}}}}}),
      DataContext{});
  EXPECT_TRUE(data->has_target(Split::train, 1)) << "one of two";
  EXPECT_FALSE(data->has_target(Split::train, 2));
  EXPECT_EQ(without_target(*data, Split::valid), 1);
}

TEST_F(Tables, ShowZeroAsZero) {
  const auto file = folder_.write("t.csv", "x,y\n0,a\n267,b\n301,a\n72,b\n");
  const auto data = catalog<Dataset>().build(
      fragment<Dataset>({{"type", "csv_table"},
                         {"file", file},
                         {"target", "y"},
                         {"valid", {{"fraction", nullptr}, {"rows", {3}}}}}),
      DataContext{});
  EXPECT_THAT(data->preview(Split::train, 0, {}).cells, Contains(Pair("x", "0")));
  EXPECT_THAT(data->preview(Split::train, 1, {}).cells, Contains(Pair("x", "267")));
}

TEST_F(Tables, SayWhereNothingCanBeFilledIn) {
  EXPECT_THAT(problem(options("x,y\n1,a\n2,a\n,a\n", {2})),
              HasSubstr("t.csv:4: column 'x': missing, and no training row lacks it"));
  EXPECT_THAT(problem(options("x,y\n,a\n,a\n5,a\n", {2})),
              HasSubstr("column 'x' has no number in any training row"));
}

class FittedTables : public Tables {
 protected:
  /// What a checkpoint keeps after training on kPeople.
  std::string fitted(Unseen unseen = Unseen::missing) {
    auto made = options(kPeople, {3, 4});
    made.drop = {"split"};
    made.unseen = unseen;
    return to_json(test::read_csv_table(made).fit, made);
  }
};

// As pandas writes an index; fastai's FillMissing calls the column of a column "" "_na".
TEST_F(FittedTables, MayHaveAColumnWithoutAName) {
  const auto asked = options(",b,y\n1,x,no\n,x,no\n6,z,yes\n3,x,no\n", {3});
  const auto table = test::read_csv_table(asked);
  ASSERT_EQ(table.fit.categories.size(), 2U);
  EXPECT_EQ(table.fit.categories[1].name, "_na");
  EXPECT_EQ(table.fit.continuous[0].fill, 3.5);  // the median of 1 and 6
  EXPECT_THAT(table.splits[0].categories, ElementsAre(1, 1, 1, 2, 2, 1));
  const auto again = test::read_csv_table(asked, to_json(table.fit, asked));
  EXPECT_EQ(again.splits[0].categories, table.splits[0].categories);
  EXPECT_EQ(again.splits[1].continuous, table.splits[1].continuous);
}

TEST_F(FittedTables, AreTheSameAgain) {
  const auto kept = fitted();
  auto made = options(kPeople, {3, 4});
  EXPECT_EQ(to_json(test::read_csv_table(made, kept).fit, made), kept);
}

// Columns in another order, one more, other numbers: the median 30, the mean 30, classes a and b
// stay.
TEST_F(FittedTables, ApplyTheStatisticsOfTraining) {
  const auto kept = fitted();
  const auto table = test::read_csv_table(
      options("more,y,work,age\n1,yes,b,\n1,no,new,1000\n1,no,,30\n", {1, 2}), kept);
  EXPECT_THAT(table.splits[0].categories, ElementsAre(2, 2));
  EXPECT_THAT(table.splits[0].continuous, ElementsAre(0));
  EXPECT_THAT(table.splits[1].categories, ElementsAre(0, 1, 0, 1));
  EXPECT_FLOAT_EQ(table.splits[1].continuous[0], static_cast<float>(970 / std::sqrt(200 / 3.)));
  EXPECT_THAT(table.splits[1].labels, ElementsAre(0, 0));
}

TEST_F(FittedTables, NameTheColumnThatIsNotThere) {
  const auto kept = fitted();
  EXPECT_THAT(
      problem(options("work,y\na,no\nb,yes\n", {1}), kept),
      HasSubstr("t.csv:1: no column 'age', which the model was trained on; there are 'work', 'y'"));
}

TEST_F(FittedTables, NeedNoTargetToPredict) {
  const auto kept = fitted();
  const auto table = test::read_unlabeled_csv(options("work,age\nb,30\n?,\n", {}), kept);
  EXPECT_TRUE(table.splits[0].rows.empty());
  EXPECT_THAT(table.splits[1].rows, ElementsAre(0, 1));
  EXPECT_THAT(table.splits[1].categories, ElementsAre(2, 1, 0, 2));
  EXPECT_TRUE(table.splits[1].labels.empty());
  auto strict = options("work,age\nb,30\n?,\n", {});
  strict.unseen = Unseen::error;
  const auto unseen = test::read_unlabeled_csv(strict, kept);
  EXPECT_THAT(unseen.errors, ElementsAre(Pair(1, HasSubstr("t.csv:3: column 'work': '?' is in no "
                                                           "training row (data.unseen)"))));
}

TEST_F(FittedTables, NoteWhichRowsCannotBePredicted) {
  const auto kept = fitted();
  const auto table =
      test::read_unlabeled_csv(options("work,age\n\"b\n\",30\nb,old\na,1e39\nb,20\n", {}), kept);
  EXPECT_THAT(table.errors,
              ElementsAre(Pair(1, HasSubstr("t.csv:4: column 'age': 'old' is not a number")),
                          Pair(2, HasSubstr("t.csv:5: column 'age': '1e39' is larger than"))));
  const auto sound = test::read_unlabeled_csv(options("work,age\nb,20\n", {}), kept);
  EXPECT_EQ(table.splits[1].continuous.at(3), sound.splits[1].continuous.at(0));
}

// Many bad rows: finding the line of each from the start would take minutes.
TEST_F(FittedTables, NoteManyBadRowsInLinearTime) {
  const auto kept = fitted();
  std::string text = "work,age\n";
  for (int row = 0; row < 200'000; ++row) text += "b,old\n";
  const auto table = test::read_unlabeled_csv(options(text, {}), kept);
  ASSERT_EQ(table.errors.size(), 200'000U);
  EXPECT_THAT(table.errors.rbegin()->second, HasSubstr("t.csv:200001: column 'age'"));
}

TEST_F(FittedTables, RefuseOptionsThatWouldHaveNoEffect) {
  const auto kept = fitted();
  auto made = options(kPeople, {3, 4});
  made.normalize = false;
  EXPECT_THAT(problem(made, kept),
              HasSubstr("data.normalize: false, but the model was trained with true"));
  made = options(kPeople, {3, 4});
  made.categories = Names{"split"};
  EXPECT_THAT(problem(made, kept), HasSubstr("data.categories: the model was trained on 'work'"));
}

}  // namespace
}  // namespace ddptrain
