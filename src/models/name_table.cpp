#include "models/name_table.h"

#include <fmt/format.h>

#include <algorithm>

#include "base/error.h"

namespace ddptrain {
namespace {

/// What the pieces `*` of a pattern stand for in the beginning of a name, and where it ends.
struct Beginning {
  std::vector<std::string> pieces;
  std::size_t end = 0;
};

std::optional<Beginning> match(const std::string& pattern, const std::string& name) {
  Beginning found;
  for (const char letter : pattern) {
    if (letter != '*') {
      if (found.end == name.size() || name[found.end++] != letter) return {};
      continue;
    }
    auto end = found.end;
    while (end < name.size() && name[end] != '.') ++end;
    if (end == found.end) return {};
    found.pieces.push_back(name.substr(found.end, end - found.end));
    found.end = end;
  }
  return found;
}

std::string filled(const std::string& pattern, const std::vector<std::string>& pieces) {
  std::string text;
  std::size_t next = 0;
  for (const char letter : pattern)
    if (letter == '*')
      text += pieces.at(next++);
    else
      text += letter;
  return text;
}

struct Replaced {
  std::string text, rest;
  FormThere form = FormThere::same;
};

Replaced replaced(const std::vector<NameRow>& rows, const std::string& name) {
  for (const auto& row : rows)
    if (const auto found = match(row.ours, name))
      return {filled(row.theirs, found->pieces), name.substr(found->end), row.form};
  return {"", name};
}

}  // namespace

std::string name_of(Library library) {
  if (library == Library::transformers) return "transformers";
  return library == Library::timm ? "timm" : "torchvision";
}

std::vector<NameTable> same_names(const std::vector<Library>& libraries) {
  std::vector<NameTable> tables;
  for (const auto library : libraries) tables.push_back({.library = library});
  return tables;
}

NameThere name_there(const NameTable& table, const std::string& ours) {
  const auto place = replaced(table.places, ours);
  const auto part = replaced(table.parts, place.rest);
  // A row describes the shape of weights; biases are the same in all forms.
  const auto form = place.form != FormThere::same ? place.form : part.form;
  const bool of_bias = ours.ends_with(".bias");
  return {place.text + part.text + part.rest, of_bias ? FormThere::same : form};
}

bool is_computed(const NameTable& table, const std::string& name) {
  return std::any_of(table.computed.begin(), table.computed.end(),
                     [&](const auto& ending) { return name.ends_with(ending); });
}

at::Tensor in_form(FormThere form, const at::Tensor& ours) {
  const auto kernel = form == FormThere::kernel7 ? 7 : 1;
  switch (form) {
    case FormThere::same:
      break;
    case FormThere::vector:
      return ours.reshape({ours.numel()});
    case FormThere::kernel1:
    case FormThere::kernel7:
      return ours.reshape({ours.size(0), ours.size(1) / (kernel * kernel), kernel, kernel});
  }
  return ours;
}

void add_numbered_blocks(std::vector<NameRow>& rows, const std::string& ours, std::int64_t first,
                         const std::string& theirs, const std::vector<std::int64_t>& stages) {
  for (std::size_t stage = 0; stage < stages.size(); ++stage)
    for (std::int64_t block = 0; block < stages[stage]; ++block)
      rows.push_back(
          {fmt::format("{}.{}.", ours, first++), fmt::format("{}.{}.{}.", theirs, stage, block)});
}

}  // namespace ddptrain
