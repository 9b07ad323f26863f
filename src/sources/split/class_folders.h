// Data that lie in a folder per split and, in it, a folder per class.
#pragma once

#include <filesystem>
#include <functional>
#include <optional>
#include <string>
#include <vector>

namespace ddptrain {

struct ValidSpec;

/// The first of the folders val, valid, validation and test that exists in `root`.
std::optional<std::string> usual_validation_folder(const std::string& root);

/// The folder of validation samples in `root`: as written, or the usual one, which is logged. Where
/// there is none, or another one than is written, an Error (Exit::data) says what to write.
std::string validation_folder(const ValidSpec& spec, const std::string& root);

/// Logs that the usual folder of validation samples is not used, where a fold of the training ones
/// is held out.
void say_unused_folder(const ValidSpec& spec, const std::string& root, const std::string& train);

/// Throws an Error (Exit::data) that says what to write where `root` has a folder per class and no
/// folder `train`.
void require_split(const std::string& root, const std::string& train);

bool is_folder(const std::filesystem::path& path);

/// Names of the entries of `folder` that `is_class` accepts, sorted. An Error (Exit::data) names a
/// folder that cannot be read, and `option` ("data.train"), which chose it.
std::vector<std::string> class_folders(
    const std::filesystem::path& folder, const std::string& option,
    const std::function<bool(const std::filesystem::path&)>& is_class);

}  // namespace ddptrain
