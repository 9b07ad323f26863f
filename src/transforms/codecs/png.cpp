// PNG through libpng: every color type and depth. As torchvision.io.decode_image: palettes
// become colors, alpha is dropped, 16 bits keep their upper 8.
#include <fmt/format.h>
#include <png.h>

#include <cstdio>
#include <cstring>

#include "transforms/codecs/codecs.h"
#include "transforms/codecs/png_data.h"

namespace ddptrain {
namespace {

constexpr std::size_t header_bytes = 29;  // signature, and IHDR up to its end

// Text, histograms, calibrations: pixels do not depend on them, so they are not even unpacked.
constexpr std::uint8_t unneeded[] = "tEXt\0zTXt\0iTXt\0sPLT\0hIST\0pCAL\0sCAL\0eXIf";
constexpr int unneeded_count = sizeof unneeded / 5;

/// libpng's read structs with an owner. What goes wrong inside of step() is thrown after it.
class PngReader {
 public:
  PngReader(const EncodedImage& file, const DecodeOptions& options) : file_(file) {
    png_ =
        png_create_read_struct(PNG_LIBPNG_VER_STRING, this, fail, [](png_structp, const char*) {});
    DDP_CHECK(png_ != nullptr, "libpng's version differs from its header");
    info_ = png_create_info_struct(png_);
    step([&] {
      png_set_user_limits(png_, 1'000'000, 1'000'000);
      png_set_chunk_cache_max(png_, 128);
      png_set_chunk_malloc_max(png_, 8'000'000);
      png_set_keep_unknown_chunks(png_, PNG_HANDLE_CHUNK_NEVER, unneeded, unneeded_count);
      png_set_read_fn(png_, this, read);
      png_read_info(png_, info_);
    });
    check_size(file, size(), options);
  }
  PngReader(const PngReader&) = delete;
  PngReader& operator=(const PngReader&) = delete;

  ImageSize size() const {
    return {static_cast<int>(png_get_image_width(png_, info_)),
            static_cast<int>(png_get_image_height(png_, info_))};
  }

  void choose_output(int channels) {
    step([&] {
      const int type = png_get_color_type(png_, info_);
      if (type == PNG_COLOR_TYPE_PALETTE) png_set_palette_to_rgb(png_);
      if (png_get_bit_depth(png_, info_) < 8) png_set_expand_gray_1_2_4_to_8(png_);
      const bool color = (type & PNG_COLOR_MASK_COLOR) != 0;
      if (channels == 3 && !color) png_set_gray_to_rgb(png_);
      if (channels == 1 && color) png_set_rgb_to_gray(png_, PNG_ERROR_ACTION_NONE, 0.2989, 0.587);
      png_set_strip_16(png_);
      png_set_strip_alpha(png_);
      png_read_update_info(png_, info_);
    });
  }

  /// Grays and palette indices stay the numbers that they are.
  void choose_numbers() {
    const int type = png_get_color_type(png_, info_), depth = png_get_bit_depth(png_, info_);
    if (type == PNG_COLOR_TYPE_RGB || type == PNG_COLOR_TYPE_RGB_ALPHA)
      bad_image(file_, "has colors and no palette; a mask's palette indices or grays are classes");
    if (depth > 8) bad_image(file_, "has grays of 16 bits; those of a mask have at most 8");
    step([&] {
      png_set_packing(png_);
      if (type == PNG_COLOR_TYPE_GRAY_ALPHA) png_set_strip_alpha(png_);
      png_read_update_info(png_, info_);
    });
  }

  /// Of a file whose data were compared with their checksums already.
  void trust_data() {
    step([&] {
      png_set_crc_action(png_, PNG_CRC_QUIET_USE, PNG_CRC_QUIET_USE);
      png_set_option(png_, PNG_IGNORE_ADLER32, PNG_OPTION_ON);
    });
  }

  void read_image(Image& into) {
    const bool interlaced = png_get_interlace_type(png_, info_) == PNG_INTERLACE_ADAM7;
    const std::size_t stride = std::size_t(into.width) * into.channels;
    std::vector<std::uint8_t> line(interlaced ? stride : 0);
    step([&] {
      if (png_get_rowbytes(png_, info_) != stride) png_error(png_, "rows of an unexpected length");
      if (interlaced) return read_interlaced(line.data(), into);
      for (int y = 0; y < into.height; ++y)
        png_read_row(png_, into.bytes.data() + std::size_t(y) * stride, nullptr);
    });
  }

 private:
  template <class Step>
  void step(Step&& body) {
    if (!guard_.run(body)) bad_image(file_, std::string("is not a whole PNG: ") + message_);
  }
  [[noreturn]] static void fail(png_structp png, const char* message) {
    auto& self = *static_cast<PngReader*>(png_get_error_ptr(png));
    std::snprintf(self.message_, sizeof self.message_, "%s", message);
    self.guard_.jump();
  }
  /// Each pass has rows of its own width; libpng's way visits the whole image seven times.
  void read_interlaced(std::uint8_t* line, Image& into) {
    const auto channels = static_cast<std::size_t>(into.channels);
    for (const auto& pass : adam7) {
      const int width = pass.width(into.width), height = pass.height(into.height);
      for (int row = 0; width > 0 && row < height; ++row) {
        png_read_row(png_, line, nullptr);
        const auto y = static_cast<std::size_t>(pass.top + row * pass.down);
        auto* to = into.bytes.data() + (y * into.width + pass.left) * channels;
        for (int x = 0; x < width; ++x, to += pass.across * channels)
          std::memcpy(to, line + x * channels, channels);
      }
    }
  }
  static void read(png_structp png, std::uint8_t* to, std::size_t count) {
    auto& self = *static_cast<PngReader*>(png_get_io_ptr(png));
    if (count > self.file_.bytes.size() - self.at_) png_error(png, "it ends too early");
    std::memcpy(to, self.file_.bytes.data() + self.at_, count);
    self.at_ += count;
  }

  struct Structs {
    png_structp png = nullptr;
    png_infop info = nullptr;
    ~Structs() { png_destroy_read_struct(&png, &info, nullptr); }
  };

  const EncodedImage file_;
  std::size_t at_ = 0;
  Structs structs_;
  png_structp& png_ = structs_.png;
  png_infop& info_ = structs_.info;
  JumpGuard guard_;
  char message_[160] = "";
};

std::uint32_t long_at(std::span<const std::uint8_t> bytes, std::size_t at) {
  return std::uint32_t(bytes[at]) << 24 | bytes[at + 1] << 16 | bytes[at + 2] << 8 | bytes[at + 3];
}

}  // namespace

bool is_png(std::span<const std::uint8_t> bytes) {
  return bytes.size() >= 8 && png_sig_cmp(bytes.data(), 0, 8) == 0;
}

ImageHeader png_header(const EncodedImage& file) {
  if (file.bytes.size() < header_bytes || std::memcmp(&file.bytes[12], "IHDR", 4) != 0)
    bad_image(file, "is not a whole PNG: it ends before the size of the image");
  const std::uint32_t width = long_at(file.bytes, 16), height = long_at(file.bytes, 20);
  if (width > 1'000'000 || height > 1'000'000)
    bad_image(file, fmt::format("is not a PNG of this world: its header asks for {} x {} pixels",
                                width, height));
  return {{static_cast<int>(width), static_cast<int>(height)}, 1};
}

namespace {

void read_png(const EncodedImage& file, const DecodeOptions& options, Image& into, bool numbers) {
  check_png_chunks(file);
  const auto size = png_header(file).size;
  check_size(file, size, options);
  const auto unpacked = unpacked_png(file, size);
  PngReader reader(unpacked.empty() ? file : EncodedImage{unpacked, file.name}, options);
  if (unpacked.empty())
    check_png_data(file, reader.size());
  else
    reader.trust_data();
  if (numbers)
    reader.choose_numbers();
  else
    reader.choose_output(options.channels);
  into.width = reader.size().width;
  into.height = reader.size().height;
  into.channels = options.channels;
  into.floats.clear();
  into.bytes.resize(into.values());
  reader.read_image(into);
}

}  // namespace

void decode_png(const EncodedImage& file, const DecodeOptions& options, Image& into) {
  read_png(file, options, into, false);
}

void decode_png_mask(const EncodedImage& file, const DecodeOptions& options, Image& into) {
  read_png(file, options, into, true);
}

}  // namespace ddptrain
