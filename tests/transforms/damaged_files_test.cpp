// Files cut off or changed anywhere give pixels or an Error, never a crash. Of use above all under
// the debug preset's sanitizers.
#include <gtest/gtest.h>

#include "images.h"

namespace ddptrain {
namespace {

const char* const files[] = {"a_bits.png",   "a_cmyk.jpg",       "a_exif.jpg",       "a_grey.jpg",
                             "a_grey16.png", "a_grey_alpha.png", "a_palette.png",    "a_rgb.jpg",
                             "a_rgb.png",    "a_rgba.png",       "a_rgb_420_q60.jpg"};

/// Decodes in every way; true when all of it gave pixels.
bool survives(const test::Bytes& bytes) {
  DecodeOptions options;
  options.max_pixels = 1'000'000;  // a flipped bit of the size must not ask for gigabytes
  Image work, image;
  return test::message([&] {
           const auto size = image_size({bytes, "f"}, options);
           decode({bytes, "f"}, options, image);
           EXPECT_EQ(image.bytes.size(), image.values());
           Window window{size.width * 0.3, size.height * 0.3, size.width * 0.5, size.height * 0.4};
           window.out_width = window.out_height = 16;
           decode_window({bytes, "f"}, {window, DecodeMode::fast}, options, work, image);
           EXPECT_EQ(image.bytes.size(), 16U * 16 * 3);
         })
      .empty();
}

TEST(DamagedFiles, CutOffAnywhere) {
  for (const char* name : files) {
    const auto whole = test::golden_file(name);
    ASSERT_TRUE(survives(whole)) << name;
    const std::size_t step = std::max<std::size_t>(1, whole.size() / 97);
    for (std::size_t size = 0; size < whole.size(); size += size < 64 ? 1 : step)
      survives({whole.begin(), whole.begin() + std::ptrdiff_t(size)});
  }
}

TEST(DamagedFiles, ABitFlippedAnywhere) {
  for (const char* name : files) {
    const auto whole = test::golden_file(name);
    Stream random(hash_text(name), 0);
    for (int i = 0; i < 400; ++i) {
      auto bytes = whole;
      const std::size_t within = i % 2 ? whole.size() : std::min<std::size_t>(whole.size(), 700);
      bytes[random.below(within)] ^= std::uint8_t(1 << random.below(8));
      survives(bytes);
    }
  }
}

TEST(DamagedFiles, BytesReplacedByNoise) {
  for (const char* name : files) {
    const auto whole = test::golden_file(name);
    Stream random(hash_text(name), 1);
    for (int i = 0; i < 100; ++i) {
      auto bytes = whole;
      const std::size_t from = random.below(bytes.size());
      for (std::size_t k = from; k < std::min(bytes.size(), from + 40); ++k)
        bytes[k] = std::uint8_t(random.word());
      survives(bytes);
    }
  }
}

}  // namespace
}  // namespace ddptrain
