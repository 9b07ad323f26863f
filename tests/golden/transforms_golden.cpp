// Decoding and transforms against Pillow and torchvision. Bytes are compared with the one of the
// two that we follow: Pillow for resizing and moving pixels about, torchvision for the rest.
#include <gtest/gtest.h>

#include <algorithm>
#include <cmath>
#include <fstream>
#include <iterator>

#include "support/golden.h"
#include "support/node.h"
#include "transforms/codecs/decode.h"
#include "transforms/geometry.h"
#include "transforms/geometry/projection.h"
#include "transforms/geometry/resample.h"
#include "transforms/policies/augment_ops.h"
#include "transforms/transform.h"

namespace ddptrain {
namespace {

using golden::Case;
using nlohmann::json;

std::vector<std::uint8_t> read(const std::string& name) {
  std::ifstream in(golden::folder() + "/images/" + name, std::ios::binary);
  EXPECT_TRUE(in) << name;
  return {std::istreambuf_iterator<char>(in), {}};
}

Image decoded(const std::string& name, const DecodeOptions& options = {}) {
  const auto bytes = read(name);
  return decode({bytes, name}, options);
}

double value(const Image& image, std::size_t at) {
  return image.is_float() ? image.floats[at] : image.bytes[at];
}

/// How far a result may be from the peer's.
struct Tolerance {
  double pixel = 0;
  double mean = 0;
};

std::vector<double> channel_means(const Image& image) {
  std::vector<double> sums(image.channels);
  for (std::size_t i = 0; i < image.values(); ++i) sums[i % image.channels] += value(image, i);
  for (double& sum : sums) sum /= double(image.width) * image.height;
  return sums;
}

void expect_pixels(const Image& image, const json& pixels, double tolerance) {
  for (const auto& pixel : pixels) {
    const int y = pixel[0], x = pixel[1];
    for (int c = 0; c < image.channels; ++c)
      EXPECT_NEAR(value(image, (std::size_t(y) * image.width + x) * image.channels + c),
                  golden::number(pixel[2 + c]), tolerance)
          << "row " << y << ", column " << x << ", channel " << c;
  }
}

void expect_image(const Image& image, const json& expect, const Tolerance& tolerance) {
  const std::vector<int> shape{image.channels, image.height, image.width};
  ASSERT_EQ(shape, expect.at("shape").get<std::vector<int>>());
  const auto means = channel_means(image);
  for (int c = 0; c < image.channels; ++c)
    EXPECT_NEAR(means[c], golden::number(expect.at("mean")[c]), tolerance.mean) << "channel " << c;
  expect_pixels(image, expect.at("pixels"), tolerance.pixel);
}

Tolerance decoding_tolerance(const std::string& file) {
  if (file.ends_with(".png")) return {0, 1e-9};
  return file.find("cmyk") != std::string::npos ? Tolerance{4, 1} : Tolerance{2, 0.3};
}

const json& as_bytes(const json& expect, const std::string& key) {
  return expect.contains(key + "_to_uint8") ? expect.at(key + "_to_uint8") : expect.at(key);
}

GOLDEN(transforms, decode) {
  const std::string file = c.input.at("file");
  const auto tolerance = decoding_tolerance(file);
  DecodeOptions options;
  options.exif_orientation = false;
  expect_image(decoded(file, options), as_bytes(c.expect, "torchvision_rgb"), tolerance);
  options.channels = 1;
  expect_image(decoded(file, options), as_bytes(c.expect, "torchvision_gray"), tolerance);
  if (c.expect.contains("rgb_exif_applied"))
    expect_image(decoded(file), c.expect.at("rgb_exif_applied"), tolerance);
  const auto bytes = read(file);
  options.exif_orientation = false;
  const auto size = image_size({bytes, file}, options);
  EXPECT_EQ(size.width, c.expect.at("size")[0]);
  EXPECT_EQ(size.height, c.expect.at("size")[1]);
}

json fixed(const json& factor) { return json::array({factor, factor}); }

/// The recipe fragment that asks for what the peer was asked for.
json recipe(const std::string& op, const json& o) {
  json step = o;
  if (op == "hflip" || op == "vflip") {
    step = {{"p", 1}};
  } else if (op == "rotate") {
    step.erase("angle");
    step["degrees"] = fixed(o.at("angle"));
  } else if (op == "jitter") {
    for (const char* part : {"brightness", "contrast", "saturation", "hue"})
      if (o.contains(part)) step[part] = fixed(o.at(part));
  } else if (op == "gamma") {
    step["gamma"] = fixed(o.at("gamma"));
  } else if (op == "gaussian_blur") {
    step = {{"kernel_size", o.at("kernel")}, {"sigma", fixed(o.at("sigma"))}};
  } else if (op == "solarize") {
    step = {{"threshold", o.at("threshold_255").get<double>() / 255}};
  } else if (op == "sharpness") {
    step = {{"factor", o.at("factor")}};
  } else if (o.contains("factor")) {
    step = {{op, fixed(o.at("factor"))}};
  }
  static const std::vector<std::string> by_chance{"autocontrast", "equalize",  "invert",
                                                  "posterize",    "sharpness", "solarize"};
  if (std::find(by_chance.begin(), by_chance.end(), op) != by_chance.end()) step["p"] = 1;
  return step;
}

std::string component(const std::string& op) {
  if (op == "hflip") return "horizontal_flip";
  if (op == "vflip") return "vertical_flip";
  if (op == "rotate") return "rotation";
  if (op == "grayscale") return "to_grayscale";
  const bool jitter =
      op == "jitter" || op == "brightness" || op == "contrast" || op == "saturation" || op == "hue";
  return jitter ? "color_jitter" : op;
}

Box box_of(const json& o) { return {o.at("left"), o.at("top"), o.at("width"), o.at("height")}; }

WarpOptions warp_of(const json& o) {
  const bool nearest = o.value("interpolation", "nearest") == "nearest";
  const auto fill = o.contains("fill") && o["fill"].is_number() ? o["fill"].get<double>() : 0;
  return {nearest ? Interpolation::nearest : Interpolation::bilinear, fill};
}

Affine affine_of(const json& o) {
  return {o.at("angle"), o.at("translate"), o.at("scale"), o.at("shear"), {}};
}

AugmentOp augment_op(const std::string& name) {
  const auto words = names(AugmentOp{});
  return static_cast<AugmentOp>(std::find(words.begin(), words.end(), name) - words.begin());
}

/// Those whose numbers a recipe leaves to chance run the functions that their components call.
void apply(const std::string& op, const json& o, Image& image) {
  if (op == "erase") return erase(image, box_of(o), golden::numbers(o.at("value")));
  if (op == "affine") return affine(image, affine_of(o), warp_of(o));
  if (op == "perspective") return perspective(image, o.at("start"), o.at("end"), warp_of(o));
  if (op == "randaugment")
    return augment(image, augment_op(o.at("name")), o.at("magnitude"), warp_of(o));
  if (op == "resized_crop") {
    const auto size = golden::numbers(o.at("size"));
    const Box box = box_of(o);
    Window window{double(box.left), double(box.top), double(box.width), double(box.height)};
    window.out_height = static_cast<int>(size.front());
    window.out_width = static_cast<int>(size.back());
    const std::string word = o.value("interpolation", "bilinear");
    const auto words = names(Interpolation{});
    window.interpolation =
        static_cast<Interpolation>(std::find(words.begin(), words.end(), word) - words.begin());
    window.antialias = o.value("antialias", true);
    Image resized;
    resample(image, window, resized);
    image = std::move(resized);
    return;
  }
  json step = recipe(op, o);
  step["type"] = component(op);
  Stream unused(0, 0);
  catalog<Transform>().build(fragment<Transform>(step))->apply(image, unused);
}

void make_float(Image& image) {
  for (auto byte : image.bytes) image.floats.push_back(static_cast<float>(byte) / 255.0F);
  image.bytes.clear();
}

bool is_resize(const std::string& op) { return op == "resize" || op == "resized_crop"; }

/// Pillow where we follow it to the bit; torchvision's bytes elsewhere and where Pillow has none.
const json& byte_result(const Case& c, const std::string& op, const json& o) {
  const bool nearest = o.value("interpolation", "") == "nearest";
  return is_resize(op) && !nearest && c.expect.contains("pillow") ? c.expect.at("pillow")
                                                                  : c.expect.at("uint8");
}

bool moves(const std::string& augment) {
  static const std::vector<std::string> moving{"ShearX", "ShearY", "TranslateX", "TranslateY",
                                               "Rotate"};
  return std::find(moving.begin(), moving.end(), augment) != moving.end();
}

Tolerance byte_tolerance(const std::string& op, const json& o) {
  static const std::vector<std::string> exact{"center_crop", "pad", "hflip", "vflip"};
  if (std::find(exact.begin(), exact.end(), op) != exact.end()) return {0, 1e-9};
  const bool moved = op != "randaugment" || moves(o.at("name"));
  if (moved && o.value("interpolation", "") == "nearest") return {255, 0.5};
  const bool as_pillow = is_resize(op) && o.value("antialias", true);
  return as_pillow ? Tolerance{0, 1e-9} : Tolerance{1, 0.2};
}

bool is_warp(const std::string& op) {
  return op == "rotate" || op == "affine" || op == "perspective";
}

Tolerance float_tolerance(const std::string& op, const json& o) {
  if (op == "rotate" && o.value("interpolation", "") == "nearest") return {1, 0.5 / 255};
  const double tolerance = is_resize(op) || is_warp(op) ? 1e-4 : 2e-5;
  return {tolerance, tolerance};
}

GOLDEN(transforms, transform) {
  const std::string op = c.input.at("op");
  const json o = c.input.value("options", json::object());
  const Image source = decoded(c.input.at("file"));
  if (c.expect.contains("uint8") || c.expect.contains("pillow")) {
    Image image = source;
    apply(op, o, image);
    SCOPED_TRACE("bytes");
    expect_image(image, byte_result(c, op, o), byte_tolerance(op, o));
  }
  if (c.expect.contains("float")) {
    Image image = source;
    make_float(image);
    apply(op, o, image);
    SCOPED_TRACE("floats");
    expect_image(image, c.expect.at("float"), float_tolerance(op, o));
  }
}

GOLDEN(transforms, pipeline) {
  Image image = decoded(c.input.at("file"));
  Stream unused(0, 0);
  for (const auto& step : c.input.at("steps")) {
    const std::string op = step.begin().key();
    const json options = step.begin().value();
    json recipe = options.is_object() ? options : json{{"size", options}};
    recipe["type"] = op;
    catalog<Transform>().build(fragment<Transform>(recipe))->apply(image, unused);
  }
  expect_image(image, c.expect.at("float"), {0.06, 0.02});
}

/// fastai's transforms in validation: its RandomResizedCrop is two components here, one for each
/// split.
GOLDEN(transforms, fastai) {
  json step = c.input.at("options");
  const std::string op = c.input.at("op");
  step["type"] = op == "random_resized_crop" ? "fastai_valid_crop" : op;
  Image image = decoded(c.input.at("file"));
  Stream unused(0, 0);
  catalog<Transform>().build(fragment<Transform>(step))->apply(image, unused);
  expect_image(image, c.expect.at("pillow"), {0, 1e-9});
}

}  // namespace
}  // namespace ddptrain
