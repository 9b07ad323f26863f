// What `init` says of the rows of a CSV file, whatever they hold.
#pragma once

#include <string>
#include <vector>

#include "jobs/draft/draft.h"

namespace ddptrain {

/// An Error (Exit::data) where a row has no target.
void require_targets(const TableProfile& profile, const ColumnProfile& target);
std::vector<ClassCount> classes_in(const ColumnProfile& target, std::int64_t rows);
/// "1,500 rows with a number each, 'price' from 12 to 400".
std::string numbers_in_words(const TableProfile& profile, const ColumnProfile& target,
                             std::string_view noun);
std::string found_target(const InitRequest& request, const std::string& target);
[[noreturn]] void refuse_without_target(const TableProfile& profile);

Draft draft_image_rows(const InitRequest& request, const TableProfile& profile,
                       const ColumnProfile& paths);
Draft draft_text_rows(const InitRequest& request, const TableProfile& profile,
                      const ColumnProfile& texts);

}  // namespace ddptrain
