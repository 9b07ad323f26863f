// Lines of JSON objects. Torch-free.
#pragma once

#include <string>
#include <vector>

#include "data/text/text_options.h"
#include "data/text/text_records.h"

namespace ddptrain {

/// One object a line with the keys that the options name: texts are strings, a label a string, a
/// whole number, true or false. Blank lines are left out; other lines may be as long as memory
/// allows. Throws an Error (Exit::data): "reviews.jsonl:12: no 'label'".
std::vector<TextRecord> read_json_lines(const std::string& file, const TextRecordOptions& options,
                                        Labels labels, InvalidUtf8 invalid_utf8);

}  // namespace ddptrain
