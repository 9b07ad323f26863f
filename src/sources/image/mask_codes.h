// Which class each number in a mask's file is.
#pragma once

#include <array>
#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include "config/fields.h"
#include "sources/files/file_system.h"

namespace ddptrain {

/// `codes: codes.txt`, or `codes: [sky, road]`.
struct CodesOption {
  static constexpr std::string_view shorthand = "file";
  static constexpr std::string_view list_shorthand = "names";
  std::optional<std::string> file;
  std::vector<std::string> names;
  void fields(Fields& f);
};

class MaskCodes {
 public:
  static constexpr std::uint8_t void_code = 255;
  static constexpr std::int16_t unknown = -1;

  /// `values` are the numbers in files of each name, 0, 1, 2, ... where empty; `void_names` names
  /// or numbers that are neither trained nor scored. Errors (Exit::recipe) about data.codes,
  /// data.values and data.void.
  MaskCodes(std::vector<std::string> names, const std::vector<std::int64_t>& values,
            const std::vector<std::string>& void_names);

  const std::vector<std::string>& names() const { return names_; }
  std::optional<std::int64_t> void_of() const;
  /// What a border becomes: void where there is one, else the first class.
  std::uint8_t border() const { return has_void_ ? void_code : std::uint8_t{0}; }
  /// The class of a number in a file, `void_code`, or `unknown`.
  std::int16_t class_of(std::uint8_t value) const { return classes_[value]; }
  /// The number in files of a class or of `void_code`.
  std::uint8_t value_of(std::uint8_t of) const { return values_[of]; }
  /// For messages: "0 to 31", or "0, 255".
  std::string values_text() const;

 private:
  void add_void(const std::string& word);

  std::vector<std::string> names_;
  bool has_void_ = false;
  std::array<std::int16_t, 256> classes_{};
  std::array<std::uint8_t, 256> values_{};
};

/// The names of `codes`, whose file is relative to `root`: one a line. An Error (Exit::data) names
/// file and line.
std::vector<std::string> code_names(const CodesOption& codes, const std::string& root,
                                    const FileSystem& files = local_files());

}  // namespace ddptrain
