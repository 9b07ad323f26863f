#include "text/metaspace.h"

#include "base/text.h"

namespace ddptrain {
namespace {

Metaspace::Prepend prepend_of(const JsonSection& section) {
  if (section.is_null("prepend_scheme"))
    return section.flag("add_prefix_space", true) ? Metaspace::Prepend::always
                                                  : Metaspace::Prepend::never;
  const auto scheme = section.text("prepend_scheme");
  if (scheme == "always") return Metaspace::Prepend::always;
  if (scheme == "first") return Metaspace::Prepend::first;
  if (scheme == "never") return Metaspace::Prepend::never;
  section.at("prepend_scheme").not_supported(scheme, "always, first, never");
}

}  // namespace

Metaspace::Metaspace(const JsonSection& section)
    : mark(section.text("replacement")), prepend(prepend_of(section)) {
  section.allow({"type", "replacement", "str_rep", "add_prefix_space", "prepend_scheme", "split"});
  if (count_characters(mark) != 1) section.at("replacement").fail("is not one character");
}

std::string Metaspace::marked(std::string_view text, bool begins) const {
  auto made = replace_text(text, " ", mark);
  const bool wanted = prepend == Prepend::always || (prepend == Prepend::first && begins);
  if (wanted && !made.empty() && !made.starts_with(mark)) made.insert(0, mark);
  return made;
}

std::string replace_text(std::string_view text, std::string_view from, std::string_view to) {
  std::string made;
  made.reserve(text.size());
  for (;;) {
    const auto at = text.find(from);
    made += text.substr(0, at);
    if (at == std::string_view::npos) return made;
    made += to;
    text.remove_prefix(at + from.size());
  }
}

}  // namespace ddptrain
