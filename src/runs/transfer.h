// transfer.json of a run folder: what became of the weights that the run started from.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

namespace ddptrain {

inline constexpr const char* kTransferJson = "transfer.json";

/// Rows that names match, or the remaining tensors; counted in rows or in tensors.
struct TransferGroup {
  std::string what;  // "words", "column 'city'", "classes", "targets", "tensors"
  std::vector<std::string> tensors = {};  // which have such rows; none of the remaining tensors
  std::int64_t copied = 0;                // to the same number
  std::int64_t moved = 0;                 // to another number
  std::int64_t initialized = 0;           // without a counterpart in the file
  std::int64_t dropped = 0;               // of the file, without a counterpart in the model
  std::string how = {};                   // what they are initialized to: "mean of the old rows"
  std::string note = {};                  // what was assumed, or why; may be empty
  std::vector<std::string> fresh_names = {},
                           dropped_names = {};  // those of `initialized` and `dropped`
  bool operator==(const TransferGroup&) const = default;
};

struct Transfer {
  std::string file;  // as the recipe has it
  std::vector<TransferGroup> groups;
  std::vector<std::string> warnings;  // such as another tokenizer
  bool operator==(const Transfer&) const = default;
};

/// JSON text and back; of long lists of names the first thousand are kept. Reading is an Error
/// (Exit::data) where the text is no such JSON.
std::string to_json(const Transfer& transfer);
Transfer transfer_of(const std::string& json);

void write_transfer_json(const Transfer& transfer, const std::string& folder);

/// For a terminal: a table with a row for each group, then the notes, and the names where they are
/// few.
std::vector<std::string> to_lines(const Transfer& transfer);

/// "'a', 'b'", at most eight, then how many more; empty where there are none.
std::string few_names(const std::vector<std::string>& names);

}  // namespace ddptrain
