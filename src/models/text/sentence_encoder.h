// Texts of any length through an AWD-LSTM, segment by segment. fastai.text.models.core's
// SentenceEncoder and masked_concat_pool.
#pragma once

#include "models/text/awd_lstm_encoder.h"

namespace ddptrain {

/// What became of a text's tokens: outputs [rows, time, features], and which places are padding,
/// bool [rows, time].
struct EncodedText {
  at::Tensor outputs;
  at::Tensor padded;
};

struct SentenceEncoderShape {
  AwdLstmShape encoder;
  std::int64_t bptt = 72;               // tokens in a segment
  std::optional<std::int64_t> max_len;  // outputs that are kept, at most, from the end; >= bptt
};

/// States go on from segment to segment, gradients do not; outputs before the last `max_len` are
/// dropped. A row takes part in a segment if its first place there is a token, and gives zeros
/// otherwise: short rows are to be padded in front in whole segments, with the rest behind
/// (fastai's pad_chunk). fastai counts such rows and takes that many from the top, which is the
/// same for rows that are sorted by length and end with the batch. In training, rows that are
/// padded otherwise are an Error; on a device other than the CPU, one of the device.
class SentenceEncoder final : public Module {
 public:
  SentenceEncoder(const SentenceEncoderShape& shape, const at::Generator& generator);
  /// Tokens [rows, time].
  EncodedText encode(const at::Tensor& tokens, const Pass& pass);
  at::Tensor forward(const at::Tensor& tokens, const Pass& pass) override;

  AwdLstmEncoder& encoder() { return *module_; }

 private:
  struct Piece {
    at::Tensor tokens, embedded;
    std::int64_t number;  // of its segment
  };
  at::Tensor run_segment(const Piece& piece, std::vector<LstmState>& states, const Pass& pass);
  at::Tensor run_all_rows(const Piece& piece, const at::Tensor& present,
                          std::vector<LstmState>& states, const Pass& pass);

  SentenceEncoderShape shape_;
  AwdLstmEncoder* module_;
};

/// [rows, 3 * features]: the output at the last token of each row, the largest and the mean over
/// its tokens.
at::Tensor masked_concat_pool(const EncodedText& text, std::int64_t bptt);

}  // namespace ddptrain
