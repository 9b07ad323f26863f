#include "models/text/sentence_encoder.h"

#include <ATen/core/grad_mode.h>
#include <ATen/ops/cat.h>
#include <ATen/ops/zeros.h>

#include <limits>

#include "base/error.h"

namespace ddptrain {
namespace {

/// A row that begins inside a segment would lose that segment's tokens, and one that ends a segment
/// before the batch does would be known by its padding.
void require_whole_segments(const at::Tensor& padded, std::int64_t bptt) {
  const auto time = padded.size(1);
  const auto behind = padded.slice(1, std::max<std::int64_t>(0, time - bptt)).all(1);
  auto wrong = behind.logical_and(padded.all(1).logical_not());
  for (std::int64_t begin = 0; begin < time; begin += bptt) {
    const auto segment = padded.slice(1, begin, begin + bptt);
    wrong = wrong.logical_or(segment.select(1, 0).logical_and(segment.all(1).logical_not()));
  }
  if (!wrong.any().item<bool>()) return;
  const auto tokens = std::to_string(bptt);
  throw Error(Exit::recipe, Option{"model.bptt"},
              "texts must be padded in front by whole segments of " + tokens +
                  " tokens; write 'data.padding: {side: chunks, chunk: " + tokens + "}'");
}

}  // namespace

SentenceEncoder::SentenceEncoder(const SentenceEncoderShape& shape, const at::Generator& generator)
    : shape_(shape), module_(make<AwdLstmEncoder>("module", shape.encoder, generator)) {}

at::Tensor SentenceEncoder::run_segment(const at::Tensor& tokens, const at::Tensor& embedded,
                                        std::vector<LstmState>& states, std::int64_t number,
                                        const Pass& pass) {
  Segment segment{number, tokens.size(0), {}};
  const auto present = tokens.select(1, 0).ne(shape_.encoder.text.padding).nonzero().squeeze(1);
  if (present.size(0) == tokens.size(0))
    return module_->run(tokens, embedded, states, segment, pass);
  segment.rows = present;
  const auto output = module_->run(tokens.index_select(0, present),
                                   embedded.index_select(0, present), states, segment, pass);
  const auto none = at::zeros({tokens.size(0), output.size(1), output.size(2)}, output.options());
  return none.index_copy(0, present, output);
}

EncodedText SentenceEncoder::encode(const at::Tensor& input, const Pass& pass) {
  const auto& text = shape_.encoder.text;
  const auto tokens = with_a_place(input, text);
  if (pass.training) require_whole_segments(tokens.eq(text.padding), shape_.bptt);
  const auto time = tokens.size(1), bptt = shape_.bptt;
  auto states = module_->zero_states(tokens.size(0));
  std::int64_t begin = 0;
  for (; shape_.max_len && time - begin > *shape_.max_len; begin += bptt) {
    const at::NoGradGuard no_grad;  // only the states are needed
    const auto piece = tokens.slice(1, begin, begin + bptt);
    run_segment(piece, module_->embed(piece, pass), states, begin / bptt, pass);
  }
  const auto kept = tokens.slice(1, begin);
  const auto embedded = module_->embed(kept, pass);
  std::vector<at::Tensor> outputs;
  for (std::int64_t at = 0; at < kept.size(1); at += bptt)
    outputs.push_back(run_segment(kept.slice(1, at, at + bptt), embedded.slice(1, at, at + bptt),
                                  states, (begin + at) / bptt, pass));
  return {at::cat(outputs, 1), kept.eq(text.padding)};
}

at::Tensor SentenceEncoder::forward(const at::Tensor& tokens, const Pass& pass) {
  return encode(tokens, pass).outputs;
}

at::Tensor masked_concat_pool(const EncodedText& text, std::int64_t bptt) {
  const auto& [outputs, padded] = text;
  const auto time = outputs.size(1);
  const auto mask = padded.unsqueeze(2);
  const auto tokens = padded.logical_not().sum(1).clamp_min(1).unsqueeze(1);
  const auto mean = outputs.masked_fill(mask, 0).sum(1).div(tokens);
  const auto hidden = outputs.masked_fill(mask, -std::numeric_limits<double>::infinity());
  const auto most = std::get<0>(hidden.max(1)).masked_fill(padded.all(1, /*keepdim=*/true), 0);
  const auto behind = padded.slice(1, std::max<std::int64_t>(0, time - bptt)).sum(1);
  const auto last = behind.neg().add(time - 1).clamp_min(0).view({-1, 1, 1});
  const auto ends = outputs.gather(1, last.expand({-1, 1, outputs.size(2)})).squeeze(1);
  return at::cat({ends, most, mean}, 1);
}

}  // namespace ddptrain
