#include "models/text/sentence_encoder.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/_assert_async.h>
#include <ATen/ops/arange.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/where.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "base/error.h"
#include "base/names.h"
#include "models/text/token_rows.h"

namespace ddptrain {
namespace {

// Segments [rows, n, bptt] that begin with padding and hold a token; bool [rows].
at::Tensor broken(const at::Tensor& segments) {
  return segments.select(2, 0).logical_and(segments.all(2).logical_not()).any(1);
}

/// A row that begins inside a segment would lose that segment's tokens, and one that ends a segment
/// before the batch does would be recognizable by its padding. Bool [rows].
at::Tensor padded_otherwise(const at::Tensor& padded, std::int64_t bptt) {
  const auto time = padded.size(1), whole = time / bptt * bptt;
  const auto behind = padded.slice(1, std::max<std::int64_t>(0, time - bptt)).all(1);
  auto wrong = behind.logical_and(padded.all(1).logical_not());
  if (whole > 0)
    wrong = wrong.logical_or(
        broken(padded.slice(1, 0, whole).reshape({padded.size(0), whole / bptt, bptt})));
  if (whole < time) wrong = wrong.logical_or(broken(padded.slice(1, whole).unsqueeze(1)));
  return wrong;
}

/// On a device that runs behind the host the device itself stops.
void require_whole_segments(const at::Tensor& padded, std::int64_t bptt) {
  const auto wrong = padded_otherwise(padded, bptt).any();
  const auto tokens = std::to_string(bptt);
  const auto message = "texts must be padded in front by whole segments of " + tokens +
                       " tokens; write 'data.padding: {side: chunks, chunk: " + tokens + "}'";
  if (!wrong.is_cpu()) return at::_assert_async(wrong.logical_not(), message);
  if (wrong.item<bool>()) throw Error(Exit::recipe, Option{"model.bptt"}, message);
}

/// `moved` in the rows that took part, `before` in the others.
std::vector<LstmState> in_rows(const at::Tensor& present, const std::vector<LstmState>& moved,
                               const std::vector<LstmState>& before) {
  const auto rows = present.view({1, -1, 1});
  std::vector<LstmState> states;
  for (std::size_t i = 0; i < moved.size(); ++i)
    states.push_back({at::where(rows, moved[i].hidden, before[i].hidden),
                      at::where(rows, moved[i].cell, before[i].cell)});
  return states;
}

}  // namespace

std::span<const std::string_view> names(TextPadding) { return kNameList<"masked", "fastai">; }

SentenceEncoder::SentenceEncoder(const SentenceEncoderShape& shape, const at::Generator& generator)
    : shape_(shape), module_(make<AwdLstmEncoder>("module", shape.encoder, generator)) {}

at::Tensor SentenceEncoder::run_segment(const Piece& piece, std::vector<LstmState>& states,
                                        const Pass& pass) {
  const auto rows = piece.tokens.size(0);
  const auto present = piece.tokens.select(1, 0).ne(shape_.encoder.text.padding);
  if (!present.is_cpu()) return run_all_rows(piece, present, states, pass);
  const auto numbers = present.nonzero().squeeze(1);
  Segment segment{piece.number, rows, {}, lengths_of(piece)};
  if (numbers.size(0) == rows)
    return module_->run(piece.tokens, piece.embedded, states, segment, pass);
  segment.rows = numbers;
  if (segment.lengths.defined()) segment.lengths = segment.lengths.index_select(0, numbers);
  const auto output = module_->run(piece.tokens.index_select(0, numbers),
                                   piece.embedded.index_select(0, numbers), states, segment, pass);
  const auto none = at::zeros({rows, output.size(1), output.size(2)}, output.options());
  return none.index_copy(0, numbers, output);
}

// Computes rows that take no part, too: the host need not know which they are.
at::Tensor SentenceEncoder::run_all_rows(const Piece& piece, const at::Tensor& present,
                                         std::vector<LstmState>& states, const Pass& pass) {
  const auto before = states;
  const Segment segment{piece.number, piece.tokens.size(0), {}, lengths_of(piece)};
  const auto output = module_->run(piece.tokens, piece.embedded, states, segment, pass);
  states = in_rows(present, states, before);
  return output.masked_fill(present.logical_not().view({-1, 1, 1}), 0);
}

/// The place from which outputs are kept. Where texts are to be as if each were `alone`, one may
/// end up to a segment before the batch does.
std::int64_t SentenceEncoder::first_kept(std::int64_t time, bool alone) const {
  if (!shape_.max_len) return 0;
  const auto most = *shape_.max_len + (alone ? shape_.bptt - 1 : 0);
  return std::max<std::int64_t>(0, time - most + shape_.bptt - 1) / shape_.bptt * shape_.bptt;
}

/// Tokens of each row in a segment, all in front; undefined where no layer asks for them.
at::Tensor SentenceEncoder::lengths_of(const Piece& piece) const {
  if (!shape_.encoder.bidir || shape_.padding == TextPadding::fastai) return {};
  return piece.tokens.ne(shape_.encoder.text.padding).sum(1);
}

/// `kept` are the last tokens [rows, time], of which the outputs are.
EncodedText SentenceEncoder::encoded(at::Tensor outputs, const at::Tensor& kept, bool alone) const {
  const auto bptt = shape_.bptt, time = kept.size(1);
  const auto padded = kept.eq(shape_.encoder.text.padding);
  if (shape_.padding == TextPadding::fastai) {
    const auto behind = padded.slice(1, std::max<std::int64_t>(0, time - bptt)).sum(1);
    return {std::move(outputs), padded, behind.neg().add(time - 1).clamp_min(0)};
  }
  const auto places = at::arange(time, kept.options()).unsqueeze(0);
  const auto last = places.masked_fill(padded, 0).amax(1);
  if (!alone || !shape_.max_len) return {std::move(outputs), padded, last};
  const auto starts = places.sub(places.remainder(bptt));
  const auto early = last.add(1).unsqueeze(1).sub(starts).gt(*shape_.max_len);
  return {std::move(outputs), padded.logical_or(early), last};
}

EncodedText SentenceEncoder::encode(const at::Tensor& input, const Pass& pass) {
  const auto& text = shape_.encoder.text;
  auto tokens = with_a_place(input, text);
  const auto bptt = shape_.bptt;
  if (pass.training) require_whole_segments(tokens.eq(text.padding), bptt);
  // Rows of training are in whole segments already, and no more of them than of the longest learns.
  const bool alone = shape_.padding == TextPadding::masked && !pass.training;
  if (alone) tokens = in_whole_segments(tokens, text.padding, bptt);
  auto states = module_->zero_states(tokens.size(0));
  const auto first = first_kept(tokens.size(1), alone);
  for (std::int64_t begin = 0; begin < first; begin += bptt) {
    const at::NoGradGuard no_grad;  // only the states are needed
    const auto piece = tokens.slice(1, begin, begin + bptt);
    run_segment({piece, module_->embed(piece, pass), begin / bptt}, states, pass);
  }
  const auto kept = tokens.slice(1, first);
  const auto embedded = module_->embed(kept, pass);
  std::vector<at::Tensor> outputs;
  for (std::int64_t at = 0; at < kept.size(1); at += bptt)
    outputs.push_back(run_segment(
        {kept.slice(1, at, at + bptt), embedded.slice(1, at, at + bptt), (first + at) / bptt},
        states, pass));
  return encoded(at::cat(outputs, 1), kept, alone);
}

at::Tensor SentenceEncoder::forward(const at::Tensor& tokens, const Pass& pass) {
  return encode(tokens, pass).outputs;
}

at::Tensor masked_concat_pool(const EncodedText& text) {
  const auto& [outputs, padded, last] = text;
  const auto mask = padded.unsqueeze(2);
  const auto tokens = padded.logical_not().sum(1).clamp_min(1).unsqueeze(1);
  const auto mean = outputs.masked_fill(mask, 0).sum(1).div(tokens);
  const auto hidden = outputs.masked_fill(mask, -std::numeric_limits<double>::infinity());
  const auto most = std::get<0>(hidden.max(1)).masked_fill(padded.all(1, /*keepdim=*/true), 0);
  const auto place = last.view({-1, 1, 1}).expand({-1, 1, outputs.size(2)});
  return at::cat({outputs.gather(1, place).squeeze(1), most, mean}, 1);
}

}  // namespace ddptrain
