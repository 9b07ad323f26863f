#include "transforms/codecs/decode.h"

#include <gmock/gmock.h>
#include <webp/encode.h>

#include "images.h"
#include "jpeg_file.h"
#include "transforms/codecs/codecs.h"
#include "transforms/geometry.h"
#include "transforms/geometry/resample.h"

namespace ddptrain {
namespace {

using test::golden_file;
using test::message;
using testing::HasSubstr;

std::string decode_message(const test::Bytes& bytes, const DecodeOptions& options = {}) {
  return message([&] { decode({bytes, "photos/cat.jpg"}, options); });
}

test::Bytes webp_of(const Image& image) {
  std::uint8_t* bytes = nullptr;
  const std::size_t size =
      WebPEncodeLosslessRGB(image.bytes.data(), image.width, image.height, image.width * 3, &bytes);
  test::Bytes file(bytes, bytes + size);
  WebPFree(bytes);
  return file;
}

TEST(Decode, NamesTheFileAndWhatIsWrong) {
  EXPECT_EQ(decode_message({}), "'photos/cat.jpg' is empty (0 bytes)");
  EXPECT_EQ(decode_message({'G', 'I', 'F', '8', '9', 'a'}),
            "'photos/cat.jpg' is a GIF file; JPEG, PNG and WebP are read");
  EXPECT_EQ(decode_message({1, 2, 3, 4}),
            "'photos/cat.jpg' is no image; JPEG, PNG and WebP are read");
}

TEST(Decode, GoesByTheFirstBytesAndNotTheName) {
  const auto bytes = golden_file("a_rgb.png");
  EXPECT_EQ(decode({bytes, "misnamed.jpg"}).width, 120);
}

TEST(Decode, ATruncatedFileIsAnError) {
  for (const char* name : {"a_rgb.jpg", "a_cmyk.jpg", "a_grey.jpg", "a_rgb.png", "a_palette.png"})
    for (double share : {0.1, 0.5, 0.9}) {
      auto bytes = golden_file(name);
      bytes.resize(std::size_t(double(bytes.size()) * share));
      EXPECT_THAT(decode_message(bytes), HasSubstr("'photos/cat.jpg' is not a whole "))
          << name << " " << share;
    }
  auto webp = webp_of(test::numbered(40, 30));
  webp.resize(webp.size() / 2);
  EXPECT_THAT(decode_message(webp), HasSubstr("is not a whole WebP: it ends too early"));
}

TEST(Decode, RefusesMorePixelsThanAllowed) {
  DecodeOptions options;
  options.max_pixels = 1000;
  for (const char* name : {"a_rgb.jpg", "a_rgb.png"}) {
    EXPECT_EQ(decode_message(golden_file(name), options),
              "'photos/cat.jpg' is too large: 120 x 90 pixels, at most 1000 are decoded; "
              "data.max_pixels may allow more");
    EXPECT_THROW(image_size({golden_file(name), name}, options), Error);
  }
}

TEST(Decode, LosslessWebpComesBackAsItWas) {
  const Image image = test::numbered(31, 17);
  const auto file = webp_of(image);
  EXPECT_EQ(image_size({file, "a.webp"}), (ImageSize{31, 17}));
  EXPECT_EQ(decode({file, "a.webp"}).bytes, image.bytes);
}

TEST(Decode, GrayIsTheWeightedSumOfTheColors) {
  const auto file = webp_of(test::flat(4, 4, 200));
  DecodeOptions options;
  options.channels = 1;
  const Image gray = decode({file, "a.webp"}, options);
  EXPECT_EQ(gray.channels, 1);
  EXPECT_EQ(gray.bytes, test::Bytes(16, 200));
}

TEST(Orientation, UndoesHowTheCameraWasHeld) {
  // 2 x 3 pixels a b / c d / e f, one channel; what each of EXIF's values makes of them
  const std::vector<std::pair<int, std::string>> oriented{
      {1, "abcdef"}, {2, "badcfe"}, {3, "fedcba"}, {4, "efcdab"},
      {5, "acebdf"}, {6, "ecafdb"}, {7, "fdbeca"}, {8, "bdface"}};
  for (const auto& [orientation, expected] : oriented) {
    Image image;
    image.width = 2;
    image.height = 3;
    image.channels = 1;
    image.bytes = {'a', 'b', 'c', 'd', 'e', 'f'};
    orient(image, orientation);
    EXPECT_EQ(std::string(image.bytes.begin(), image.bytes.end()), expected) << orientation;
    EXPECT_EQ(image.width, orientation >= 5 ? 3 : 2);
  }
}

TEST(Orientation, ImageSizeIsThatOfTheTurnedImage) {
  const auto bytes = golden_file("a_exif.jpg");
  EXPECT_EQ(image_size({bytes, ""}), (ImageSize{64, 100}));
  DecodeOptions as_stored;
  as_stored.exif_orientation = false;
  EXPECT_EQ(image_size({bytes, ""}, as_stored), (ImageSize{100, 64}));
}

Window window_at(int left, int top, int width, int height, int out_width, int out_height) {
  return {double(left), double(top), double(width), double(height), out_width, out_height};
}

TEST(DecodeWindow, ExactIsCropAndResizeOfTheWholeImage) {
  const auto bytes = golden_file("a_rgb.jpg");
  Image expected = decode({bytes, "a"});
  crop(expected, {10, 5, 60, 50});
  Image resized, work, got;
  resample(expected, whole(expected, 32, 32), resized);
  decode_window({bytes, "a"}, {window_at(10, 5, 60, 50, 32, 32), DecodeMode::exact}, {}, work, got);
  EXPECT_EQ(got.bytes, resized.bytes);
}

double mean_difference(const Image& a, const Image& b) {
  double sum = 0;
  for (std::size_t i = 0; i < a.bytes.size(); ++i) sum += std::abs(a.bytes[i] - b.bytes[i]);
  return sum / double(a.bytes.size());
}

TEST(DecodeWindow, FastIsCloseToExactForEveryKindOfFile) {
  for (const char* name : {"a_rgb.jpg", "a_rgb_420_q60.jpg", "a_grey.jpg", "a_cmyk.jpg",
                           "a_exif.jpg", "a_rgb.png", "a_palette.png"}) {
    const auto bytes = golden_file(name);
    const auto size = image_size({bytes, name});
    const auto window =
        window_at(size.width / 5, size.height / 7, size.width / 2, size.height / 2, 24, 20);
    Image work, fast, exact;
    decode_window({bytes, name}, {window, DecodeMode::fast}, {}, work, fast);
    decode_window({bytes, name}, {window, DecodeMode::exact}, {}, work, exact);
    ASSERT_EQ(fast.bytes.size(), exact.bytes.size());
    EXPECT_LT(mean_difference(fast, exact), 2.55) << name;  // 1 % of the range
  }
}

/// Noise over a slope: every sample differs from its neighbors in a way of its own.
Image noisy(int width, int height, Stream& random) {
  Image image = test::numbered(width, height);
  for (auto& value : image.bytes)
    value = static_cast<std::uint8_t>((value + int(random.uniform() * 255)) / 2);
  return image;
}

Window random_window(ImageSize size, Stream& random) {
  Window window;
  window.width = std::floor(random.uniform(1, size.width + 0.999));
  window.height = std::floor(random.uniform(1, size.height + 0.999));
  window.left = std::floor(random.uniform() * (size.width - window.width + 1));
  window.top = std::floor(random.uniform() * (size.height - window.height + 1));
  window.out_width = 1 + int(random.uniform() * 40);
  window.out_height = 1 + int(random.uniform() * 40);
  window.interpolation = random.uniform() < 0.5 ? Interpolation::bilinear : Interpolation::bicubic;
  return window;
}

TEST(DecodeWindow, APartDecodedAloneIsThatPartOfTheWholeImage) {
  Stream random(3, 0);
  for (int trial = 0; trial < 3000; ++trial) {
    const test::JpegKind kinds[] = {{1, 1}, {2, 1}, {2, 2}, {1, 2}, {4, 1}};
    auto kind = kinds[trial % 5];
    kind.progressive = trial % 3 == 0;
    const ImageSize size{1 + int(random.uniform() * 150), 1 + int(random.uniform() * 150)};
    const auto bytes = test::jpeg_file(noisy(size.width, size.height, random), kind);
    const auto window = random_window(size, random);
    Image work, part, whole, cut;
    decode_window({bytes, "a"}, {window, DecodeMode::fast}, {}, work, part);
    const int shrink = decoded_shrink(window, DecodeMode::fast);
    decode_shrunk({bytes, "a"}, shrink, {}, whole);
    cut_window(view_of(whole), size, shrink, {window, DecodeMode::fast}, cut);
    ASSERT_EQ(part.bytes, cut.bytes)
        << kind.across << " x " << kind.down << ", " << size.width << " x " << size.height << " at "
        << window.left << ", " << window.top << " + " << window.width << " x " << window.height
        << " by " << shrink << " in trial " << trial;
  }
}

TEST(DecodeWindow, FastDecodesOnlyTheWindow) {
  const auto bytes = golden_file("a_rgb.jpg");
  Image work, got;
  decode_window({bytes, "a"}, {window_at(64, 32, 16, 24, 16, 24), DecodeMode::fast}, {}, work, got);
  EXPECT_EQ(work.height, 24);
  EXPECT_LT(work.width, 64);
}

TEST(DecodeWindow, ScalesWhileDecodingOnlyWhereResolutionIsLeft) {
  const auto bytes = golden_file("a_rgb.jpg");  // 120 x 90
  Image work, got;
  decode_window({bytes, "a"}, {window_at(0, 0, 120, 90, 60, 45), DecodeMode::fast}, {}, work, got);
  EXPECT_EQ(work.width, 60);
  decode_window({bytes, "a"}, {window_at(0, 0, 120, 90, 61, 45), DecodeMode::fast}, {}, work, got);
  EXPECT_EQ(work.width, 120);
  decode_window({bytes, "a"}, {window_at(0, 0, 120, 90, 15, 11), DecodeMode::fast}, {}, work, got);
  EXPECT_EQ(work.width, 15);
}

}  // namespace
}  // namespace ddptrain
