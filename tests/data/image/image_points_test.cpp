#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include <cmath>

#include "data/image_data.h"
#include "data/prediction_form.h"
#include "data/preview.h"
#include "support/refused.h"
#include "transforms/codecs/write.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

std::string blank_image(int width, int height) {
  Image image{width, height, 3, {}, {}};
  image.bytes.assign(image.values(), 100);
  return encode_png(image);
}

json pointed(const TemporaryFolder& folder, const std::string& rows,
             const json& more = json::object()) {
  for (const auto* name : {"a.png", "b.png"}) folder.write(name, blank_image(40, 20));
  json made = {{"type", "image_points"},
               {"file", folder.write("points.csv", rows)},
               {"transforms", {{"train", json::array()}, {"valid", json::array()}}}};
  made.update(more);
  return made;
}

std::vector<double> values_of(const at::Tensor& tensor) {
  const auto flat = tensor.to(at::kDouble).reshape({-1}).contiguous();
  return {flat.const_data_ptr<double>(), flat.const_data_ptr<double>() + flat.numel()};
}

constexpr const char* kRows = "path,x1,y1,x2,y2,split\na.png,0,0,40,20,train\nb.png,30,5,,,valid\n";

// fastai's PointScaler: x * 2 / width - 1.
TEST(ImagePoints, AreScaledOverTheImage) {
  const TemporaryFolder folder;
  const auto data = build_data(pointed(folder, kRows));
  EXPECT_EQ(data->facts().points, 2);
  EXPECT_EQ(data->facts().class_count(), 0);
  const auto train = load_one(*data, Split::train, 0);
  EXPECT_EQ(train.batch.targets.at(0).sizes(), (std::vector<std::int64_t>{1, 2, 2}));
  EXPECT_EQ(train.batch.targets[0].scalar_type(), at::kFloat);
  EXPECT_THAT(values_of(train.batch.targets[0]), ElementsAre(-1, -1, 1, 1));
  const auto valid = values_of(load_one(*data, Split::valid, 0).batch.targets[0]);
  EXPECT_EQ(valid[0], 0.5);
  EXPECT_EQ(valid[1], -0.5);
  EXPECT_TRUE(std::isnan(valid[2]) && std::isnan(valid[3])) << "an empty cell is missing";
}

TEST(ImagePoints, MoveWithThePixelsAndMayLeaveTheImage) {
  const TemporaryFolder folder;
  const json crop = json::array({{{"type", "center_crop"}, {"size", 20}}});
  const json transforms = {{"train", crop}, {"valid", crop}};
  const auto kept = build_data(pointed(folder, kRows, {{"transforms", transforms}}));
  EXPECT_THAT(values_of(load_one(*kept, Split::train, 0).batch.targets[0]),
              ElementsAre(-2, -1, 2, 1));
  const auto ignored =
      build_data(pointed(folder, kRows, {{"transforms", transforms}, {"outside", "ignore"}}));
  for (const auto value : values_of(load_one(*ignored, Split::train, 0).batch.targets[0]))
    EXPECT_TRUE(std::isnan(value));
}

TEST(ImagePoints, AreRefusedOutsideOfTheirImage) {
  const TemporaryFolder folder;
  const std::string rows = "path,x1,y1,split\na.png,40,20.5,train\nb.png,1,1,valid\n";
  const auto data = build_data(pointed(folder, rows));
  try {
    load_one(*data, Split::train, 0);
    FAIL() << "a point below its image was taken";
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_STREQ(error.what(),
                 "'a.png' is 40 x 20 pixels, and its y1 is 20.5; points are pixels from its left "
                 "upper corner, and 'data.outside: ignore' counts one outside as missing");
  }
  const auto ignoring = build_data(pointed(folder, rows, {{"outside", "ignore"}}));
  for (const auto value : values_of(load_one(*ignoring, Split::train, 0).batch.targets[0]))
    EXPECT_TRUE(std::isnan(value));
}

TEST(ImagePoints, CanHaveColumnsOfOtherNames) {
  const TemporaryFolder folder;
  const auto data =
      build_data(pointed(folder, "file,nose x,nose y,age\na.png,20,10,7\nb.png,1,1,8\n",
                         {{"columns", {{"path", "file"}, {"points", {"nose x", "nose y"}}}},
                          {"valid", {{"fraction", 0.5}}}}));
  EXPECT_EQ(data->facts().points, 1);
  EXPECT_THAT(data->prediction_form()->columns(), ElementsAre("nose x", "nose y"));
}

TEST(ImagePoints, NameTheCellThatIsNoNumber) {
  const TemporaryFolder folder;
  const auto problem = [&](const std::string& rows, const json& more = json::object()) {
    return data_problem(pointed(folder, rows, more));
  };
  EXPECT_EQ(problem("path,x1,y1,split\na.png,1,2,train\nb.png,left,3,valid\n"),
            (folder / "points.csv") +
                ":3: column 'x1': 'left' is no number; leave the cell empty where it is missing");
  EXPECT_EQ(
      problem("path,x,y,split\na.png,1,2,train\nb.png,1,3,valid\n"),
      (folder / "points.csv") + ":1: no columns 'x1' and 'y1'; data.columns.points names others");
}

// As the Biwi Kinect Head Pose Database lies, with fastai's split by person.
json biwi(const TemporaryFolder& folder) {
  for (const auto* person : {"01", "p13"}) {
    const auto at = "biwi/" + std::string(person) + "/frame_00003_";
    folder.write(at + "rgb.png", blank_image(40, 20));
    folder.write(at + "pose.txt", "1 0 0\n0 1 0\n0 0 1\n\n10 -20 1000\n");
  }
  folder.write("biwi/01/rgb.cal", "500 0 20\n0 500 10\n0 0 1\n\n0 0 0 0\n");
  return {{"type", "image_points"},
          {"root", folder / "biwi"},
          {"poses", {{"image_ending", "_rgb.png"}, {"calibration", "01/rgb.cal"}}},
          {"valid", "p13"},
          {"transforms", {{"train", json::array()}, {"valid", json::array()}}}};
}

TEST(ImagePoints, AreTheMiddleOfAHeadWithAPose) {
  const TemporaryFolder folder;
  const auto data = build_data(biwi(folder));
  EXPECT_EQ(data->size(Split::train), 1);
  EXPECT_EQ(data->sample_name(Split::valid, 0), folder / "biwi/p13/frame_00003_rgb.png");
  // 10 * 500 / 1000 + 20 = 25 and -20 * 500 / 1000 + 10 = 0, of 40 x 20 pixels.
  EXPECT_THAT(values_of(load_one(*data, Split::train, 0).batch.targets[0]), ElementsAre(0.25, -1));
}

TEST(ImagePoints, NameThePoseThatCannotBeRead) {
  const TemporaryFolder folder;
  const auto section = biwi(folder);
  const auto pose = folder.write("biwi/01/frame_00003_pose.txt", "1 0 0\n0 one 0\n");
  const auto data = build_data(section);
  try {
    load_one(*data, Split::train, 0);
    FAIL();
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    EXPECT_THAT(error.what(), HasSubstr("'" + pose + "' begins with 4 numbers, then 'one'"));
  }
  const auto tolerant = build_data(section, {.skip_bad_samples = true});
  EXPECT_FALSE(load_one(*tolerant, Split::train, 0).good);
}

TEST(ImagePoints, ArePredictedInPixelsOfTheFile) {
  const TemporaryFolder folder;
  const json crop = json::array({{{"type", "center_crop"}, {"size", 20}}});
  const auto section = pointed(folder, kRows, {{"transforms", {{"train", crop}, {"valid", crop}}}});
  DataContext context;
  context.images = {folder / "a.png"};
  context.fitted = build_data(section)->state();
  const auto data = build_data(section, context);
  const auto loaded = load_one(*data, Split::valid, 0);
  const auto output = at::zeros({4}, at::kDouble);
  EXPECT_THAT(data->prediction_form()->cells(output, {loaded.batch.places.at(0), "", ""}),
              ElementsAre("20", "10", "20", "10"));
}

TEST(ImagePoints, AreMarkedInTheirImages) {
  const TemporaryFolder folder;
  const auto data = build_data(pointed(folder, kRows));
  const auto shown = data->preview(Split::valid, 0, {});
  ASSERT_TRUE(shown.image);
  EXPECT_EQ(shown.image->bytes[3 * (5 * 40 + 30)], 255);
  EXPECT_EQ(shown.image->bytes[3 * (15 * 40 + 5)], 100);
}

}  // namespace
}  // namespace ddptrain
