#include "jobs/generate/text_printer.h"

#include <utility>

#include "base/json.h"

namespace ddptrain {

std::string to_json_line(const FinishedText& text) {
  const Json line{{"prompt", text.prompt},
                  {"text", text.text},
                  {"tokens", text.tokens},
                  {"end", name_of(text.end)}};
  return lossy_json_text(line) + "\n";
}

TextPrinter::TextPrinter(std::vector<std::string> prompts, bool headed, Print print)
    : headed_(headed), print_(std::move(print)) {
  for (auto& prompt : prompts) texts_.push_back({std::move(prompt), {}, false});
  begin();
}

/// The text whose turn it is, with all that came of it, and those behind it that have ended.
void TextPrinter::begin() {
  while (turn_ < texts_.size()) {
    auto& text = texts_[turn_];
    if (headed_) show("> " + text.prompt + "\n");
    show(std::exchange(text.waiting, {}));
    if (!text.ended) return;
    close();
  }
}

void TextPrinter::close() {
  cut();
  if (headed_) show("\n");
  ++turn_;
}

void TextPrinter::show(std::string_view text) {
  if (text.empty()) return;
  print_(text);
  in_line_ = !text.ends_with('\n');
}

void TextPrinter::add(std::size_t prompt, std::string_view piece) {
  if (prompt == turn_) return show(piece);
  texts_.at(prompt).waiting += piece;
}

void TextPrinter::end(std::size_t prompt) {
  texts_.at(prompt).ended = true;
  if (prompt != turn_) return;
  close();
  begin();
}

void TextPrinter::cut() {
  if (in_line_) show("\n");
}

}  // namespace ddptrain
