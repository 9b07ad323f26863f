#include <gmock/gmock.h>

#include <cmath>

#include "data/image_data.h"
#include "data/prediction_form.h"
#include "data/preview.h"
#include "support/refused.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::HasSubstr;
using testing::MatchesRegex;

json section(const std::string& file) {
  const json steps = json::array({{{"type", "resize"}, {"size", {4, 4}}}});
  return {
      {"type", "manifest"}, {"file", file}, {"transforms", {{"train", steps}, {"valid", steps}}}};
}

TEST(Manifest, TakesPathsLabelsWeightsAndSplitFromColumns) {
  const TemporaryFolder folder;
  folder.write("img/a.png", image("a_rgb.png"));
  const auto file = folder.write("list.csv",
                                 "split,path,weight,label,note\n"
                                 "train,img/a.png,0.5,10,x\n"
                                 "valid,img/a.png,1,9,\n"
                                 "train,img/b.png,2,9,\n");
  const auto data = build_data(section(file));
  EXPECT_EQ(data->facts().classes, (std::vector<std::string>{"9", "10"}));
  ASSERT_EQ(data->size(Split::train), 2);
  EXPECT_EQ(data->label(Split::train, 0), 1);
  EXPECT_EQ(data->sample_name(Split::train, 1), folder / "img/b.png");
  EXPECT_EQ(data->weights(Split::train), (std::vector<double>{0.5, 2}));
  EXPECT_TRUE(load_one(*data, Split::train, 0).good);
}

TEST(Manifest, HoldsOutAFractionWithItsWeights) {
  const TemporaryFolder folder;
  folder.write("0.png", image("a_rgb.png"));
  std::string text = "path,label,weight\n";
  for (int i = 0; i < 20; ++i)
    text += "0.png," + std::string(i % 2 ? "odd" : "even") + "," + std::to_string(i) + "\n";
  auto wanted = section(folder.write("list.csv", text));
  wanted["valid"] = {{"fraction", 0.25}};
  const auto data = build_data(wanted);
  EXPECT_EQ(data->size(Split::train), 15);
  EXPECT_EQ(data->size(Split::valid), 5);
  const auto weights = data->weights(Split::train);
  ASSERT_EQ(weights.size(), 15);
  for (std::int64_t i = 0; i < 15; ++i)
    EXPECT_EQ(static_cast<int>(weights[static_cast<std::size_t>(i)]) % 2,
              data->label(Split::train, i));
}

TEST(Manifest, HoldsOutInOneWay) {
  const TemporaryFolder folder;
  const auto file = folder.write("list.csv", "path,label,split\na,x,train\nb,x,valid\n");
  const auto problem = [&](const json& valid) {
    auto wanted = section(file);
    wanted["valid"] = valid;
    try {
      build_data(wanted);
    } catch (const Error& error) {
      EXPECT_EQ(error.code(), Exit::recipe);
      return std::string(error.what());
    }
    return std::string("none");
  };
  const auto no_effect = " has no effect: a column of '" + file + "' says what is held out";
  EXPECT_EQ(problem({{"fraction", 0.5}}), "data.valid.fraction:" + no_effect);
  EXPECT_EQ(problem({{"list", "x.txt"}}), "data.valid.list:" + no_effect);
}

TEST(Manifest, NamesRowAndColumnOfWhatIsWrong) {
  const TemporaryFolder folder;
  const auto problem = [&](const std::string& text) {
    return data_problem(section(folder.write("list.csv", text)));
  };
  EXPECT_THAT(problem("path,label,split\na,x,train\nb,,valid\n"),
              HasSubstr("list.csv:3: column 'label': empty"));
  EXPECT_THAT(problem("path,label,split\na,x,test\n"),
              HasSubstr(":2: column 'split': 'test' is neither 'train' nor 'valid'"));
  EXPECT_THAT(problem("path,label,split,weight\na,x,train,-1\n"),
              HasSubstr(":2: column 'weight': '-1' is not a weight"));
  EXPECT_EQ(problem("path,label\na,x\n"),
            folder /
                "list.csv: no column 'split'; add one, name another in data.columns.split, or "
                "write data.valid.fraction");
  EXPECT_EQ(problem("path,label,split\na,x,train\n"),
            folder / "list.csv: no rows in split 'valid'");
  EXPECT_THAT(problem("path,label,split\na,x,train\nb,y,valid\n"),
              MatchesRegex(".*class 'y' \\(of '/.*/b'\\) is only in the valid split.*"));
}

/// What a noisy-label file of the Imagenette leaderboard looks like.
std::string noisy() {
  return "path,noisy_labels_0,noisy_labels_50,is_valid\n"
         "a.png,n1,n2,False\n"
         "b.png,n2,n2,False\n"
         "c.png,n1,n1,False\n"
         "d.png,n2,n2,True\n";
}

TEST(Manifest, ReadsColumnsOfOtherNames) {
  const TemporaryFolder folder;
  folder.write("a.png", image("a_rgb.png"));
  auto wanted = section(folder.write("noisy.csv", noisy()));
  wanted["columns"] = {{"label", "noisy_labels_50"}, {"split", "is_valid"}};
  const auto noise = build_data(wanted);
  ASSERT_EQ(noise->size(Split::train), 3);
  EXPECT_EQ(noise->label(Split::train, 0), 1);
  EXPECT_EQ(noise->label(Split::valid, 0), 1);
  EXPECT_EQ(noise->sample_name(Split::valid, 0), folder / "d.png");
  wanted["columns"]["label"] = "noisy_labels_0";
  EXPECT_EQ(build_data(wanted)->label(Split::train, 0), 0);
  EXPECT_NE(build_data(wanted)->digest(), noise->digest());
  wanted["columns"]["label"] = "noisy_labels_10";
  EXPECT_THAT(data_problem(wanted), HasSubstr("no column 'noisy_labels_10'; there are 'path'"));
}

TEST(Manifest, GivesZerosAndOnesForSeveralLabels) {
  const TemporaryFolder folder;
  folder.write("a.png", image("a_rgb.png"));
  auto wanted = section(folder.write("planet.csv",
                                     "path,label,split\n"
                                     "a.png,haze water,train\na.png,,train\na.png,clear,train\n"
                                     "a.png,clear haze,valid\n"));
  wanted["label_delimiter"] = " ";
  const auto data = build_data(wanted);
  EXPECT_EQ(data->facts().classes, (std::vector<std::string>{"clear", "haze", "water"}));
  const auto target = [&](Split split, std::int64_t index) {
    const auto row = load_one(*data, split, index).batch.targets.at(0);
    EXPECT_EQ(row.sizes(), (at::IntArrayRef{1, 3}));
    const float* values = row.const_data_ptr<float>();
    return std::vector<float>(values, values + 3);
  };
  EXPECT_EQ(target(Split::train, 0), (std::vector<float>{0, 1, 1}));
  EXPECT_EQ(target(Split::train, 1), (std::vector<float>{0, 0, 0}));
  EXPECT_EQ(target(Split::valid, 0), (std::vector<float>{1, 1, 0}));
  EXPECT_EQ(data->label(Split::train, 0), -1);
}

TEST(Manifest, RefusesSeveralLabelsThatCannotBe) {
  const TemporaryFolder folder;
  auto wanted = section(folder.write("list.csv", "path,label,split\na,x|x,train\nb,x,valid\n"));
  wanted["label_delimiter"] = "|";
  EXPECT_THAT(data_problem(wanted), HasSubstr(":2: column 'label': label 'x' is written twice"));
  wanted["file"] = folder.write("list.csv", "path,label,split\na,x,train\nb,x|y,valid\n");
  EXPECT_THAT(data_problem(wanted),
              MatchesRegex(".*class 'y' \\(of '/.*/b'\\) is only in the valid split.*"));
  wanted["file"] = folder.write("list.csv", "path,label,split\na,,train\nb,,valid\n");
  EXPECT_THAT(data_problem(wanted), HasSubstr("no row has a label"));
}

TEST(Manifest, HoldsOutByNoFolderAndSeparatesLabelsBySomething) {
  EXPECT_EQ(test::refused<Dataset>({{"type", "manifest"}, {"file", "x.csv"}, {"valid", "v"}}),
            "valid.folder: 'valid.folder' has no effect here\n");
  Node empty = to_node({{"type", "manifest"}, {"file", "x.csv"}});
  empty.set("label_delimiter", Node::quoted_text(""));
  EXPECT_EQ(test::refused_tree<Dataset>(empty), "label_delimiter: it is empty\n");
}

TEST(Manifest, HoldsOutWhatAListNames) {
  const TemporaryFolder folder;
  folder.write("img/a.png", image("a_rgb.png"));
  auto wanted =
      section(folder.write("list.csv", "path,label\nimg/a.png,x\nimg/b.png,y\nimg/c.png,x\n"));
  wanted["valid"] = {{"list", folder.write("held.txt", "c.png\r\n\n")}};
  const auto data = build_data(wanted);
  EXPECT_EQ(data->size(Split::train), 2);
  ASSERT_EQ(data->size(Split::valid), 1);
  EXPECT_EQ(data->sample_name(Split::valid, 0), folder / "img/c.png");
  wanted["valid"] = {{"list", folder.write("held.txt", "img/c.png\nd.png\n")}};
  EXPECT_THAT(data_problem(wanted), HasSubstr("held.txt:2: no image 'd.png'"));
}

TEST(Manifest, TakesNumbersForTheTarget) {
  const TemporaryFolder folder;
  folder.write("a.png", image("a_rgb.png"));
  auto wanted = section(folder.write("list.csv",
                                     "path,age,height,split\n"
                                     "a.png,31,1.75,train\n"
                                     "a.png,NA,1.5,train\n"
                                     "a.png,7,,valid\n"));
  wanted["numbers"] = {"age", "height"};
  const auto data = build_data(wanted);
  EXPECT_EQ(data->facts().numbers, 2);
  EXPECT_EQ(data->facts().class_count(), 0);
  const auto known = load_one(*data, Split::train, 0).batch.targets.at(0);
  EXPECT_EQ(known.sizes(), (std::vector<std::int64_t>{1, 2}));
  EXPECT_EQ(known[0][0].item<float>(), 31);
  EXPECT_EQ(known[0][1].item<float>(), 1.75F);
  EXPECT_TRUE(std::isnan(load_one(*data, Split::train, 1).batch.targets[0][0][0].item<float>()));
  EXPECT_TRUE(std::isnan(load_one(*data, Split::valid, 0).batch.targets[0][0][1].item<float>()));
  wanted["numbers"] = {"age"};
  const auto single = build_data(wanted);
  EXPECT_EQ(load_one(*single, Split::train, 0).batch.targets[0].sizes(),
            (std::vector<std::int64_t>{1}));
  EXPECT_EQ(single->prediction_form()->columns(), std::vector<std::string>{"age"});
  const auto cells = single->preview(Split::train, 1, {}).cells;
  EXPECT_EQ(cells.at(0), std::pair(std::string("age"), std::string("missing")));
}

TEST(Manifest, NamesTheCellThatIsNoNumber) {
  const TemporaryFolder folder;
  auto wanted = section(folder.write("list.csv", "path,age,split\na.png,old,train\nb,1,valid\n"));
  wanted["numbers"] = {"age"};
  EXPECT_EQ(data_problem(wanted),
            (folder / "list.csv") +
                ":2: column 'age': 'old' is no number; leave the cell empty where it is missing");
}

}  // namespace
}  // namespace ddptrain
