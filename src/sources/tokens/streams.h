// A text as parallel streams: fastai.text.data.LMDataLoader.
#pragma once

#include <cstdint>

namespace ddptrain {

/// `rows` streams of equal length, cut into pieces of `length` tokens, the last of which may be
/// shorter. Sample k * rows + r is piece k of stream r, so row r of batch k continues that of batch
/// k - 1. What the streams leave out of the text's end is less than `rows` tokens and the last one,
/// which is only learned.
class Streams {
 public:
  /// Of a text of `tokens`; without a token for each row and one more there is no sample.
  Streams(std::int64_t tokens, std::int64_t rows, std::int64_t length);

  std::int64_t samples() const { return pieces_ * rows_; }
  std::int64_t pieces() const { return pieces_; }          // of a stream: batches
  std::int64_t row_tokens() const { return row_tokens_; }  // of a stream
  std::int64_t length(std::int64_t sample) const;
  /// Where a sample begins in the text; its targets begin a token later.
  std::int64_t first(std::int64_t sample) const;
  /// Tokens that no sample has as a target, the text's first one not counted.
  std::int64_t left_out() const { return left_out_; }

 private:
  std::int64_t rows_, length_;
  std::int64_t row_tokens_ = 0, pieces_ = 0, left_out_ = 0;
};

}  // namespace ddptrain
