#include "jobs/export/embeddings.h"

#include <ATen/core/Tensor.h>
#include <fmt/format.h>

#include "base/error.h"
#include "base/files/files.h"
#include "base/output/log.h"
#include "base/quoting.h"
#include "base/text.h"
#include "jobs/saved_model.h"
#include "models/embeddings.h"
#include "models/model.h"
#include "recipe/recipe.h"
#include "sources/table/table_fit.h"

namespace ddptrain {
namespace {

at::Tensor saved_tensor(const SavedModel& saved, const std::string& name) {
  for (const auto& named : saved.weights)
    if (named.name == name) return named.tensor.to(at::kDouble).contiguous();
  throw Error(Exit::data, "the checkpoint has no '{}'", name);
}

/// "u_weight" of "u_weight.weight", with a number where a name has several.
std::string title(const std::string& parameter, std::int64_t number, std::int64_t count) {
  const auto name = parameter.substr(0, parameter.rfind('.'));
  return count == 1 ? name : fmt::format("{}.{}", name, number);
}

std::size_t place_of_column(const std::vector<CategoryColumn>& columns, const std::string& name) {
  std::vector<std::string> names;
  for (const auto& column : columns) names.push_back(column.name);
  for (std::size_t i = 0; i < names.size(); ++i)
    if (names[i] == name) return i;
  throw Error(Exit::recipe, "--embeddings: no column '{}'{}", name,
              did_you_mean(nearest(name, names), "; there are '" + join(names, "', '") + "'"));
}

std::string embeddings_csv(const CategoryColumn& column, const std::vector<std::string>& names,
                           const std::vector<at::Tensor>& tensors) {
  std::string csv = csv_cell(column.name);
  for (std::size_t i = 0; i < names.size(); ++i)
    for (std::int64_t number = 0; number < tensors[i].size(1); ++number)
      csv += "," + title(names[i], number, tensors[i].size(1));
  csv += "\n";
  for (std::size_t row = 0; row < column.classes.size(); ++row) {
    csv += csv_cell(column.classes[row]);
    for (const auto& tensor : tensors) {
      const auto* numbers =
          tensor.const_data_ptr<double>() + static_cast<std::int64_t>(row) * tensor.size(1);
      for (std::int64_t i = 0; i < tensor.size(1); ++i) csv += "," + format_number(numbers[i]);
    }
    csv += "\n";
  }
  return csv;
}

}  // namespace

void export_embeddings(const Recipe& recipe, const SavedModel& saved, const std::string& column,
                       const std::string& file) {
  const auto& entry = *catalog<Model>().find(recipe.model.type());
  if (!entry.has("takes_tables") || embedding_names(entry, 0).empty())
    throw Error(Exit::recipe, "--embeddings: '{}' embeds no columns of a table", entry.name);
  const auto columns = fitted_categories(saved.data.fitted);
  const auto place = place_of_column(columns, column);
  const auto names = embedding_names(entry, place);
  std::vector<at::Tensor> tensors;
  for (const auto& name : names) tensors.push_back(saved_tensor(saved, name));
  write_atomically(file, embeddings_csv(columns[place], names, tensors));
  log::info("wrote {} of '{}' to {}", plural(std::ssize(columns[place].classes), "name"), column,
            file);
}

}  // namespace ddptrain
