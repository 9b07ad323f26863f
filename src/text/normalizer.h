// What a tokenizer.json does to a text before it is cut (Hugging Face's normalizers).
#pragma once

#include <functional>
#include <string>
#include <vector>

#include "text/json_section.h"

namespace ddptrain {

class Normalizer {
 public:
  /// Changes nothing.
  Normalizer() = default;
  /// BertNormalizer, Lowercase, StripAccents, NFC, NFD, NFKC, NFKD, Prepend, Replace, Strip, or a
  /// Sequence of these.
  explicit Normalizer(const JsonSection& section);
  bool changes_nothing() const { return steps_.empty(); }
  /// Of UTF-8 text.
  void apply(std::string& text) const;

 private:
  void add(const JsonSection& section, int depth);
  bool add_form(const JsonSection& section);
  void add_bert(const JsonSection& section);
  void add_prepend(const JsonSection& section);
  void add_replace(const JsonSection& section);
  void add_strip(const JsonSection& section);

  std::vector<std::function<void(std::string&)>> steps_;
};

}  // namespace ddptrain
