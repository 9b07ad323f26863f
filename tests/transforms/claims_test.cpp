// Files that claim more than they hold cost no more than what they hold.
#include <gmock/gmock.h>
#include <png.h>
#include <sys/resource.h>

#include <tuple>

#include "png_file.h"

namespace ddptrain {
namespace {

using test::Bytes;
using test::png_chunk;
using test::png_file;
using testing::HasSubstr;

std::int64_t most_memory() {
  rusage used{};
  getrusage(RUSAGE_SELF, &used);
  return std::int64_t{used.ru_maxrss} << 10;
}

/// The message for a file that takes less than 64 MiB to refuse.
std::string refusal(const Bytes& bytes) {
  const auto before = most_memory();
  auto text = test::message([&] { decode({bytes, "f"}); });
  EXPECT_LT(most_memory() - before, 64 << 20);
  return text;
}

const auto one_pixel = test::deflated(std::string(4, '\0'));

TEST(PngClaims, AncillaryChunksThatAreNotThereTakeNoMemory) {
  for (const char* type : {"tEXt", "zTXt", "iTXt", "iCCP", "sPLT", "eXIf", "pCAL", "sCAL", "abCd"})
    EXPECT_EQ(refusal(png_file({}, one_pixel, test::big_endian(1 << 30) + type + "text")),
              "'f' is not a whole PNG: a part of it claims 1073741824 bytes, and " +
                  std::to_string(4 + 12 + one_pixel.size() + 12) + " are there")
        << type;
}

TEST(PngClaims, TextIsNotUnpacked) {
  const auto bomb = test::deflated(std::string(8'000'000 - 100, '\0'));
  std::string text;
  for (int i = 0; i < 100; ++i) text += png_chunk("zTXt", "k" + std::string(2, '\0') + bomb);
  EXPECT_EQ(refusal(png_file({}, one_pixel, text)), "");
}

TEST(PngClaims, PixelsThatTheDataCannotHoldAreRefused) {
  for (const char interlaced : {0, 1}) {
    const test::PngHeader header{13000, 13000, 8, 2, interlaced};
    EXPECT_EQ(refusal(png_file(header, one_pixel)),
              "'f' is not a whole PNG: its " + std::to_string(one_pixel.size()) +
                  " bytes of data do not hold 13000 x 13000 pixels");
    const auto nearly = test::deflated(std::string(13000 * 5000, '\0'));
    EXPECT_THAT(refusal(png_file({13000, 5001, 8, 0, interlaced}, nearly)),
                HasSubstr("do not hold 13000 x 5001 pixels"));
  }
}

TEST(PngClaims, LargeImagesThatAreWholeAreDecoded) {
  const auto rows = test::deflated(std::string((1 + 8000 / 8) * 3000, '\0'));
  const auto image = decode({png_file({8000, 3000, 1, 0, 0}, rows), "f"});
  EXPECT_EQ(image.bytes, Bytes(3 * 8000 * 3000, 0));
}

std::string segment(int marker, const std::string& data) {
  const auto size = data.size() + 2;
  return std::string{'\xff', static_cast<char>(marker), static_cast<char>(size >> 8),
                     static_cast<char>(size)} +
         data;
}

/// A gray image in `frame` (0xC0 baseline, 0xC2 progressive, 0xCA arithmetic): header and tables.
std::string jpeg_start(int frame, int side) {
  const std::string length{static_cast<char>(side >> 8), static_cast<char>(side)};
  const std::string one_code = '\1' + std::string(15, '\0');
  return "\xff\xd8" + segment(0xDB, '\0' + std::string(64, '\1')) +
         segment(frame, '\x8' + length + length + std::string{1, 1, 0x11, 0}) +
         segment(0xC4, '\0' + one_code + '\0') + segment(0xC4, '\x10' + one_code + '\xe0');
}

/// Bits as bytes of a scan: filled up with ones, 0xFF followed by 0.
std::string packed(std::string bits) {
  while (bits.size() % 8 != 0) bits += '1';
  std::string bytes;
  for (std::size_t i = 0; i < bits.size(); i += 8) {
    bytes += static_cast<char>(std::stoi(bits.substr(i, 8), nullptr, 2));
    if (bytes.back() == '\xff') bytes += '\0';
  }
  return bytes;
}

/// A first scan of zeros, then `scans` of one coefficient, each nothing but runs of empty blocks.
Bytes progressive(int side, int scans) {
  const auto blocks = static_cast<std::size_t>((side + 7) / 8) * ((side + 7) / 8);
  auto file = jpeg_start(0xC2, side) + segment(0xDA, std::string{1, 1, 0, 0, 0, 0}) +
              std::string((blocks + 7) / 8, '\0');
  std::string runs;
  for (std::size_t left = blocks; left > 0; left -= std::min<std::size_t>(left, 32767))
    runs += "0" + std::string(14, '1');  // the code of up to 2^14 + (2^14 - 1) blocks
  for (int i = 0; i < scans; ++i) {
    const char band = static_cast<char>(1 + i % 63);
    file += segment(0xDA, std::string{1, 1, 0, band, band, 0}) + packed(runs);
  }
  file += "\xff\xd9";
  return {file.begin(), file.end()};
}

TEST(JpegClaims, PixelsThatTheBytesCannotHoldAreRefused) {
  for (const int frame : {0xC0, 0xC2, 0xC9, 0xCA}) {
    const auto file = jpeg_start(frame, 13000) + segment(0xDA, std::string{1, 1, 0, 0, 63, 0}) +
                      std::string(100, '\0') + "\xff\xd9";
    EXPECT_EQ(refusal({file.begin(), file.end()}), "'f' claims 13000 x 13000 pixels and has " +
                                                       std::to_string(file.size()) +
                                                       " bytes, which cannot hold them");
  }
}

TEST(JpegClaims, ScansAreBoundedByPixelsAndBytes) {
  EXPECT_EQ(decode({progressive(100, 400), "f"}).bytes, Bytes(3 * 100 * 100, 128));
  EXPECT_EQ(decode({progressive(4000, 14), "f"}).width, 4000);
  EXPECT_THAT(refusal(progressive(100, 501)), HasSubstr("501 scans of so many pixels"));
  EXPECT_THAT(refusal(progressive(4000, 400)), HasSubstr("scans of so many pixels are too many"));
}

TEST(JpegClaims, CoefficientsOfSeveralScansAreBoundedByBytes) {
  // 13000 x 13000 gray pixels have 1625 x 1625 blocks of 64 coefficients of two bytes
  const auto file = progressive(13000, 3);
  EXPECT_THAT(refusal(file),
              HasSubstr("13000 x 13000 pixels need 322.3 MiB while they are decoded"));
  EXPECT_THAT(refusal(progressive(13000, 400)),
              HasSubstr("401 scans of so many pixels are too many"));
}

TEST(JpegClaims, ScansInsideOfSegmentsAreNotCounted) {
  auto file = progressive(100, 400);
  std::string inside;
  for (int i = 0; i < 200; ++i) inside += "\xff\xda" + std::string{0, 8, 1, 1, 0, 1, 1, 0};
  const auto comment = segment(0xFE, inside);
  file.insert(file.begin() + 2, comment.begin(), comment.end());
  EXPECT_EQ(decode({file, "f"}).bytes, Bytes(3 * 100 * 100, 128));
}

TEST(WebpClaims, PixelsThatTheBytesCannotHoldAreRefused) {
  // one color for all: a header, 14 bits each for the sides, and five codes of one symbol
  std::string body{0x2f, '\xc7', '\xf2', '\xb1', 0x0c, '\x88', '\x88', 8};
  body.resize(20);
  const std::string file =
      "RIFF" + std::string{32, 0, 0, 0} + "WEBPVP8L" + std::string{20, 0, 0, 0} + body;
  EXPECT_THAT(refusal({file.begin(), file.end()}), HasSubstr("bytes, which cannot hold them"));
}

/// The same image in a row and in Adam7's seven, by libpng.
Bytes written(const Image& image, int depth, int type, int interlaced) {
  Bytes file;
  png_structp png = png_create_write_struct(PNG_LIBPNG_VER_STRING, nullptr, nullptr, nullptr);
  png_infop info = png_create_info_struct(png);
  png_set_write_fn(
      png, &file,
      [](png_structp to, png_bytep data, std::size_t size) {
        auto& into = *static_cast<Bytes*>(png_get_io_ptr(to));
        into.insert(into.end(), data, data + size);
      },
      nullptr);
  png_set_IHDR(png, info, static_cast<png_uint_32>(image.width),
               static_cast<png_uint_32>(image.height), depth, type, interlaced,
               PNG_COMPRESSION_TYPE_DEFAULT, PNG_FILTER_TYPE_DEFAULT);
  png_color palette[2] = {{1, 2, 3}, {200, 100, 50}};
  if (type == PNG_COLOR_TYPE_PALETTE) png_set_PLTE(png, info, palette, 2);
  png_write_info(png, info);
  const int passes = png_set_interlace_handling(png);
  const std::size_t stride = image.bytes.size() / static_cast<std::size_t>(image.height);
  for (int pass = 0; pass < passes; ++pass)
    for (int y = 0; y < image.height; ++y)
      png_write_row(png, image.bytes.data() + static_cast<std::size_t>(y) * stride);
  png_write_end(png, info);
  png_destroy_write_struct(&png, &info);
  return file;
}

TEST(Adam7, GivesTheSamePixels) {
  const std::tuple<int, int, int> kinds[] = {{1, PNG_COLOR_TYPE_GRAY, 1},
                                             {1, PNG_COLOR_TYPE_PALETTE, 1},
                                             {8, PNG_COLOR_TYPE_RGB, 3},
                                             {8, PNG_COLOR_TYPE_RGB_ALPHA, 4},
                                             {16, PNG_COLOR_TYPE_GRAY, 2}};
  for (const auto& [depth, type, bytes] : kinds)
    for (int side = 1; side <= 20; ++side) {
      const Image rows = test::numbered(side, 21 - side, bytes);
      for (const int channels : {1, 3}) {
        const DecodeOptions options{.channels = channels};
        const auto plain = decode({written(rows, depth, type, PNG_INTERLACE_NONE), "f"}, options);
        const auto mixed = decode({written(rows, depth, type, PNG_INTERLACE_ADAM7), "f"}, options);
        EXPECT_EQ(plain.bytes, mixed.bytes) << depth << " " << type << " " << side;
      }
    }
}

}  // namespace
}  // namespace ddptrain
