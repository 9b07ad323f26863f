// `--spreadsheet`, of the verbs that write CSV.
#pragma once

#include "base/quoting.h"
#include "cli/verb.h"

namespace ddptrain {

inline constexpr Flag kSpreadsheet{
    "--spreadsheet", "",
    "CSV for a spreadsheet: text that it would run as a formula (=, +, -, @) gets a ' in front"};

/// An Error (Exit::recipe) where the flag is given and what is written is no CSV.
CsvReader reader_of(const Arguments& arguments, bool writes_csv);

}  // namespace ddptrain
