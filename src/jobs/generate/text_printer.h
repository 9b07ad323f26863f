// Texts that several prompts get at the same time, one after the other on paper.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "generation/text_writer.h"

namespace ddptrain {

/// An object in one line: prompt, text, tokens, end.
std::string to_json_line(const FinishedText& text);

/// Shows the first text that has not ended as it comes; those behind it wait for their turn.
class TextPrinter {
 public:
  using Print = std::function<void(std::string_view)>;

  /// `headed`: each text stands under its prompt, with a blank line behind it.
  TextPrinter(std::vector<std::string> prompts, bool headed, Print print);
  void add(std::size_t prompt, std::string_view piece);
  void end(std::size_t prompt);
  /// Ends the line of a text that is not to be completed.
  void cut();

 private:
  void begin();
  void close();
  void show(std::string_view text);

  struct Text {
    std::string prompt, waiting;
    bool ended = false;
  };
  std::vector<Text> texts_;
  bool headed_;
  Print print_;
  std::size_t turn_ = 0;
  bool in_line_ = false;
};

}  // namespace ddptrain
