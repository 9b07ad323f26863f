// A folder of synthetic data that is there as a whole or not at all.
#pragma once

#include <filesystem>
#include <functional>
#include <string>

namespace ddptrain {

/// `mark` is a hidden file that says what a finished folder holds: `description`, a line.
struct MadeFolder {
  std::string mark;
  std::string description;
};

/// Calls `write` with a temporary folder that then becomes `folder`. Returns false, and does
/// nothing, where that is there already. Throws an Error (Exit::data) where it holds anything else.
bool make_folder(const std::string& folder, const MadeFolder& made,
                 const std::function<void(const std::filesystem::path&)>& write);

/// Throws an Error (Exit::data) where the disk is full.
void write_made_file(const std::filesystem::path& path, const std::string& content);

/// "0007"
std::string file_number(int number);

}  // namespace ddptrain
