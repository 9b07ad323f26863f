// What writers of a checkpoint tell each other before they write, and the files that follow from
// it: the same on all of them.
#pragma once

#include <cstdint>
#include <string>
#include <utility>
#include <vector>

#include "base/json.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/manifest.h"
#include "checkpoint/tensor_files.h"

namespace ddptrain {

/// What one writer has.
struct WriterFacts {
  std::string place;       // its machine, or its folder on it (checkpoint/saving/shared_storage.h)
  std::int64_t bytes = 0;  // of its parts
  std::string state;       // state.json, of rank 0
  Json tensors = {};       // those whose first element it has: each is listed by one
};
WriterFacts facts_of(const CheckpointParts& parts, std::string place);
std::string to_text(const WriterFacts& facts);
std::vector<WriterFacts> parse_facts(const std::vector<std::string>& texts);

/// Files of tensors of one kind.
struct PlannedFiles {
  const TensorsOfFile* kind;
  std::vector<TensorFilePlan> files;
};
std::vector<PlannedFiles> plan_of(const std::vector<WriterFacts>& writers,
                                  std::int64_t largest_file);

/// The manifest without what is known only when all is written: checksums, and ranges.
Manifest manifest_of(const std::vector<PlannedFiles>& plan, std::int64_t step,
                     const std::string& state);

/// Bytes of all its files, with room for what describes them.
std::int64_t bytes_of(const std::vector<PlannedFiles>& plan);

}  // namespace ddptrain
