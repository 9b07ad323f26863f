// How other libraries call the tensors of a network: the rows of a table, read both ways.
#pragma once

#include <ATen/core/Tensor.h>

#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ddptrain {

enum class Library { torchvision, timm, transformers };
std::string name_of(Library library);

/// What a tensor is there, if it has another shape: `vector` [n] for [n, 1, 1] here; a convolution
/// [out, in, k, k] for a linear layer [out, in k k] here, with k of 1 or 7.
enum class FormThere { same, vector, kernel1, kernel7 };

/// The beginning of a name here and there. Each `*` is one piece of a name, without dots; those of
/// `theirs` are what the first ones of `ours` stood for.
struct NameRow {
  std::string ours, theirs;
  FormThere form = FormThere::same;
};

struct NameTable {
  Library library = Library::torchvision;
  std::vector<NameRow> places = {};  // the first row that fits a name is taken
  std::vector<NameRow> parts = {};   // and then the first that fits what is left of it
  /// Ends of names: tensors that a network computes by itself. A file there need not have them.
  std::vector<std::string> computed = {};
  /// Why this network with its options does not compute what the library's architecture does, and
  /// which option to change; empty: it does. The name of the architecture is empty where a file
  /// does not come with it.
  std::function<std::string(const std::string& architecture)> differs = {};
};

/// Tables of libraries that have the network under our own names.
std::vector<NameTable> same_names(const std::vector<Library>& libraries);

struct NameThere {
  std::string name;
  FormThere form = FormThere::same;
};
NameThere name_there(const NameTable& table, const std::string& ours);

/// Whether `name` ends in one of those that a network computes by itself.
bool is_computed(const NameTable& table, const std::string& name);

/// A tensor of ours as it is there.
at::Tensor in_form(FormThere form, const at::Tensor& ours);

/// Rows for blocks that are numbered through here and by stage there: from the child `first` of
/// `ours` on, "features.4." to "blocks.2.0.", for stages of so many blocks.
void add_numbered_blocks(std::vector<NameRow>& rows, const std::string& ours, std::int64_t first,
                         const std::string& theirs, const std::vector<std::int64_t>& stages);

}  // namespace ddptrain
