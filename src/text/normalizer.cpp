#include "text/normalizer.h"

#include <utf8proc.h>

#include <algorithm>
#include <cstdlib>
#include <memory>

#include "base/error.h"
#include "text/metaspace.h"
#include "text/unicode.h"

namespace ddptrain {
namespace {

/// Are there only characters before U+0300, which NFC leaves as they are (no combining marks)?
/// Other forms leave ASCII alone.
bool is_composed(std::string_view text, bool nfc) {
  constexpr unsigned char combining = 0xcc;  // the first byte of U+0300
  const auto first = nfc ? combining : static_cast<unsigned char>(0x80);
  return std::all_of(text.begin(), text.end(),
                     [first](char c) { return static_cast<unsigned char>(c) < first; });
}

void compose(std::string& text, int options) {
  if (is_composed(text, options == UTF8PROC_COMPOSE)) return;
  utf8proc_uint8_t* made = nullptr;
  const auto length = utf8proc_map(reinterpret_cast<const utf8proc_uint8_t*>(text.data()),
                                   static_cast<utf8proc_ssize_t>(text.size()), &made,
                                   static_cast<utf8proc_option_t>(UTF8PROC_STABLE | options));
  const std::unique_ptr<utf8proc_uint8_t, void (*)(void*)> owner(made, std::free);
  DDP_CHECK(length >= 0, "text is UTF-8");
  text.assign(reinterpret_cast<const char*>(made), static_cast<std::size_t>(length));
}

template <class Change>
void change_characters(std::string& text, Change change) {
  std::string changed;
  changed.reserve(text.size());
  for (std::size_t at = 0; at < text.size();) {
    const auto c = next_character(text, at);
    change(changed, c);
  }
  text.swap(changed);
}

/// Rust's char::to_lowercase, which knows no neighbors.
void make_lowercase(std::string& text) {
  change_characters(text, [](std::string& out, char32_t c) {
    if (c == 0x130)
      out += "i\xcc\x87";
    else
      append_character(out,
                       static_cast<char32_t>(utf8proc_tolower(static_cast<utf8proc_int32_t>(c))));
  });
}

/// Without characters of the categories Mn .. last.
void strip_marks(std::string& text, utf8proc_category_t last) {
  change_characters(text, [last](std::string& out, char32_t c) {
    const auto kind = utf8proc_category(static_cast<utf8proc_int32_t>(c));
    if (kind < UTF8PROC_CATEGORY_MN || kind > last) append_character(out, c);
  });
}

/// BertNormalizer's.
void strip_accents(std::string& text) { strip_marks(text, UTF8PROC_CATEGORY_MN); }

/// StripAccents'.
void strip_all_marks(std::string& text) { strip_marks(text, UTF8PROC_CATEGORY_ME); }

bool is_control(char32_t c) {
  const auto kind = utf8proc_category(static_cast<utf8proc_int32_t>(c));
  return kind == UTF8PROC_CATEGORY_CC || kind == UTF8PROC_CATEGORY_CF ||
         kind == UTF8PROC_CATEGORY_CO;
}

void clean(std::string& text) {
  change_characters(text, [](std::string& out, char32_t c) {
    const bool line = c == '\t' || c == '\n' || c == '\r';
    if (c == 0xfffd || (is_control(c) && !line)) return;
    append_character(out, is_white_space(c) ? U' ' : c);
  });
}

bool is_chinese(char32_t c) {
  return (c >= 0x4e00 && c <= 0x9fff) || (c >= 0x3400 && c <= 0x4dbf) ||
         (c >= 0x20000 && c <= 0x2a6df) || (c >= 0x2a700 && c <= 0x2b73f) ||
         (c >= 0x2b740 && c <= 0x2b81f) || (c >= 0x2b920 && c <= 0x2ceaf) ||
         (c >= 0xf900 && c <= 0xfaff) || (c >= 0x2f800 && c <= 0x2fa1f);
}

void space_chinese(std::string& text) {
  change_characters(text, [](std::string& out, char32_t c) {
    if (is_chinese(c)) out += ' ';
    append_character(out, c);
    if (is_chinese(c)) out += ' ';
  });
}

/// Two or more spaces become `content`.
void replace_blanks(std::string& text, std::string_view content) {
  std::string changed;
  for (std::size_t at = 0; at < text.size();) {
    const auto first = at;
    while (at < text.size() && text[at] == ' ') ++at;
    if (at - first >= 2)
      changed += content;
    else
      changed.append(text, first, at - first);
    const auto end = std::min(text.find(' ', at), text.size());
    changed.append(text, at, end - at);
    at = end;
  }
  text.swap(changed);
}

}  // namespace

Normalizer::Normalizer(const JsonSection& section) { add(section, 0); }

void Normalizer::add(const JsonSection& section, int depth) {
  const auto type = section.type();
  section.check_depth(depth);
  if (type == "Sequence") {
    section.allow({"type", "normalizers"});
    const auto list = section.at("normalizers");
    for (std::size_t i = 0; i < list.items(); ++i) add(list.item(i), depth + 1);
    return;
  }
  if (type == "BertNormalizer") return add_bert(section);
  if (type == "Prepend") return add_prepend(section);
  if (type == "Replace") return add_replace(section);
  if (type == "Strip") return add_strip(section);
  if (!add_form(section))
    section.not_supported(type,
                          "BertNormalizer, Lowercase, StripAccents, NFC, NFD, NFKC, NFKD, Prepend, "
                          "Replace, Strip, Sequence");
  section.allow({"type"});
}

bool Normalizer::add_form(const JsonSection& section) {
  const auto type = section.type();
  const auto form = [](int options) {
    return [options](std::string& text) { compose(text, options); };
  };
  if (type == "Lowercase")
    steps_.emplace_back(make_lowercase);
  else if (type == "StripAccents")
    steps_.emplace_back(strip_all_marks);
  else if (type == "NFC")
    steps_.emplace_back(form(UTF8PROC_COMPOSE));
  else if (type == "NFD")
    steps_.emplace_back(form(UTF8PROC_DECOMPOSE));
  else if (type == "NFKC")
    steps_.emplace_back(form(UTF8PROC_COMPOSE | UTF8PROC_COMPAT));
  else if (type == "NFKD")
    steps_.emplace_back(form(UTF8PROC_DECOMPOSE | UTF8PROC_COMPAT));
  else
    return false;
  return true;
}

void Normalizer::add_prepend(const JsonSection& section) {
  section.allow({"type", "prepend"});
  steps_.emplace_back([front = section.text("prepend")](std::string& text) {
    if (!text.empty()) text.insert(0, front);
  });
}

void Normalizer::add_replace(const JsonSection& section) {
  section.allow({"type", "pattern", "content"});
  const auto pattern = section.at("pattern");
  const auto content = section.text("content");
  if (!pattern.is_null("String")) {
    const auto from = pattern.text("String");
    if (from.empty()) pattern.at("String").fail("is empty");
    steps_.emplace_back(
        [from, content](std::string& text) { text = replace_text(text, from, content); });
    return;
  }
  const auto regex = pattern.text("Regex");
  if (regex != " {2,}") pattern.at("Regex").not_supported(regex, "' {2,}' alone");
  steps_.emplace_back([content](std::string& text) { replace_blanks(text, content); });
}

void Normalizer::add_strip(const JsonSection& section) {
  section.allow({"type", "strip_left", "strip_right"});
  const bool left = section.flag("strip_left", true), right = section.flag("strip_right", true);
  steps_.emplace_back([left, right](std::string& text) {
    std::string_view kept = text;
    if (left) kept = strip_begin(kept, is_white_space);
    if (right) kept = strip_end(kept, is_white_space);
    text = std::string(kept);
  });
}

void Normalizer::add_bert(const JsonSection& section) {
  section.allow({"type", "clean_text", "handle_chinese_chars", "strip_accents", "lowercase"});
  const bool lower = section.flag("lowercase", true);
  if (section.flag("clean_text", true)) steps_.push_back(clean);
  if (section.flag("handle_chinese_chars", true)) steps_.push_back(space_chinese);
  if (section.flag("strip_accents", lower)) {
    steps_.push_back([](std::string& text) { compose(text, UTF8PROC_DECOMPOSE); });
    steps_.push_back(strip_accents);
  }
  if (lower) steps_.push_back(make_lowercase);
}

void Normalizer::apply(std::string& text) const {
  for (const auto& step : steps_) step(text);
}

}  // namespace ddptrain
