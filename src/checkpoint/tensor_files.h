// The files that hold tensors of one kind: one, or several with an index as Hugging Face has it.
#pragma once

#include <cstdint>
#include <string>
#include <unordered_map>
#include <vector>

#include "checkpoint/file_writer.h"
#include "checkpoint/safetensors_header.h"

namespace ddptrain {

/// A file before its tensors are in it.
struct TensorFilePlan {
  std::string name;  // "model.safetensors", or "model-00001-of-00002.safetensors"
  SafetensorsHeader header;
};

/// Files of at most `largest` bytes of tensors, but for a tensor that has more by itself; at least
/// one. The tensors' order stays from file to file.
std::vector<TensorFilePlan> plan_files(const std::string& stem, std::vector<TensorEntry> tensors,
                                       std::int64_t largest);

/// "model" of both names above; empty: it is no such file.
std::string stem_of(const std::string& file);

/// The names that must be there where this one is: those of the other files, and of their index.
std::vector<std::string> siblings_of(const std::string& file);

/// The index of several files, "model.safetensors.index.json", as transformers writes it.
std::string index_name(const std::string& stem);
std::string index_text(const std::vector<TensorFilePlan>& files);

/// The length of the file, and the digest of its header. An Error (Exit::data) names a tensor of a
/// type that the format lacks.
WrittenFile planned_file(const TensorFilePlan& plan);

/// Makes the file with its header and its full length.
void make_file(const std::string& folder, const TensorFilePlan& plan);

/// Where the tensors of files lie.
class TensorPlaces {
 public:
  explicit TensorPlaces(const std::vector<TensorFilePlan>& files);
  struct Place {
    std::string file;
    std::int64_t begin = 0;  // of the tensor's first byte in the file
    TensorEntry entry;
  };
  const Place& at(const std::string& name) const { return places_.at(name); }

 private:
  std::unordered_map<std::string, Place> places_;
};

}  // namespace ddptrain
