// JPEGs that something else than libjpeg decodes: which files it gets, and what becomes of them.
#include <gmock/gmock.h>

#include <algorithm>

#include "images.h"
#include "jpeg_file.h"
#include "support/whole_jpeg.h"
#include "transforms/codecs/decode.h"

namespace ddptrain {
namespace {

using test::golden_file;
using test::message;
using testing::Each;
using testing::HasSubstr;

/// Notes the files that it is given, and makes a gray of them.
struct Painter {
  std::vector<std::string> seen;
  bool takes = true;
  JpegDecoder decoder = [this](const EncodedImage& file, ImageSize size, int channels,
                               std::uint8_t* pixels) {
    seen.emplace_back(file.name);
    if (takes) std::fill_n(pixels, size.width * size.height * channels, std::uint8_t{77});
    return takes;
  };

  Image decoded(const test::Bytes& bytes, const char* name, DecodeOptions options = {}) {
    options.jpeg = &decoder;
    return decode({bytes, name}, options);
  }
};

TEST(DeviceDecode, GetsJpegsThatEveryDecoderTakes) {
  Painter painter;
  for (const char* name : {"a_rgb.jpg", "a_rgb_420_q60.jpg", "a_grey.jpg"}) {
    const auto bytes = golden_file(name);
    const auto image = painter.decoded(bytes, name);
    EXPECT_THAT(image.bytes, Each(77)) << name;
    EXPECT_EQ(image.bytes.size(), decode({bytes, name}).bytes.size()) << name;
    EXPECT_THAT(painter.decoded(bytes, name, {.channels = 1}).bytes, Each(77)) << name;
  }
  EXPECT_EQ(painter.seen.size(), 6U);
}

TEST(DeviceDecode, LeavesInksAndOtherFormatsToTheCpu) {
  Painter painter;
  for (const char* name : {"a_cmyk.jpg", "a_rgb.png", "a_palette.png"}) {
    const auto bytes = golden_file(name);
    EXPECT_EQ(painter.decoded(bytes, name).bytes, decode({bytes, name}).bytes) << name;
  }
  EXPECT_THAT(painter.seen, testing::IsEmpty());
}

TEST(DeviceDecode, OfAFileThatItDoesNotTakeIsLibjpegs) {
  Painter painter;
  painter.takes = false;
  const auto bytes = golden_file("a_rgb.jpg");
  EXPECT_EQ(painter.decoded(bytes, "a").bytes, decode({bytes, "a"}).bytes);
  auto cut = bytes;
  cut.resize(cut.size() / 2);
  EXPECT_THAT(message([&] { painter.decoded(cut, "a"); }), HasSubstr("'a' is not a whole JPEG"));
  EXPECT_EQ(painter.seen.size(), 2U);
}

TEST(DeviceDecode, GetsNoFileThatClaimsTooMuch) {
  Painter painter;
  const auto bytes = golden_file("a_rgb.jpg");
  EXPECT_THAT(message([&] { painter.decoded(bytes, "a", {.max_pixels = 1000}); }),
              HasSubstr("'a' is too large"));
  EXPECT_THAT(painter.seen, testing::IsEmpty());
}

// By a decoder that is libjpeg itself, so that only the way is another one.
const JpegDecoder kWhole = [](const EncodedImage& file, ImageSize, int channels,
                              std::uint8_t* pixels) {
  return test::decode_whole_jpeg(file.bytes.data(), file.bytes.size(), channels,
                                 [&](std::size_t) { return pixels; });
};

TEST(DeviceDecode, IsTurnedCutAndResizedAsAWholeImageIs) {
  for (const auto& kind : {test::JpegKind{1, 1}, {2, 1}, {2, 2}, {2, 2, true}}) {
    const auto bytes = test::jpeg_file(test::numbered(90, 70), kind);
    const Window window{10, 5, 60, 50, 20, 16};
    Image work, expected, got;
    decode_window({bytes, "a"}, {window, DecodeMode::exact}, {}, work, expected);
    decode_window({bytes, "a"}, {window, DecodeMode::exact}, {.jpeg = &kWhole}, work, got);
    EXPECT_EQ(got.bytes, expected.bytes);
  }
  const auto turned = golden_file("a_exif.jpg");
  const auto image = decode({turned, "a"}, {.jpeg = &kWhole});
  EXPECT_EQ(image.width, 64);
  EXPECT_EQ(image.bytes, decode({turned, "a"}).bytes);
}

// libjpeg would decode it at half its size for this window.
TEST(DeviceDecode, IsOfTheFullSizeAlsoWhereFast) {
  const auto bytes = test::jpeg_file(test::numbered(128, 96), {2, 2});
  const Window window{0, 0, 128, 96, 32, 24};
  Image work, got, expected;
  EXPECT_TRUE(scales_while_decoding({bytes, "a"}));
  EXPECT_FALSE(scales_while_decoding({bytes, "a"}, {.jpeg = &kWhole}));
  decode_window({bytes, "a"}, {window, DecodeMode::fast}, {.jpeg = &kWhole}, work, got);
  cut_window(view_of(decode({bytes, "a"})), {128, 96}, 1, {window, DecodeMode::fast}, expected);
  EXPECT_EQ(got.bytes, expected.bytes);
}

}  // namespace
}  // namespace ddptrain
