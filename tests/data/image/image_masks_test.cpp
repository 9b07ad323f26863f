#include <ATen/ops/zeros.h>
#include <gmock/gmock.h>

#include "data/image_data.h"
#include "data/prediction_form.h"
#include "data/preview.h"
#include "support/refused.h"
#include "transforms/codecs/decode.h"
#include "transforms/codecs/write.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using testing::ElementsAre;
using testing::HasSubstr;

using Numbers = std::vector<std::uint8_t>;

std::string mask_file(int width, int height, const Numbers& numbers) {
  Image mask{width, height, 1, {}, {}};
  mask.bytes = numbers;
  return encode_mask_png(mask);
}

std::string gray_image(int width, int height) {
  Image image{width, height, 3, {}, {}};
  image.bytes.assign(image.values(), 100);
  return encode_png(image);
}

/// Four pairs of 4 x 2 pixels, two in a folder of their own, and codes as CamVid has them.
void write_pairs(const TemporaryFolder& folder) {
  for (const auto* name : {"train/a", "train/b", "train/c", "val/d"}) {
    folder.write(std::string("d/images/") + name + ".png", gray_image(4, 2));
    folder.write(std::string("d/labels/") + name + "_P.png",
                 mask_file(4, 2, {0, 1, 2, 2, 0, 0, 1, 2}));
  }
  folder.write("d/codes.txt", "sky\nroad\nVoid\n");
}

json pairs_in(const TemporaryFolder& folder, const json& more = json::object()) {
  json made = {{"type", "image_masks"},
               {"root", folder / "d"},
               {"masks", "labels"},
               {"mask_name", "{stem}_P.png"},
               {"codes", "codes.txt"},
               {"valid", "images/val"},
               {"transforms", {{"train", json::array()}, {"valid", json::array()}}}};
  made.update(more);
  return made;
}

std::vector<std::int64_t> numbers_of(const at::Tensor& tensor) {
  const auto flat = tensor.to(at::kLong).reshape({-1}).contiguous();
  return {flat.const_data_ptr<std::int64_t>(), flat.const_data_ptr<std::int64_t>() + flat.numel()};
}

TEST(ImageMasks, AreFoundByTheNamesOfTheirImages) {
  const TemporaryFolder folder;
  write_pairs(folder);
  const auto data = build_data(pairs_in(folder));
  EXPECT_EQ(data->size(Split::train), 3);
  EXPECT_EQ(data->sample_name(Split::valid, 0), folder / "d/images/val/d.png");
  EXPECT_THAT(data->facts().classes, ElementsAre("sky", "road", "Void"));
  ASSERT_TRUE(data->facts().mask);
  EXPECT_EQ(data->facts().mask->classes, 3);
  EXPECT_EQ(data->facts().mask->void_code, std::nullopt);
  EXPECT_EQ(data->facts().points, 0);
  const auto loaded = load_one(*data, Split::train, 0);
  ASSERT_TRUE(loaded.good);
  EXPECT_EQ(loaded.batch.targets.at(0).sizes(), (std::vector<std::int64_t>{1, 2, 4}));
  EXPECT_THAT(numbers_of(loaded.batch.targets[0]), ElementsAre(0, 1, 2, 2, 0, 0, 1, 2));
}

TEST(ImageMasks, LeaveOutVoidAndBordersWithIt) {
  const TemporaryFolder folder;
  write_pairs(folder);
  const json pad = json::array({{{"type", "pad"}, {"padding", {1, 0, 0, 0}}}});
  const auto data = build_data(
      pairs_in(folder, {{"void", {"Void"}}, {"transforms", {{"train", pad}, {"valid", pad}}}}));
  EXPECT_EQ(data->facts().mask->void_code, 255);
  const auto loaded = load_one(*data, Split::valid, 0);
  EXPECT_THAT(numbers_of(loaded.batch.targets[0]),
              ElementsAre(255, 0, 1, 255, 255, 255, 0, 0, 1, 255));
}

TEST(ImageMasks, LieBesideTheirImagesToo) {
  const TemporaryFolder folder;
  for (const auto* name : {"a", "b"}) {
    folder.write(std::string("d/") + name + ".png", gray_image(4, 2));
    folder.write(std::string("d/") + name + "_mask.png", mask_file(4, 2, Numbers(8, 255)));
  }
  const auto data = build_data(pairs_in(folder, {{"images", "."},
                                                 {"masks", "."},
                                                 {"mask_name", "{stem}_mask.png"},
                                                 {"codes", {"ground", "figure"}},
                                                 {"values", {0, 255}},
                                                 {"valid", {{"fraction", 0.5}}}}));
  EXPECT_EQ(data->size(Split::train) + data->size(Split::valid), 2) << "a mask is no image";
  const auto loaded = load_one(*data, Split::train, 0);
  EXPECT_THAT(numbers_of(loaded.batch.targets[0]), ElementsAre(1, 1, 1, 1, 1, 1, 1, 1));
}

TEST(ImageMasks, CanBeHeldOutByAList) {
  const TemporaryFolder folder;
  write_pairs(folder);
  const auto list = folder.write("valid.txt", "b.png\nd.png\n");  // as CamVid's valid.txt
  const auto data = build_data(pairs_in(folder, {{"valid", {{"list", list}}}}));
  EXPECT_EQ(data->size(Split::valid), 2);
  EXPECT_EQ(data->sample_name(Split::valid, 0), folder / "d/images/train/b.png");
}

TEST(ImageMasks, MoveWithTheirImages) {
  const TemporaryFolder folder;
  write_pairs(folder);
  const json flip = json::array({{{"type", "horizontal_flip"}, {"p", 1}}});
  const auto data =
      build_data(pairs_in(folder, {{"transforms", {{"train", flip}, {"valid", flip}}}}));
  const auto loaded = load_one(*data, Split::valid, 0);
  EXPECT_THAT(numbers_of(loaded.batch.targets[0]), ElementsAre(2, 2, 1, 0, 2, 1, 0, 0));
  const auto& place = loaded.batch.places.at(0);
  EXPECT_EQ(place.corners, (CornerPlaces{{{4, 0}, {0, 0}, {0, 2}, {4, 2}}}));
}

// Decoding a window only, as training does with JPEG files.
TEST(ImageMasks, AreCutWithTheWindowOfTheirImages) {
  const TemporaryFolder folder;
  write_pairs(folder);
  const json crop = json::array(
      {{{"type", "random_resized_crop"}, {"size", 8}, {"scale", {1, 1}}, {"ratio", {2, 2}}}});
  const auto data =
      build_data(pairs_in(folder, {{"transforms", {{"train", crop}, {"valid", crop}}}}));
  const auto loaded = load_one(*data, Split::train, 0);
  ASSERT_TRUE(loaded.good);
  const auto target = loaded.batch.targets[0][0];
  EXPECT_THAT(numbers_of(target[0]), ElementsAre(0, 0, 1, 1, 2, 2, 2, 2));
  EXPECT_THAT(numbers_of(target[7]), ElementsAre(0, 0, 0, 0, 1, 1, 2, 2));
}

/// The message of the data error that loading training sample 0 gives.
std::string load_problem(const json& section) {
  const auto data = build_data(section);
  try {
    load_one(*data, Split::train, 0);
  } catch (const Error& error) {
    EXPECT_EQ(error.code(), Exit::data);
    return error.what();
  }
  return "none";
}

TEST(ImageMasks, NameTheFileThatCannotBeUsed) {
  const TemporaryFolder folder;
  write_pairs(folder);
  const auto mask = folder / "d/labels/train/a_P.png";
  folder.write("d/labels/train/a_P.png", mask_file(2, 4, Numbers(8, 0)));
  EXPECT_EQ(load_problem(pairs_in(folder)),
            "'" + mask + "' is 2 x 4 pixels, and its image 'images/train/a.png' is 4 x 2");
  folder.write("d/labels/train/a_P.png", mask_file(4, 2, Numbers(8, 9)));
  EXPECT_EQ(load_problem(pairs_in(folder)),
            "'" + mask +
                "' has the number 9, which is none of the codes (0 to 2); name it in "
                "data.codes or data.void");
  folder.write("d/labels/train/a_P.png", gray_image(4, 2));
  EXPECT_THAT(load_problem(pairs_in(folder)), HasSubstr("has colors and no palette"));
}

TEST(ImageMasks, SayWhichImageLacksOne) {
  const TemporaryFolder folder;
  write_pairs(folder);
  folder.write("d/images/train/e.png", gray_image(4, 2));
  EXPECT_EQ(data_problem(pairs_in(folder)),
            "1 image of 5 in '" + (folder / "d") +
                "' without a mask: 'images/train/e.png' wants 'labels/train/e_P.png'; data.masks "
                "and data.mask_name say where masks are");
  const auto data = build_data(pairs_in(folder), {.skip_bad_samples = true});
  EXPECT_EQ(data->size(Split::train), 4);
  EXPECT_FALSE(load_one(*data, Split::train, 3).good) << "left out, as the policy asks";
}

TEST(ImageMasks, RefuseImagesOfSeveralSizesWithoutAResize) {
  const TemporaryFolder folder;
  write_pairs(folder);
  folder.write("d/images/train/b.png", gray_image(2, 2));
  folder.write("d/labels/train/b_P.png", mask_file(2, 2, Numbers(4, 0)));
  const json flip = json::array({{{"type", "horizontal_flip"}, {"p", 1}}});
  const auto data =
      build_data(pairs_in(folder, {{"transforms", {{"train", flip}, {"valid", flip}}}}));
  try {
    load_one(*data, Split::train, 1);
    FAIL();
  } catch (const Error& error) {
    EXPECT_THAT(error.what(), HasSubstr("images/train/b.png' is 3 x 2 x 2 after its transforms"));
  }
}

TEST(ImageMasks, AreRefusedWhereTheModelKnowsOtherClasses) {
  const TemporaryFolder folder;
  write_pairs(folder);
  DataContext context;
  context.classes.names = {"sky", "water", "Void"};
  EXPECT_EQ(
      data_problem(pairs_in(folder), context),
      "data.codes: other classes than the model was trained with, which are sky, water, Void");
}

TEST(ImageMasks, BecomeFilesOfTheSizeOfTheirImages) {
  const TemporaryFolder folder;
  const auto image = folder.write("new/x.png", gray_image(8, 4));
  const json resize = json::array({{{"type", "resize"}, {"size", {2, 4}}}});
  DataContext context;
  context.classes.names = {"sky", "road", "car"};
  context.images = {image};
  const auto data = build_data(
      pairs_in(folder,
               {{"values", {10, 20, 30}}, {"transforms", {{"train", resize}, {"valid", resize}}}}),
      context);
  const auto loaded = load_one(*data, Split::valid, 0);
  ASSERT_TRUE(loaded.good);
  const auto* form = data->prediction_form();
  ASSERT_NE(form, nullptr);
  EXPECT_THAT(form->columns(), ElementsAre("mask"));
  auto scores = at::zeros({3, 2, 4}, at::kDouble);
  for (int x = 0; x < 4; ++x) {
    scores[x == 3 ? 2 : 0][0][x] = 1;
    scores[1][1][x] = 1;
  }
  const auto cells = form->cells(scores, {loaded.batch.places.at(0), folder / "out", "deep/x"});
  EXPECT_THAT(cells, ElementsAre("deep/x.png"));
  const auto file = read_text(folder / "out/deep/x.png");
  const auto mask =
      decode_mask({{reinterpret_cast<const std::uint8_t*>(file.data()), file.size()}, "x"});
  EXPECT_EQ(mask.width, 8);
  EXPECT_EQ(mask.height, 4);
  EXPECT_THAT(mask.bytes,
              ElementsAre(10, 10, 10, 10, 10, 10, 30, 30, 10, 10, 10, 10, 10, 10, 30, 30,  //
                          20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20, 20));
}

TEST(ImageMasks, AreDrawnOverTheirImages) {
  const TemporaryFolder folder;
  write_pairs(folder);
  const auto shown = build_data(pairs_in(folder))->preview(Split::train, 0, {});
  ASSERT_TRUE(shown.image);
  EXPECT_THAT(std::vector<int>(shown.image->bytes.begin(), shown.image->bytes.begin() + 6),
              ElementsAre(100, 100, 100, 114, 50, 50));
}

}  // namespace
}  // namespace ddptrain
