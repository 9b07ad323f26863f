// Classes are matched by their names, whatever folder, list or file they come from.
#include "sources/classes.h"

#include <gmock/gmock.h>

#include "data/image_data.h"
#include "data/loader/scored.h"
#include "data/text_data.h"
#include "sources/csv_tables.h"

namespace ddptrain {
namespace {

using testing::ElementsAre;
using testing::HasSubstr;
using testing::UnorderedElementsAre;

class Classes : public testing::Test {
 protected:
  void add(const std::string& path) { folder_.write(path, image("a_rgb.png")); }
  nlohmann::json image_folder() const {
    return {{"type", "image_folder"},
            {"root", folder_.path()},
            {"transforms", {{"train", steps()}, {"valid", steps()}}}};
  }
  nlohmann::json manifest(const std::string& rows) {
    return {{"type", "manifest"},
            {"file", folder_.write("list.csv", rows)},
            {"transforms", {{"train", steps()}, {"valid", steps()}}}};
  }
  static nlohmann::json steps() {
    return nlohmann::json::array({{{"type", "resize"}, {"size", {8, 8}}}});
  }
  static std::vector<std::int64_t> labels(const Dataset& data, Split split) {
    std::vector<std::int64_t> all;
    for (std::int64_t i = 0; i < data.size(split); ++i) all.push_back(data.label(split, i));
    return all;
  }
  const TemporaryFolder folder_;
};

TEST_F(Classes, OfACheckpointNumberTheTargets) {
  for (const auto* path : {"train/b/1.png", "train/c/1.png", "valid/b/1.png", "valid/c/1.png"})
    add(path);
  const auto fresh = build_data(image_folder());
  EXPECT_THAT(labels(*fresh, Split::valid), ElementsAre(0, 1));
  const auto trained = build_data(image_folder(), {.classes = {{"a", "c", "b"}}});
  EXPECT_THAT(trained->facts().classes, ElementsAre("a", "c", "b"));
  EXPECT_THAT(labels(*trained, Split::valid), ElementsAre(2, 1));
  EXPECT_THAT(labels(*trained, Split::train), ElementsAre(2, 1));
  EXPECT_THAT(absent_classes(*trained, Split::valid), ElementsAre("a"));
}

TEST_F(Classes, ThatOnlyTheValidationFolderHasAreKnownToATrainedModel) {
  for (const auto* path : {"train/b/1.png", "valid/a/1.png"}) add(path);
  EXPECT_THAT(data_problem(image_folder()), HasSubstr("class 'a' (of '" + folder_ / "valid/a"));
  const auto trained = build_data(image_folder(), {.classes = {{"a", "b"}}});
  EXPECT_THAT(labels(*trained, Split::valid), ElementsAre(0));
}

TEST_F(Classes, ThatAreUnknownAreNamedOrLeftOut) {
  for (const auto* path : {"train/a/1.png", "valid/a/1.png", "valid/zebra/1.png"}) add(path);
  const KnownClasses known{{"a", "b"}};
  EXPECT_THAT(data_problem(image_folder(), {.classes = known}),
              HasSubstr("class 'zebra' (of '" + folder_ / "valid/zebra/1.png" +
                        "') is not among the 2 classes that the model was trained on"));
  const auto skipped = build_data(image_folder(), {.classes = {{"a", "b"}, true}});
  EXPECT_THAT(labels(*skipped, Split::valid), ElementsAre(0));
  EXPECT_EQ(skipped->size(Split::train), 1);
}

TEST_F(Classes, OfANewRunMayBeLeftOutOfTheValidationSplit) {
  for (const auto* path : {"train/a/1.png", "valid/a/1.png", "valid/zebra/1.png"}) add(path);
  const auto data = build_data(image_folder(), {.classes = {{}, true}});
  EXPECT_THAT(data->facts().classes, ElementsAre("a"));
  EXPECT_EQ(data->size(Split::valid), 1);
}

// A manifest orders numbers by value, an image folder names by their bytes.
TEST_F(Classes, OfAManifestFollowTheCheckpointsOrder) {
  const std::string rows = "path,label,split,weight\nx,2,train,1\ny,10,train,3\nz,10,valid,1\n";
  EXPECT_THAT(build_data(manifest(rows))->facts().classes, ElementsAre("2", "10"));
  const auto trained = build_data(manifest(rows), {.classes = {{"10", "2"}}});
  EXPECT_THAT(labels(*trained, Split::train), ElementsAre(1, 0));
  EXPECT_THAT(labels(*trained, Split::valid), ElementsAre(0));
  const auto skipped = build_data(manifest(rows), {.classes = {{"10"}, true}});
  EXPECT_THAT(skipped->weights(Split::train), ElementsAre(3));
}

TEST_F(Classes, OfSeveralLabelsAreMatchedEach) {
  auto section = manifest("path,label,split\nx,b a,train\ny,c,train\nz,a c,valid\n");
  section["label_delimiter"] = " ";
  const auto trained = build_data(section, {.classes = {{"c", "d", "b", "a"}}});
  EXPECT_THAT(trained->labels(Split::train, 0), UnorderedElementsAre(2, 3));
  EXPECT_THAT(trained->labels(Split::valid, 0), UnorderedElementsAre(0, 3));
  EXPECT_THAT(absent_classes(*trained, Split::valid), ElementsAre("d", "b"));
}

TEST_F(Classes, InNamesFollowTheCheckpointsOrder) {
  for (const auto* path : {"pictures/a_1.png", "pictures/b_1.png", "pictures/held/b_2.png"})
    add(path);
  const nlohmann::json section{{"type", "image_names"},
                               {"root", folder_ / "pictures"},
                               {"pattern", R"(^(.)_\d\.png$)"},
                               {"valid", "held"},
                               {"transforms", {{"train", steps()}, {"valid", steps()}}}};
  const auto trained = build_data(section, {.classes = {{"b", "x", "a"}}});
  EXPECT_THAT(labels(*trained, Split::train), ElementsAre(2, 0));
  EXPECT_THAT(labels(*trained, Split::valid), ElementsAre(0));
}

TEST_F(Classes, OfTextsFollowTheCheckpointsOrder) {
  write_reviews(folder_);
  const auto fresh = make_texts(text_recipe(folder_));
  EXPECT_THAT(labels(*fresh, Split::valid), ElementsAre(0, 1));
  DataContext context{.fitted = fresh->state(), .classes = {{"pos", "other", "neg"}}};
  const auto trained = make_texts(text_recipe(folder_), context);
  EXPECT_THAT(labels(*trained, Split::valid), ElementsAre(2, 0));
  EXPECT_THAT(absent_classes(*trained, Split::train), ElementsAre("other"));
}

TEST_F(Classes, OfTextsThatAreUnknownAreNamedOrLeftOut) {
  write_reviews(folder_);
  folder_.write("valid/mixed/0.txt", "so so");
  EXPECT_THROW(make_texts(text_recipe(folder_)), Error);
  const auto skipped = make_texts(text_recipe(folder_), {.classes = {{}, true}});
  EXPECT_THAT(labels(*skipped, Split::valid), ElementsAre(0, 1));
  EXPECT_EQ(words_of(*skipped, Split::valid, 1).at(2), "good");
  folder_.write("rows.csv", "text,label,held\na film,x,train\nb film,y,valid\nc film,x,valid\n");
  nlohmann::json rows{{"type", "text_csv"},
                      {"file", folder_ / "rows.csv"},
                      {"cache", folder_ / "cache"},
                      {"valid", {{"fraction", nullptr}, {"column", "held"}}}};
  EXPECT_THROW(make_texts(rows), Error);
  EXPECT_THAT(labels(*make_texts(rows, {.classes = {{"y", "x"}}}), Split::valid),
              ElementsAre(0, 1));
  EXPECT_THAT(labels(*make_texts(rows, {.classes = {{}, true}}), Split::valid), ElementsAre(0));
}

TEST_F(Classes, OfATableThatAreUnknownAreLeftOutWhereThePolicySaysSo) {
  TableOptions options;
  options.file = folder_.write("t.csv", "a,y\n1,no\n2,yes\n3,perhaps\n4,no\n");
  options.target.column = "y";
  options.valid = {};
  options.valid.fraction.reset();
  options.valid.rows = {2, 3};
  EXPECT_THROW(test::read_csv_table(options), Error);
  const auto table = test::read_csv_table(options, {}, {{}, true});
  EXPECT_THAT(table.splits[1].rows, ElementsAre(3));
  EXPECT_THAT(table.splits[1].labels, ElementsAre(0));
}

TEST_F(Classes, WithoutAKnownSampleLeaveNoSplit) {
  for (const auto* path : {"train/a/1.png", "valid/zebra/1.png"}) add(path);
  EXPECT_THAT(data_problem(image_folder(), {.classes = {{"a"}, true}}),
              HasSubstr("no sample of the validation split has a known class"));
}

TEST_F(Classes, ScoredSplitsAreTrainingThenValidation) {
  for (const auto* path : {"train/a/1.png", "train/b/1.png", "valid/a/2.png"}) add(path);
  const auto all = with_scored(build_data(image_folder()), Scored::all);
  EXPECT_THAT(labels(*all, Split::valid), ElementsAre(0, 1, 0));
  EXPECT_EQ(all->sample_name(Split::valid, 2), folder_ / "valid/a/2.png");
  const auto train = with_scored(build_data(image_folder()), Scored::train);
  EXPECT_THAT(labels(*train, Split::valid), ElementsAre(0, 1));
  EXPECT_EQ(train->size(Split::train), 2);
}

// Training crops at random; what is scored must not.
TEST_F(Classes, ScoredTrainingSamplesGoThroughTheValidationTransforms) {
  for (const auto* path : {"train/a/1.png", "valid/a/2.png"}) add(path);
  auto section = image_folder();
  section["transforms"]["train"] = nlohmann::json::array(
      {{{"type", "resize"}, {"size", {16, 16}}}, {{"type", "horizontal_flip"}, {"p", 1}}});
  const auto data = with_scored(build_data(section), Scored::all);
  const auto trained = load_one(*data, Split::valid, 0), held = load_one(*data, Split::valid, 1);
  ASSERT_TRUE(trained.good && held.good);
  EXPECT_TRUE(trained.batch.inputs[0].equal(held.batch.inputs[0]));
}

}  // namespace
}  // namespace ddptrain
