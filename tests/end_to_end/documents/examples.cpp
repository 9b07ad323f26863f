#include "end_to_end/documents/examples.h"

#include <algorithm>
#include <filesystem>
#include <regex>
#include <set>
#include <sstream>

#include "end_to_end/program.h"
#include "support/where.h"

namespace ddptrain::end_to_end {
namespace {

std::vector<std::string> pages() {
  const std::set<std::string> others{"reference.md", "problems.md", "clusters.md"};
  std::vector<std::string> names{"README.md"};
  for (const auto& file : list(test::in_source("docs")))
    if (file.ends_with(".md") && !others.contains(file)) names.push_back("docs/" + file);
  return names;
}

/// What is typed of a line: quotes may hold spaces.
std::string typed(const std::string& line) {
  char quote = 0;
  for (std::size_t i = 0; i < line.size(); ++i) {
    if (line[i] == quote)
      quote = 0;
    else if (quote == 0 && (line[i] == '\'' || line[i] == '"'))
      quote = line[i];
    else if (quote == 0 && line.compare(i, 2, "  ") == 0)
      return line.substr(0, i);
  }
  return line;
}

/// Not the layers and the steps that architecture.md draws, nor lines of output in a fence.
bool is_command(const std::string& line) {
  static const std::regex command(
      "([A-Z_]+=\\S+ )*((build/|build-checker/|gpu-bundle/)?ddptrain|make|torchrun|srun|source|tar|"
      "pre-commit|pip|gpu-bundle/gpu-check|scripts/\\S+|bench/\\S+)( .*)?");
  return std::regex_match(line, command);
}

/// `ddptrain run R` in a sentence; `ddptrain run` there is the verb's name.
std::vector<std::string> in_sentence(const std::string& line) {
  static const std::regex code("`((?:[A-Z_]+=\\S+ )*ddptrain [^` ]+( [^`]+)?)`");
  static const std::set<std::string> whole{"ddptrain doctor", "ddptrain help", "ddptrain runs"};
  std::vector<std::string> found;
  for (std::sregex_iterator match(line.begin(), line.end(), code), end; match != end; ++match)
    if ((*match)[2].matched || whole.contains((*match)[1])) found.push_back((*match)[1]);
  return found;
}

class Page {
 public:
  explicit Page(std::string name) : name_(std::move(name)) {}

  std::vector<Block> blocks() {
    std::istringstream lines(read(test::in_source(name_)));
    for (std::string line; std::getline(lines, line);) add_line(line);
    end_block();
    return std::move(blocks_);
  }

 private:
  void add_line(const std::string& line) {
    ++number_;
    if (line.starts_with("```")) {
      end_block();
      fence_ = fence_.empty() ? line : "";
      return;
    }
    const bool indented = line.starts_with("    ");
    if (!fence_.empty() && fence_ != "```") return;
    const bool drawing = name_ == "docs/architecture.md" || !fence_.empty();
    if (indented || !fence_.empty()) {
      const auto command = typed(indented ? line.substr(4) : line);
      if (!drawing || is_command(command)) add(command);
      return;
    }
    end_block();
    for (const auto& command : in_sentence(line)) add(command);
    end_block();
  }

  void add(const std::string& command) {
    block_.push_back({name_ + ":" + std::to_string(number_), command});
  }

  void end_block() {
    if (!block_.empty()) blocks_.push_back(std::move(block_));
    block_.clear();
  }

  std::string name_, fence_;
  int number_ = 0;
  Block block_;
  std::vector<Block> blocks_;
};

}  // namespace

std::vector<Block> shown_commands() {
  std::vector<Block> all;
  for (const auto& name : pages())
    for (auto& block : Page(name).blocks()) all.push_back(std::move(block));
  return all;
}

}  // namespace ddptrain::end_to_end
