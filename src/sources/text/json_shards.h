// Objects of JSON in several files: lines, or samples of tar shards.
#pragma once

#include <functional>
#include <string>
#include <string_view>
#include <vector>

#include "sources/files/file_system.h"

namespace ddptrain {

/// The files that a name with braces stands for (sources/brace_pattern.h), or the file of that
/// name.
std::vector<std::string> json_files(const FileSystem& files, const std::string& pattern);

/// An object that is read, and where it stands: "a.jsonl:12", "a.tar/000012".
using VisitJson = std::function<void(std::string_view json, const std::string& place)>;

/// Every line that is not blank of the files of a pattern, or every sample of those that end with
/// ".tar": its .json, to which the texts of .txt and .cls are added as "txt" and "cls". An Error
/// (Exit::data) names a file without any, and a sample whose .json is no object.
void visit_json(const FileSystem& files, const std::string& pattern, const VisitJson& visit);

/// The same as a list.
std::vector<std::string> json_texts(const FileSystem& files, const std::string& pattern);

}  // namespace ddptrain
