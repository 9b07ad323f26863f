// data text_jsonl: texts in lines of JSON.
#include "data/dataset.h"
#include "data/text/language_data.h"
#include "data/text/text_dataset.h"
#include "sources/text/text_records.h"

namespace ddptrain {
namespace {

struct TextJsonlOptions {
  TextRecordOptions records;
  InvalidUtf8 invalid_utf8 = InvalidUtf8::error;
  TextOptions texts;
  void fields(Fields& f) {
    records.fields(f);
    f("invalid_utf8", invalid_utf8,
      {.doc = "A line that is not UTF-8 is an error, or U+FFFD replaces what is not."});
    texts.fields(f);
  }
};

}  // namespace

Entry<Dataset> text_jsonl_dataset() {
  return entry<Dataset, TextJsonlOptions>(
      "text_jsonl", "Texts in lines of JSON, an object each.",
      [](const TextJsonlOptions& options, const DataContext& context) {
        const auto policy = options.invalid_utf8;
        const auto& files = *context.file_system;
        const ReadRecords read = [policy, &files](const auto& file, const auto& records,
                                                  Labels labels) {
          return read_json_lines(file, records, labels, policy, files);
        };
        const auto source = context.unlabeled.empty() ? record_source(files, options.records, read)
                                                      : unlabeled_records(files, options.records,
                                                                          context.unlabeled, read);
        const auto make = options.records.task == TextTask::language_model ? make_language_data
                                                                           : make_text_dataset;
        return make(source, options.texts, policy, context);
      },
      {"unlabeled", "gives_texts", "gives_class", "task_by task", "label_in_lines"});
}

}  // namespace ddptrain
