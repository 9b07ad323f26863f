#include "sources/image/stored_image.h"

#include "base/error.h"
#include "base/output/log.h"
#include "transforms/codecs/codecs.h"

namespace ddptrain {
namespace {

std::uint64_t bytes_at(ImageSize size, int shrink, int channels) {
  const auto side = [&](int length) {
    return static_cast<std::uint64_t>((length + shrink - 1) / shrink);
  };
  return side(size.width) * side(size.height) * static_cast<std::uint64_t>(channels);
}

void copy_pixels(const PixelView& from, Image& into) {
  into.width = from.width;
  into.height = from.height;
  into.channels = from.channels;
  into.floats.clear();
  into.bytes.assign(from.first, from.row(from.height));
}

}  // namespace

const PixelCache* LazyPixelCache::cache() const {
  std::call_once(once_, [&] {
    try {
      cache_ = std::make_unique<PixelCache>(options_);
    } catch (const Error& error) {
      log::warning("{}; images are decoded each time (data.cache.folder may name another folder)",
                   error.what());
    }
  });
  return cache_.get();
}

StoredImage::StoredImage(const Place& place, const DecodeOptions& options, const PixelCache* cache)
    : place_(place), options_(options), cache_(cache) {
  if (cache_ == nullptr) return;
  const auto info = place_.files.info(place_.path);
  if (info.kind != FileKind::file) {
    cache_ = nullptr;  // reading it says why
    return;
  }
  key_ = pixel_key(place_.path, info);
  some_ = cache_->find(key_, 0);
}

EncodedImage StoredImage::encoded() {
  if (!bytes_) bytes_ = read_text(place_.files, place_.path);
  return {{reinterpret_cast<const std::uint8_t*>(bytes_->data()), bytes_->size()}, place_.path};
}

ImageSize StoredImage::size() {
  if (!some_) return image_size(encoded(), options_);
  check_size({{}, place_.path}, some_->size, options_);
  return some_->size;
}

bool StoredImage::scales() {
  return some_ ? some_->scales : scales_while_decoding(encoded(), options_);
}

std::optional<DecodedPixels> StoredImage::found(int shrink) const {
  if (!some_ || some_->shrink == shrink) return some_;
  return cache_->find(key_, shrink);
}

/// Decodes the whole image and adds it; false where it is not added, or damaged in a place that may
/// not be wanted.
bool StoredImage::added(int shrink, Image& into) {
  const auto size = this->size();
  if (cache_ == nullptr || !cache_->has_room(bytes_at(size, shrink, options_.channels)))
    return false;
  try {
    decode_shrunk(encoded(), shrink, options_, into);
  } catch (const Error& error) {
    if (error.code() != Exit::data) throw;
    return false;
  }
  cache_->add(key_, {size, shrink, scales(), view_of(into)});
  return true;
}

void StoredImage::decode(Image& into) {
  if (const auto here = found(1)) {
    check_size({{}, place_.path}, here->size, options_);
    return copy_pixels(here->pixels, into);
  }
  if (!added(1, into)) ddptrain::decode(encoded(), options_, into);
}

void StoredImage::decode_window(const DecodedWindow& asked, Image& work, Image& into) {
  if (cache_ == nullptr) return ddptrain::decode_window(encoded(), asked, options_, work, into);
  const auto size = this->size();
  const int shrink = scales() ? decoded_shrink(asked.window, asked.mode) : 1;
  if (const auto here = found(shrink)) return cut_window(here->pixels, size, shrink, asked, into);
  if (added(shrink, work)) return cut_window(view_of(work), size, shrink, asked, into);
  ddptrain::decode_window(encoded(), asked, options_, work, into);
}

}  // namespace ddptrain
