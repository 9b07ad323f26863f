// `init` of a language model, from texts without labels or whose labels do not count.
#pragma once

#include <string>

#include "jobs/draft/draft.h"

namespace ddptrain {

/// What the other task of the same texts is called: a line for the terminal.
inline constexpr const char* kLearnsToContinue =
    "task: classes; --task language_model learns to continue the texts instead";

/// Each throws an Error (Exit::data) where there is too little text to learn from or to score.
Draft draft_language_folder(const InitRequest& request);
/// Lines of JSON whose texts are under a key; `why` no label counts.
Draft draft_language_lines(const InitRequest& request, const std::string& key,
                           const std::string& why);
Draft draft_language_rows(const InitRequest& request, const TableProfile& profile,
                          const ColumnProfile& texts);
/// A folder with train.tokens and valid.tokens, as `data tokens` writes them, or the former file.
Draft draft_tokens(const InitRequest& request);
bool holds_token_files(const std::string& folder);

}  // namespace ddptrain
