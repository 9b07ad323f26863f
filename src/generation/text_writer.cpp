#include "generation/text_writer.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <utility>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {

std::string_view name_of(TextEnd end) {
  constexpr std::array<std::string_view, 3> names{"token", "stop", "length"};
  return names.at(static_cast<std::size_t>(end));
}

TextWriter::TextWriter(Generator& generator, const TextCodec& codec, WritingOptions options)
    : generator_(generator), codec_(codec), options_(std::move(options)) {}

Prompt TextWriter::prompt_of(const std::string& text, std::int64_t number) const {
  const auto fail = [&](const std::string& why) {
    throw Error(Exit::recipe, "prompt {}: {}", number + 1, why);
  };
  if (trim(text).empty()) fail("it is empty; give a text for the model to continue");
  if (const auto bad = find_invalid_utf8(text))
    fail(fmt::format("not UTF-8 text (byte {})", *bad + 1));
  return {codec_.encode(text), number};
}

void TextWriter::begin(const std::vector<std::string>& prompts, std::int64_t first) {
  texts_.clear();
  progress_.clear();
  std::vector<Prompt> encoded;
  for (const auto& text : prompts) {
    encoded.push_back(prompt_of(text, first + std::ssize(encoded)));
    texts_.push_back({text, {}});
    progress_.push_back({TextStream(codec_.detokenizer()), StopTexts(options_.stops), 0});
    for (const auto token : encoded.back().tokens)
      progress_.back().stream.add(static_cast<std::int32_t>(token));
  }
  const auto options = options_for(encoded);
  for (auto& each : progress_) each.left = options.tokens;
  generator_.begin(encoded, options);
}

GenerationOptions TextWriter::options_for(const std::vector<Prompt>& prompts) const {
  GenerationOptions options{options_.sampling, options_.seed,
                            options_.tokens.value_or(options_.usual_tokens), options_.ends};
  if (const auto unknown = codec_.unknown(); unknown >= 0) options.never = {unknown};
  const auto room = generator_.room(prompts);
  if (!options_.tokens && room) options.tokens = std::min(options.tokens, *room);
  return options;
}

bool TextWriter::step(const OnPiece& on_piece) {
  return generator_.step(
      [&](std::size_t text, std::int64_t token) { return add(text, token, on_piece); });
}

Writing TextWriter::add(std::size_t i, std::int64_t token, const OnPiece& on_piece) {
  auto& [stream, stops, left] = progress_[i];
  auto& text = texts_[i];
  auto piece = stops.add(stream.add(static_cast<std::int32_t>(token)));
  ++text.tokens;
  const bool marked = std::ranges::find(options_.ends, token) != options_.ends.end();
  const bool ended = marked || stops.stopped() || --left == 0;
  if (ended && !stops.stopped()) {
    piece += stops.add(stream.finish());
    if (!stops.stopped()) piece += stops.finish();
  }
  text.text += piece;
  if (marked) text.end = TextEnd::token;
  if (stops.stopped()) text.end = TextEnd::stop;
  on_piece(i, piece, ended);
  return ended ? Writing::sequence_ends : Writing::on;
}

}  // namespace ddptrain
