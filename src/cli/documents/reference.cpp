// `schema --reference`: docs/reference.md.
#include <fmt/format.h>

#include "base/text.h"
#include "cli/documents/documents.h"
#include "cli/documents/example.h"
#include "config/option_text.h"
#include "recipe/layers/option.h"

namespace ddptrain {
namespace {

/// Text within a cell of a table.
std::string cell(const std::string& text) { return join(split(text, '|'), "\\|"); }

std::string default_cell(const Shape& option) {
  auto text = default_text(option);
  if (text.empty() || text == "required") return text;
  return fmt::format("`{}`", cell(text.substr(text.find(' ') + 1)));
}

void add_rows(std::string& table, const Shape& option, const std::string& prefix) {
  const auto name = prefix + option.key;
  table += fmt::format("| `{}` | {} | {} | {} |\n", name, cell(type_text(option)),
                       default_cell(option), cell(option.doc));
  const bool many = option.kind == Shape::Kind::list || option.kind == Shape::Kind::table;
  const auto& inner = many ? option.children[0] : option;
  if (inner.kind != Shape::Kind::record) return;
  for (const auto& child : inner.children) add_rows(table, child, name + (many ? "[]." : "."));
}

std::string table_of(const std::vector<Shape>& options) {
  if (options.empty()) return "No options.\n";
  std::string table = "| key | type | default | |\n|---|---|---|---|\n";
  for (const auto& option : options) add_rows(table, option, "");
  return table;
}

/// What must hold between options, in records within as well.
void add_constraints(std::string& list, const Shape& record, const std::string& prefix) {
  for (const auto& text : constraint_texts(record))
    list += fmt::format("- {}{}\n", prefix.empty() ? "" : fmt::format("`{}`: ", prefix), text);
  for (const auto& option : record.children) {
    const bool many = option.kind == Shape::Kind::list || option.kind == Shape::Kind::table;
    const auto& inner = many ? option.children[0] : option;
    if (inner.kind != Shape::Kind::record) continue;
    add_constraints(list, inner,
                    (prefix.empty() ? "" : prefix + ".") + option.key + (many ? "[]" : ""));
  }
}

std::string constraints_of(const Shape& options) {
  std::string list;
  add_constraints(list, options, "");
  return list.empty() ? "" : "\n" + list;
}

std::string component_text(const std::string& kind, const EntryBase& component,
                           const Catalogs& catalogs) {
  return fmt::format("\n### {} {}\n\n{}\n\n```yaml\n{}```\n\n{}{}", kind, component.name,
                     component.doc, example_of(kind, component, catalogs),
                     table_of(component.shape().children), constraints_of(component.shape()));
}

}  // namespace

std::string reference_text(const Catalogs& catalogs) {
  std::string text = fmt::format(
      "# Recipe reference\n\nMade by `ddptrain schema --reference`; what `ddptrain describe` says "
      "of one component or key, for all.\n\n## Keys of a recipe\n\n{}",
      table_of(recipe_shape().children));
  for (const auto& [kind, catalog] : catalogs) {
    text += fmt::format("\n## {}\n\nNamed in `{}`.\n", kind, key_of_kind(kind, catalogs));
    for (std::size_t i = 0; i < catalog->size(); ++i)
      text += component_text(kind, catalog->at(i), catalogs);
  }
  return text;
}

}  // namespace ddptrain
