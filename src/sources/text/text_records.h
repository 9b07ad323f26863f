// Texts that are rows of a file: of a CSV file, or lines of JSON.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "config/fields.h"
#include "sources/files/file_system.h"
#include "sources/split/valid_rows.h"
#include "sources/text/corpus.h"
#include "sources/text/text_options.h"

namespace ddptrain {

/// What the labels of rows are.
enum class TextTask { classification, regression, language_model };
std::span<const std::string_view> names(TextTask);

struct TextRecordOptions {
  std::string file;
  std::optional<std::string> valid_file;
  std::vector<std::string> text{"text"};
  std::string label = "label";
  TextTask task = TextTask::classification;
  Auto<bool> mark_fields;
  ValidRows valid;
  void fields(Fields& f);
  /// The column of groups, or null.
  const std::string* groups() const;
};

/// Whether rows have what the model is to say of them. unknown: rows to predict; they may have
/// labels, which are not read, nor what splits them.
enum class Labels { known, unknown };

struct TextRecord {
  std::vector<std::string> texts;  // one for each of options.text
  std::string label;
  std::string split;  // what valid.column says, where it is asked for
  std::string group;  // what valid.fold.groups says, where it is asked for
  std::string place;  // "reviews.jsonl:12", "reviews.csv row 12"
};

/// Reads a file. Throws an Error (Exit::data) that names file, line and column or key.
using ReadRecords = std::function<std::vector<TextRecord>(const std::string& file,
                                                          const TextRecordOptions&, Labels)>;

/// The text of a row's fields, joined as the options say.
std::string joined_fields(const std::vector<std::string>& fields, const TextRecordOptions& options);

/// Fields are joined by a blank, each after "xxfld" and its number where they are marked (fastai's
/// _join_texts). Labels of a regression are numbers, those that
/// pandas.read_csv takes for none missing. Else classes are
/// the labels of the training rows, in order of their bytes, or of their value where all are
/// numbers.
/// `files` has the files of the options, and outlives the source, as below.
CorpusSource record_source(const FileSystem& files, const TextRecordOptions& options,
                           const ReadRecords& read);
/// Rows of another file, all held out and without a label.
CorpusSource unlabeled_records(const FileSystem& files, const TextRecordOptions& options,
                               const std::string& file, const ReadRecords& read);

/// One object a line with the keys that the options name: texts are strings, a label a string, a
/// whole number, true or false; of a regression a number, a string that holds one, or null. Blank
/// lines are left out; other lines may be as long as memory allows. Throws an Error (Exit::data):
/// "reviews.jsonl:12: no 'label'".
std::vector<TextRecord> read_json_lines(const std::string& file, const TextRecordOptions& options,
                                        Labels labels, InvalidUtf8 invalid_utf8,
                                        const FileSystem& files = local_files());

}  // namespace ddptrain
