// Texts of any length through an AWD-LSTM, segment by segment. fastai.text.models.core's
// SentenceEncoder and masked_concat_pool.
#pragma once

#include "models/text/awd_lstm_encoder.h"

namespace ddptrain {

/// What the places of a batch that fill up short texts are to a model: nothing, so that a text's
/// output does not depend on the texts of its batch, or what they are in fastai.
enum class TextPadding { masked, fastai };
std::span<const std::string_view> names(TextPadding);

/// What became of a text's tokens: outputs [rows, time, features], which places do not count, bool
/// [rows, time], and the place of each row's last token, int64 [rows].
struct EncodedText {
  at::Tensor outputs;
  at::Tensor padded;
  at::Tensor last;
};

struct SentenceEncoderShape {
  AwdLstmShape encoder;
  std::int64_t bptt = 72;               // tokens in a segment
  std::optional<std::int64_t> max_len;  // outputs that are kept, at most, from the end; >= bptt
  TextPadding padding = TextPadding::masked;
};

/// States go on from segment to segment, gradients do not; a text's outputs before its last
/// `max_len` do not count. A row takes part in a segment if its first place there is a token, and
/// gives zeros otherwise: short rows are padded in front in whole segments, with the rest behind
/// (fastai's pad_chunk). In training, rows that are padded otherwise are an Error; on a device
/// other than the CPU, one of the device.
///
/// Four things of a text depend on the longest of its batch in fastai, and with TextPadding::fastai
/// alone. Of a text with fewer than `bptt` tokens, in a batch that does not end with a whole
/// segment, padding in front counts as padding behind it, so that another output than the last is
/// pooled as the last. Its last `max_len` outputs are those of the longest text (here too in
/// training, which learns from no more segments than those). Layers that read both ways begin with
/// the padding behind it. In evaluation its tokens may begin inside a segment, where they are lost.
/// fastai also counts the rows of a segment and takes that many from the top, which is the same for
/// rows that are sorted by length and end with the batch.
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
  std::int64_t first_kept(std::int64_t time, bool alone) const;
  at::Tensor lengths_of(const Piece& piece) const;
  EncodedText encoded(at::Tensor outputs, const at::Tensor& kept, bool alone) const;
  at::Tensor run_segment(const Piece& piece, std::vector<LstmState>& states, const Pass& pass);
  at::Tensor run_all_rows(const Piece& piece, const at::Tensor& present,
                          std::vector<LstmState>& states, const Pass& pass);

  SentenceEncoderShape shape_;
  AwdLstmEncoder* module_;
};

/// [rows, 3 * features]: the output at the last token of each row, the largest and the mean over
/// its tokens.
at::Tensor masked_concat_pool(const EncodedText& text);

}  // namespace ddptrain
