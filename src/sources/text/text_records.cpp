#include "sources/text/text_records.h"

#include <fmt/format.h>

#include <algorithm>
#include <array>
#include <limits>
#include <memory>

#include "base/error.h"
#include "base/names.h"
#include "base/output/log.h"
#include "base/text.h"
#include "sources/csv/csv_columns.h"
#include "sources/text/json_shards.h"

namespace ddptrain {

std::span<const std::string_view> names(TextTask) {
  return kNameList<"classification", "regression", "language_model">;
}

void TextRecordOptions::fields(Fields& f) {
  f("file", file,
    {.doc = "The texts, a row each; of JSON lines also several files, as in 'docs-{00..63}.jsonl', "
            "or tar shards, whose samples have a .json, or .txt and .cls as keys 'txt' and 'cls'.",
     .required = true,
     .path = true,
     .address = AddressUse::file,
     .example = "data/texts.csv"});
  f("valid_file", valid_file,
    {.doc = "A file of held-out rows; null: some of `file` are, as `valid` says.",
     .path = true,
     .address = AddressUse::file});
  f("text", text, {.doc = "Where a row has its text, or several parts of it.", .min_items = 1});
  f("label", label, {.doc = "Where a row has its class or its number."});
  f("task", task,
    {.doc = "'classification': labels are classes. 'regression': they are numbers; an empty one, "
            "NA and the others that pandas.read_csv takes for one are missing and count in no "
            "loss. 'language_model': there are none, and each token is followed by the next."});
  f("mark_fields", mark_fields,
    {.doc = "Put 'xxfld' and its number before each part; auto: where there are several."});
  f("valid", valid, {.doc = "Which rows are held out."});
}

const std::string* TextRecordOptions::groups() const {
  return valid.fold && valid.fold->groups ? &*valid.fold->groups : nullptr;
}

std::string joined_fields(const std::vector<std::string>& fields,
                          const TextRecordOptions& options) {
  const bool mark = options.mark_fields.value.value_or(options.text.size() > 1);
  std::string text;
  for (std::size_t i = 0; i < fields.size(); ++i) {
    if (i > 0) text += ' ';
    if (mark) text += fmt::format("xxfld {} ", i + 1);
    text += fields[i];
  }
  return text;
}

namespace {

using Records = std::vector<TextRecord>;

/// The rows of both splits, and the file that each split is of.
struct Rows {
  Records records;
  std::array<std::string, 2> files;
  std::array<std::vector<std::size_t>, 2> splits;
};

void split_by_column(Rows& rows, const std::string& column) {
  for (std::size_t i = 0; i < rows.records.size(); ++i) {
    const auto& record = rows.records[i];
    if (record.split != "train" && record.split != "valid")
      throw Error(Exit::data, "{}: '{}': '{}' is neither 'train' nor 'valid'", record.place, column,
                  record.split);
    rows.splits[record.split == "valid" ? 1 : 0].push_back(i);
  }
}

void split_by_number(Rows& rows, const std::vector<std::int64_t>& held) {
  std::vector<bool> valid(rows.records.size());
  for (const auto row : held) {
    if (row >= static_cast<std::int64_t>(valid.size()))
      throw Error(Exit::data, Option{"data.valid.rows"}, "there is no row {}; '{}' has {}", row,
                  rows.files[0], valid.size());
    valid[static_cast<std::size_t>(row)] = true;
  }
  for (std::size_t i = 0; i < valid.size(); ++i) rows.splits[valid[i] ? 1 : 0].push_back(i);
}

void assign_splits(Rows& rows, const Parts& parts) {
  rows.splits[0].assign(parts.train.begin(), parts.train.end());
  rows.splits[1].assign(parts.valid.begin(), parts.valid.end());
}

void split_by_fraction(Rows& rows, const ValidRows& valid) {
  ValidSpec spec;
  spec.fraction = valid.fraction;
  spec.seed = valid.seed;
  spec.order = valid.order;
  assign_splits(rows, split_samples(std::ssize(rows.records), spec));
}

void split_by_fold(Rows& rows, const TextRecordOptions& options) {
  FoldKeys keys;
  for (const auto& record : rows.records) {
    if (options.task == TextTask::classification) keys.classes.push_back(record.label);
    if (!options.groups()) continue;
    if (record.group.empty())
      throw Error(Exit::data, "{}: '{}' is empty; a row needs a group", record.place,
                  *options.groups());
    keys.groups.push_back(record.group);
  }
  const auto& valid = options.valid;
  assign_splits(rows, fold_parts(std::ssize(rows.records), *valid.fold, keys, valid.seed));
}

void split_rows(Rows& rows, const TextRecordOptions& options) {
  const auto& valid = options.valid;
  if (valid.fold)
    split_by_fold(rows, options);
  else if (valid.column)
    split_by_column(rows, *valid.column);
  else if (valid.fraction)
    split_by_fraction(rows, valid);
  else
    split_by_number(rows, valid.rows);
}

Rows read_rows(const TextRecordOptions& options, const ReadRecords& read) {
  Rows rows;
  rows.files = {options.file, options.valid_file.value_or(options.file)};
  rows.records = read(options.file, options, Labels::known);
  if (!options.valid_file || options.valid.fold) {
    split_rows(rows, options);
  } else {
    const auto train = rows.records.size();
    auto valid = read(*options.valid_file, options, Labels::known);
    std::move(valid.begin(), valid.end(), std::back_inserter(rows.records));
    for (std::size_t i = 0; i < rows.records.size(); ++i)
      rows.splits[i < train ? 0 : 1].push_back(i);
  }
  for (std::size_t split = 0; split < 2; ++split)
    if (rows.splits[split].empty())
      throw Error(Exit::data, "{}: no rows in split '{}", rows.files[split],
                  split == 0 ? "train'" : "valid'");
  return rows;
}

std::vector<std::string> classes_of(const Rows& rows) {
  std::vector<std::string> classes;
  for (const auto row : rows.splits[0]) classes.push_back(rows.records[row].label);
  std::sort(classes.begin(), classes.end());
  classes.erase(std::unique(classes.begin(), classes.end()), classes.end());
  const auto is_number = [](const auto& name) { return parse_number(name).has_value(); };
  if (std::all_of(classes.begin(), classes.end(), is_number))
    std::stable_sort(classes.begin(), classes.end(), [](const auto& a, const auto& b) {
      return *parse_number(a) < *parse_number(b);
    });
  return classes;
}

/// Documents with the numbers of their classes, which are added to the corpus.
void add_classified(const Rows& rows, Corpus& corpus) {
  corpus.classes = classes_of(rows);
  corpus.trained = corpus.classes.size();
  for (std::size_t split = 0; split < 2; ++split)
    for (const auto row : rows.splits[split]) {
      const auto& label = rows.records[row].label;
      auto found = std::find(corpus.classes.begin(), corpus.classes.end(), label);
      if (found == corpus.classes.end()) found = corpus.classes.insert(found, label);
      corpus.documents[split].push_back({rows.records[row].place, found - corpus.classes.begin()});
    }
}

double number_of(const TextRecord& record, const std::string& name) {
  const auto number = cell_number(record.label);
  if (number.is == CellNumber::number) return number.value;
  const auto& missing = pandas_missing();
  if (std::find(missing.begin(), missing.end(), record.label) != missing.end())
    return std::numeric_limits<double>::quiet_NaN();
  const auto* why = number.is == CellNumber::too_large
                        ? "' is larger than a float can hold (3.4e38)"
                        : "' is no number, and data.task is regression";
  throw Error(Exit::data, "{}: '{}': '{}{}", record.place, name, shown(record.label, 40), why);
}

void add_numbered(const Rows& rows, const std::string& name, Corpus& corpus) {
  corpus.regression = true;
  for (std::size_t split = 0; split < 2; ++split)
    for (const auto row : rows.splits[split]) {
      const auto& record = rows.records[row];
      corpus.documents[split].push_back({record.place, -1, number_of(record, name)});
    }
}

void add_unlabeled(const Rows& rows, Corpus& corpus) {
  for (std::size_t split = 0; split < 2; ++split)
    for (const auto row : rows.splits[split])
      corpus.documents[split].push_back({rows.records[row].place, -1});
}

Corpus corpus_of(Rows read, const TextRecordOptions& options) {
  const auto rows = std::make_shared<const Rows>(std::move(read));
  Corpus corpus;
  if (options.task == TextTask::regression)
    add_numbered(*rows, options.label, corpus);
  else if (options.task == TextTask::language_model)
    add_unlabeled(*rows, corpus);
  else
    add_classified(*rows, corpus);
  corpus.read = [rows, options](std::size_t split, std::size_t index) {
    return joined_fields(rows->records[rows->splits[split][index]].texts, options);
  };
  return corpus;
}

/// Files by their paths, sizes and times of change.
std::string file_key(const FileSystem& files, const std::string& pattern) {
  std::string key;
  for (const auto& file : json_files(files, pattern)) {
    const auto info = files.info(file);
    if (!info.why.empty()) throw Error(Exit::data, "cannot read '{}': {}", file, info.why);
    key += fmt::format("{}\n{} {}\n", file, info.size, info.changed);
  }
  return key;
}

std::string options_key(const TextRecordOptions& options) {
  std::string key = fmt::format(
      "{}\n\n{}\n{}{}", join(options.text, "\n"), options.label, static_cast<int>(options.task),
      options.mark_fields.value.value_or(options.text.size() > 1) ? 1 : 0);
  const auto& valid = options.valid;
  key += fmt::format("\n{} {} {} {}", format_number(valid.fraction.value_or(0)),
                     valid.column.value_or(""), valid.seed, static_cast<int>(valid.order));
  for (const auto row : valid.rows) key += fmt::format(" {}", row);
  if (valid.fold)
    key += fmt::format("\nfold {} {} {} {}", valid.fold->index, valid.fold->of,
                       valid.fold->by.automatic() ? -1 : static_cast<int>(*valid.fold->by.value),
                       valid.fold->groups.value_or(""));
  return key;
}

}  // namespace

CorpusSource record_source(const FileSystem& files, const TextRecordOptions& options,
                           const ReadRecords& read) {
  if (options.valid.fold && options.valid_file)
    log::info("'{}' is not used: a fold of '{}' is held out", *options.valid_file, options.file);
  return {"records\n" + file_key(files, options.file) +
              (options.valid_file ? file_key(files, *options.valid_file) : "") +
              options_key(options),
          [options, read] { return corpus_of(read_rows(options, read), options); }};
}

CorpusSource unlabeled_records(const FileSystem& files, const TextRecordOptions& options,
                               const std::string& file, const ReadRecords& read) {
  return {"unlabeled\n" + file_key(files, file) + options_key(options), [options, file, read] {
            Corpus corpus;
            corpus.regression = options.task == TextTask::regression;
            const auto records =
                std::make_shared<const Records>(read(file, options, Labels::unknown));
            for (const auto& record : *records) corpus.documents[1].push_back({record.place, -1});
            corpus.read = [records, options](std::size_t, std::size_t index) {
              return joined_fields((*records)[index].texts, options);
            };
            return corpus;
          }};
}

}  // namespace ddptrain
