// Data that lie in a folder per split and, in it, a folder per class.
#pragma once

#include <functional>
#include <optional>
#include <string>
#include <vector>

#include "sources/files/file_system.h"

namespace ddptrain {

struct ValidSpec;

/// The first of the folders val, valid, validation and test that exists in `root`.
std::optional<std::string> usual_validation_folder(const std::string& root,
                                                   const FileSystem& files = local_files());

/// The folder of validation samples in `root`: as written, or the usual one, which is logged. Where
/// there is none, or another one than is written, an Error (Exit::data) says what to write.
std::string validation_folder(const FileSystem& files, const ValidSpec& spec,
                              const std::string& root);

/// Logs that the usual folder of validation samples is not used, where a fold of the training ones
/// is held out.
void say_unused_folder(const FileSystem& files, const ValidSpec& spec, const std::string& root,
                       const std::string& train);

/// Throws an Error (Exit::data) that says what to write where `root` has a folder per class and no
/// folder `train`.
void require_split(const FileSystem& files, const std::string& root, const std::string& train);

/// Names of the entries of `folder` that `is_class` accepts, sorted. An Error (Exit::data) names a
/// folder that cannot be read, and `option` ("data.train"), which chose it.
std::vector<std::string> class_folders(const FileSystem& files, const std::string& folder,
                                       const std::string& option,
                                       const std::function<bool(const FileEntry&)>& is_class);

}  // namespace ddptrain
