// fastai's own transforms against values made by running it (fastai_values.py), and the draws of
// fastai_augment.
#include <gmock/gmock.h>

#include <cmath>
#include <fstream>
#include <set>

#include "base/files/files.h"
#include "images.h"
#include "support/refused.h"
#include "transforms/codecs/decode.h"
#include "transforms/color/relight.h"
#include "transforms/geometry.h"
#include "transforms/geometry/fastai_pose.h"

namespace ddptrain {
namespace {

using nlohmann::json;
using test::applied;
using test::transform;

const json& cases() {
  static const json all =
      json::parse(read_text(test::in_source("tests/transforms/fastai.json"))).at("cases");
  return all;
}

Image source(const json& crop_of) {
  const auto bytes = test::golden_file("a_rgb.png");
  Image image = decode({bytes, "a_rgb.png"});
  if (crop_of.is_null()) return image;
  const int left = crop_of[0], top = crop_of[1], right = crop_of[2], lower = crop_of[3];
  crop(image, {left, top, right - left, lower - top});
  return image;
}

double value(const Image& image, std::size_t at) {
  return image.is_float() ? image.floats[at] : image.bytes[at];
}

void expect_image(const Image& image, const json& expect, double tolerance) {
  ASSERT_EQ((std::vector<int>{image.channels, image.height, image.width}),
            expect.at("shape").get<std::vector<int>>());
  for (const auto& pixel : expect.at("pixels"))
    for (int c = 0; c < 3; ++c)
      EXPECT_NEAR(
          value(image, (std::size_t(pixel[0]) * image.width + std::size_t(pixel[1])) * 3 + c),
          pixel[2 + c].get<double>(), tolerance)
          << pixel;
  for (int c = 0; c < 3; ++c) {
    double sum = 0;
    for (std::size_t i = c; i < image.values(); i += 3) sum += value(image, i);
    EXPECT_NEAR(sum / (double(image.width) * image.height), expect.at("mean")[c].get<double>(),
                tolerance + 1e-9);
  }
}

TEST(FastaiResize, CropsPadsAndSquishesAsThere) {
  int seen = 0;
  for (const auto& each : cases()) {
    if (each.at("kind") != "resize") continue;
    SCOPED_TRACE(each.at("options").dump() + each.at("crop").dump());
    json recipe = each.at("options");
    recipe["type"] = "fastai_resize";
    // Pillow 13 begins with the axis that costs less, here it is always the horizontal one.
    const double tolerance = recipe.at("method") == "squish" ? 1 : 0;
    expect_image(applied(recipe, source(each.at("crop"))), each.at("expect"), tolerance);
    ++seen;
  }
  EXPECT_EQ(seen, 20);
}

TEST(FastaiResize, DrawsThePlaceWhereAsked) {
  std::set<double> lefts;
  const auto resize = transform({{"type", "fastai_resize"}, {"size", 32}, {"at", "random"}});
  for (std::uint64_t i = 0; i < 100; ++i) {
    Stream random(3, i);
    const auto window = resize->window(200, 100, random).value();
    EXPECT_EQ(window.width, 100);
    EXPECT_EQ(window.height, 100);
    EXPECT_LE(window.left + window.width, 200);
    lefts.insert(window.left);
  }
  EXPECT_GT(lefts.size(), 40U);
  EXPECT_EQ(test::refused<Transform>(
                {{"type", "fastai_resize"}, {"size", 32}, {"method", "squish"}, {"at", "random"}}),
            "at: 'at: random' needs 'method' other than squish; it is squish\n");
}

TEST(FastaiResize, MirrorsOnePixelAsAnEdge) {
  const Image out =
      applied({{"type", "fastai_resize"}, {"size", 4}, {"method", "pad"}}, test::flat(1, 4, 9));
  EXPECT_EQ(out.bytes, test::Bytes(48, 9));
}

FastaiPose pose_of(const json& draws) {
  FastaiPose pose;
  pose.dihedral = draws.value("dihedral", 0);
  pose.degrees = draws.value("degrees", 0.0);
  if (draws.contains("zoom")) {
    pose.zoom = draws["zoom"][0];
    pose.zoom_x = draws["zoom"][1];
    pose.zoom_y = draws["zoom"][2];
  }
  if (draws.contains("warp")) {
    pose.warp_x = draws["warp"][0];
    pose.warp_y = draws["warp"][1];
  }
  return pose;
}

GridOptions options_of(const json& each) {
  const auto words = names(FastaiPadMode{});
  const std::string mode = each.at("pad_mode");
  const auto pad =
      static_cast<FastaiPadMode>(std::find(words.begin(), words.end(), mode) - words.begin());
  const bool nearest = each.at("mode") == "nearest";
  return {nearest ? Interpolation::nearest : Interpolation::bilinear, padding_mode(pad)};
}

TEST(FastaiAugment, MovesAndRelightsAsTherePerDraw) {
  int seen = 0;
  for (const auto& each : cases()) {
    if (each.at("kind") != "augment") continue;
    const auto& draws = each.at("draws");
    SCOPED_TRACE(draws.dump());
    Image image = source(each.at("crop"));
    const auto& shape = each.at("expect").at("shape");
    pose(image, pose_of(draws), shape[2], shape[1], options_of(each));
    relight(image, {draws.value("brightness", 0.5), draws.value("contrast", 1.0),
                    draws.value("saturation", 1.0)});
    expect_image(image, each.at("expect"), 2e-5);
    ++seen;
  }
  EXPECT_EQ(seen, 21);
}

/// Nothing but what is named.
json only(const json& more) {
  json recipe = {{"type", "fastai_augment"},
                 {"do_flip", false},
                 {"max_rotate", 0},
                 {"max_zoom", 1},
                 {"max_warp", 0},
                 {"max_lighting", 0}};
  recipe.update(more);
  return recipe;
}

std::vector<float> floats(const Image& image) {
  Image copy = image;
  make_float(copy);
  return copy.floats;
}

/// Share of draws that change an image.
double changes(const json& recipe, const Image& image) {
  int changed = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const auto out = applied(recipe, image, i).floats;
    double most = 0;
    const auto before = floats(image);
    for (std::size_t k = 0; k < out.size(); ++k)
      most = std::max(most, std::abs(double(out[k]) - before[k]));
    changed += most > 1e-4;
  }
  return changed / 400.0;
}

TEST(FastaiAugment, DrawsAsOftenAsAsked) {
  const Image image = test::numbered(9, 7);
  EXPECT_EQ(changes(only(json::object()), image), 0);
  EXPECT_NEAR(changes(only({{"do_flip", true}}), image), 0.5, 0.1);
  EXPECT_NEAR(changes(only({{"do_flip", true}, {"flip_vert", true}}), image), 0.5 * 7 / 8, 0.1);
  EXPECT_NEAR(changes(only({{"max_rotate", 10}}), image), 0.75, 0.1);
  EXPECT_NEAR(changes(only({{"max_zoom", 1.1}}), image), 0.75, 0.1);
  EXPECT_NEAR(changes(only({{"max_warp", 0.2}}), image), 1 - 0.25 * 0.25, 0.06);
  EXPECT_NEAR(changes(only({{"max_lighting", 0.2}}), image), 1 - 0.25 * 0.25, 0.06);
  EXPECT_NEAR(changes(only({{"max_hue", 0.1}, {"p_lighting", 0.3}}), image), 0.3, 0.1);
  EXPECT_EQ(changes(only({{"max_rotate", 10}, {"mult", 0}}), image), 0);
}

TEST(FastaiAugment, KeepsToItsRanges) {
  double darkest = 1, brightest = 0;
  for (std::uint64_t i = 0; i < 400; ++i) {
    const auto out =
        applied(only({{"max_lighting", 0.2}}), test::flat(2, 2, 128), i).floats.front();
    darkest = std::min(darkest, double(out));
    brightest = std::max(brightest, double(out));
  }
  EXPECT_GT(darkest, 0.34);  // gray goes to 0.4 .. 0.6, and a quarter further in contrast
  EXPECT_LT(darkest, 0.42);
  EXPECT_GT(brightest, 0.58);
  EXPECT_LT(brightest, 0.66);
}

TEST(FastaiAugment, CropsAShareAndBringsItToSize) {
  const auto recipe = only({{"size", {6, 8}}, {"min_scale", 0.25}});
  EXPECT_EQ(transform(recipe)->output({3, 0, 0}), (Extent{3, 6, 8}));
  std::set<std::vector<float>> kinds;
  for (std::uint64_t i = 0; i < 50; ++i) {
    const auto out = applied(recipe, test::numbered(40, 40), i);
    EXPECT_EQ(out.width, 8);
    kinds.insert(out.floats);
  }
  EXPECT_GT(kinds.size(), 45U);
}

TEST(FastaiAugment, CropsTheVeryPixels) {
  Image image = test::numbered(9, 9);
  FastaiPose asked;
  asked.crop = {2, 3, 5, 4};
  Image whole = image;
  pose(image, asked, 5, 4, {});
  crop(whole, {2, 3, 5, 4});
  make_float(whole);
  for (std::size_t i = 0; i < whole.floats.size(); ++i)
    EXPECT_NEAR(image.floats[i], whole.floats[i], 1e-5);
}

TEST(FastaiAugment, SeesNothingWorseThanAnEdgeAtInfinity) {
  FastaiPose asked;
  asked.warp_x = asked.warp_y = 0.5;  // the corners' places divide by 0
  for (const auto mode : {FastaiPadMode::zeros, FastaiPadMode::border, FastaiPadMode::reflection})
    for (const auto look : {Interpolation::nearest, Interpolation::bilinear}) {
      Image image = test::flat(9, 9, 255);
      image.masks.push_back(test::flat(9, 9, 1));
      image.masks[0].channels = 1;
      image.masks[0].bytes.resize(81);
      pose(image, asked, 17, 13, {look, padding_mode(mode)});
      for (const auto value : image.floats) EXPECT_TRUE(value >= 0 && value <= 1) << value;
    }
}

TEST(FastaiAugment, LooksUpBytesAsTheirFloats) {
  FastaiPose asked;
  asked.degrees = 7;
  asked.warp_x = 0.1;
  for (const int side : {1, 2, 40}) {
    Image bytes = test::numbered(side, 40), floats = bytes;
    make_float(floats);
    pose(bytes, asked, 30, 20, {});
    pose(floats, asked, 30, 20, {});
    for (std::size_t i = 0; i < floats.floats.size(); ++i)
      EXPECT_NEAR(bytes.floats[i], floats.floats[i], 1e-6);
  }
}

TEST(FastaiAugment, RefusesWhatCannotBe) {
  const auto problem = [](const json& more) {
    json recipe = {{"type", "fastai_augment"}};
    recipe.update(more);
    return test::refused<Transform>(recipe);
  };
  EXPECT_EQ(problem({{"min_scale", 0.5}}), "min_scale: 'min_scale' other than 1 needs 'size'\n");
  EXPECT_EQ(problem({{"min_zoom", 1.2}}),
            "min_zoom: 'min_zoom: 1.2' is above 'max_zoom: 1.1' (the default)\n");
  EXPECT_EQ(problem({{"do_flip", false}, {"flip_vert", true}}),
            "flip_vert: 'flip_vert: true' needs 'do_flip: true'\n");
  EXPECT_EQ(problem({{"mult", 5}, {"max_warp", 0.1}}),
            "mult: 'mult: 5' times 'max_lighting: 0.2' (the default) is not below 1\n");
  EXPECT_EQ(problem({{"mult", 4}}),
            "mult: 'mult: 4' times 'max_warp: 0.2' (the default) is above 0.5\n");
  EXPECT_EQ(problem({{"mult", 2}, {"min_scale", 0.5}, {"size", 8}}), "");
}

}  // namespace
}  // namespace ddptrain
