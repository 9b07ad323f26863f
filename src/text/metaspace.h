// SentencePiece's spaces: words begin with a character that stands for the space before them
// (Hugging Face's Metaspace, which cuts texts and joins tokens).
#pragma once

#include <string>
#include <string_view>

#include "text/json_section.h"

namespace ddptrain {

struct Metaspace {
  enum class Prepend { always, first, never };

  /// A section of type Metaspace, with `add_prefix_space` in place of `prepend_scheme` in older
  /// files.
  explicit Metaspace(const JsonSection& section);
  /// A text with its spaces marked, and with a mark in front of it: of every text, or of one that
  /// begins a document.
  std::string marked(std::string_view text, bool begins) const;

  std::string mark;  // one character
  Prepend prepend = Prepend::always;
};

/// Every `from`, which is not empty, becomes `to`.
std::string replace_text(std::string_view text, std::string_view from, std::string_view to);

}  // namespace ddptrain
