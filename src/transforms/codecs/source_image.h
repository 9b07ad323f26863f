// An image as a pipeline reads it: from a file's bytes, or from what was decoded before.
#pragma once

#include <string_view>

#include "transforms/codecs/decode.h"

namespace ddptrain {

/// One image, used by one thread. Errors are those of decode.h.
class SourceImage {
 public:
  virtual ~SourceImage() = default;
  virtual std::string_view name() const = 0;
  /// Of the oriented image.
  virtual ImageSize size() = 0;
  virtual void decode(Image& into) = 0;
  /// As ddptrain::decode_window(), whichever way it is made.
  virtual void decode_window(const DecodedWindow& asked, Image& work, Image& into) = 0;
};

/// The bytes of a file, which outlive it.
class EncodedSource final : public SourceImage {
 public:
  EncodedSource(const EncodedImage& file, const DecodeOptions& options)
      : file_(file), options_(options) {}

  std::string_view name() const override { return file_.name; }
  ImageSize size() override { return image_size(file_, options_); }
  void decode(Image& into) override { ddptrain::decode(file_, options_, into); }
  void decode_window(const DecodedWindow& asked, Image& work, Image& into) override {
    ddptrain::decode_window(file_, asked, options_, work, into);
  }

 private:
  EncodedImage file_;
  DecodeOptions options_;
};

}  // namespace ddptrain
