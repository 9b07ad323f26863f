// data ratings: who gave what which rating (fastai.collab.CollabDataLoaders).
#include "base/error.h"
#include "base/text.h"
#include "data/dataset.h"
#include "data/table/table_dataset.h"
#include "recipe/data_section.h"
#include "sources/csv/csv_format.h"

namespace ddptrain {
namespace {

using Name = Auto<std::string>;

struct RatingsTableOptions {
  std::string file;
  Name user, item, rating;
  Auto<std::vector<std::string>> missing;
  Unseen unseen = Unseen::missing;
  ValidRows valid;
  CsvFormat csv;
  DataSection section;
  void fields(Fields& f) {
    f("file", file,
      {.doc = "CSV or Parquet file with a rating in each row.",
       .required = true,
       .path = true,
       .address = AddressUse::file,
       .example = "data/ratings.csv"});
    f("user", user, {.doc = "The column of users; auto: the first."});
    f("item", item, {.doc = "The column of items; auto: the second."});
    f("rating", rating, {.doc = "The column of ratings, numbers; auto: the third."});
    missing_field(f, missing);
    f("unseen", unseen,
      {.doc = "What a user or item becomes that no training row has: '#na#', as one that is "
              "missing; a class of its own, for those of the validation rows; or an error."});
    f("valid", valid, {.doc = "Which rows are held out."});
    csv_field(f, csv);
    section.fields(f);
  }
};

/// The column that is written, or the one that stands at `place`, 0, 1 or 2.
std::string column_name(const Name& written, std::size_t place, const TableSource& source) {
  if (!written.automatic()) return *written.value;
  if (place < source.header().size()) return source.header()[place];
  throw Error(Exit::data,
              "{}:1: {}, and a user, an item and a rating are three; write which columns they are "
              "in data.user, data.item and data.rating",
              source.path(), plural(static_cast<std::int64_t>(source.header().size()), "column"));
}

/// What was open: the run's recipe has the names, so that `predict` reads columns in any order.
Node chosen_names(const RatingsTableOptions& options, const TableOptions& table) {
  auto chosen = Node::map();
  const auto choose = [&](const char* key, const Name& written, const std::string& name) {
    if (written.automatic()) chosen.set(key, Node::quoted_text(name));
  };
  choose("user", options.user, table.categories.value->at(0));
  choose("item", options.item, table.categories.value->at(1));
  choose("rating", options.rating, *table.target.column);
  return chosen;
}

TableOptions as_table(const RatingsTableOptions& options, const TableSource& source) {
  TableOptions table;
  table.file = options.file;
  const auto user = column_name(options.user, 0, source);
  const auto item = column_name(options.item, 1, source);
  if (user == item)
    throw Error(Exit::recipe, Option{"data.item"}, "'{}' is the column of users", item);
  table.categories = std::vector<std::string>{user, item};
  table.continuous = std::vector<std::string>{};
  table.target.column = column_name(options.rating, 2, source);
  table.task = TableTask::regression;
  table.missing = options.missing;
  if (table.missing.automatic() && source.has_nulls()) table.missing.value.emplace();
  table.unseen = options.unseen;
  table.valid = options.valid;
  return table;
}

std::unique_ptr<Dataset> make_ratings_dataset(const RatingsTableOptions& options,
                                              const DataContext& context) {
  const auto& file = context.unlabeled.empty() ? options.file : context.unlabeled;
  auto source = open_table(file, options.csv, *context.file_system);
  const auto table = as_table(options, *source);
  return make_table_dataset(
      table, [&](const std::string&) { return std::move(source); }, context,
      chosen_names(options, table));
}

}  // namespace

Entry<Dataset> ratings_dataset() {
  return entry<Dataset, RatingsTableOptions>(
      "ratings", "Ratings that users gave items, rows of a CSV or Parquet file; as fastai's.",
      make_ratings_dataset,
      {"unlabeled", "gives_tables", "gives_number", "label_column rating", "users_and_items"});
}

}  // namespace ddptrain
