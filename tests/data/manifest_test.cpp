#include <gmock/gmock.h>

#include "data/image_data.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::HasSubstr;

json section(const std::string& file) {
  const json steps = json::array({{{"type", "resize"}, {"size", {4, 4}}}});
  return {
      {"type", "manifest"}, {"file", file}, {"transforms", {{"train", steps}, {"valid", steps}}}};
}

TEST(Manifest, TakesPathsLabelsWeightsAndSplitFromColumns) {
  const TemporaryFolder folder;
  folder.write("img/a.png", picture("a_rgb.png"));
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
  folder.write("0.png", picture("a_rgb.png"));
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
  EXPECT_THAT(problem("path,label\na,x\n"), HasSubstr("no column 'split'"));
  EXPECT_THAT(problem("path,label,split\na,x,train\n"), HasSubstr("no rows in split 'valid'"));
  EXPECT_THAT(problem("path,label,split\na,x,train\nb,y,valid\n"),
              HasSubstr("class 'y' (of 'b') is only in the valid split"));
}

}  // namespace
}  // namespace ddptrain
