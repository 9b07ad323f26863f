#include "jobs/quick_data.h"

#include <array>

#include "base/files/files.h"
#include "base/quoting.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr int kRows = 60;

std::vector<std::string> names(const Node& options, const char* key, const char* otherwise) {
  const auto* list = options.find(key);
  if (!list || !list->is_list()) return {otherwise};
  std::vector<std::string> all;
  for (const auto& item : list->items) all.push_back(item.text);
  return all;
}

/// The classes of a target, or a number for a regression.
std::string target_of(int row, bool regression) {
  if (regression) return format_number(10.0 * row + 0.5);
  return row % 2 == 0 ? "no" : "yes";
}

std::string sentence(int seed, bool good) {
  constexpr std::array<const char*, 6> things{"film", "story", "music", "cast", "scene", "end"};
  std::string text = "the";
  for (int i = 0; i < 3 + seed % 7; ++i)
    text += std::string(" ") + things.at(static_cast<std::size_t>(seed + i) % things.size()) +
            (good ? " was great and the" : " was awful and the");
  return text + " rest too .\n";
}

}  // namespace

std::string make_rows(const Node& options, const std::string& folder, bool regression) {
  const auto words = names(options, "categories", "kind");
  const auto numbers = names(options, "continuous", "size");
  std::string csv;
  for (const auto& name : words) csv += csv_cell(name) + ",";
  for (const auto& name : numbers) csv += csv_cell(name) + ",";
  csv += csv_cell(options.find("target")->text) + "\n";
  for (int row = 0; row < kRows; ++row) {
    for (std::size_t i = 0; i < words.size(); ++i)
      csv += std::string(1, static_cast<char>('a' + row % (2 + static_cast<int>(i) % 3))) + ",";
    for (std::size_t i = 0; i < numbers.size(); ++i)
      csv += format_number(row + 0.25 * static_cast<double>(i)) + ",";
    csv += target_of(row, regression) + "\n";
  }
  make_folders(folder);
  write_atomically(folder + "/rows.csv", csv);
  return folder + "/rows.csv";
}

void make_texts(const std::string& folder) {
  for (const auto& [split, count] : {std::pair("train", 12), std::pair("val", 4)})
    for (const bool good : {false, true}) {
      const auto home = folder + "/" + split + (good ? "/pos" : "/neg");
      make_folders(home);
      for (int i = 0; i < count; ++i)
        write_atomically(home + "/" + std::to_string(i) + ".txt", sentence(i, good));
    }
}

}  // namespace ddptrain
