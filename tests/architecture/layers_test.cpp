// The rules that a compiler does not see: includes follow the table of src/README.md, the lower
// layers include no LibTorch header, a component is one file and one row.
#include <gtest/gtest.h>

#include <filesystem>
#include <map>
#include <regex>
#include <set>
#include <string>

#include "architecture/source_lines.h"
#include "base/files/files.h"
#include "base/text.h"
#include "support/where.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;
using Names = std::set<std::string>;

const fs::path& source() {
  static const fs::path folder = test::in_source("src");
  return folder;
}

std::string trimmed(const std::string& text) {
  const auto first = text.find_first_not_of(' ');
  if (first == std::string::npos) return {};
  return text.substr(first, text.find_last_not_of(' ') - first + 1);
}

// A row is "| folder | what belongs there | base, config |".
std::map<std::string, Names> read_layers() {
  std::map<std::string, Names> layers;
  for (const auto& line : split(read_text(source() / "README.md"), '\n')) {
    const auto cells = split(line, '|');
    if (cells.size() != 5 || cells[1].find("---") == 0 || trimmed(cells[1]) == "folder") continue;
    auto& allowed = layers[trimmed(cells[1])];
    for (const auto& name : split(cells[3], ','))
      if (!trimmed(name).empty()) allowed.insert(trimmed(name));
  }
  return layers;
}

/// What each folder may include in addition to itself: the table of src/README.md.
const std::map<std::string, Names>& may_include() {
  static const auto layers = read_layers();
  return layers;
}

struct Include {
  fs::path file;
  std::string name;
};

std::vector<Include> includes_of(const std::string& folder) {
  static const std::regex line("^[ \t]*#[ \t]*include[ \t]*[<\"]([^>\"]+)[>\"]");
  std::vector<Include> found;
  for (const auto& entry : fs::recursive_directory_iterator(source() / folder)) {
    const auto extension = entry.path().extension();
    if (extension != ".h" && extension != ".cpp") continue;
    for (const auto& text : split(read_text(entry.path()), '\n'))
      if (std::smatch match; std::regex_search(text, match, line))
        found.push_back({entry.path(), match[1]});
  }
  return found;
}

/// Of src/, with those inside them: "models", "models/vision".
Names folders() {
  Names found;
  for (const auto& entry : fs::recursive_directory_iterator(source()))
    if (entry.is_directory()) found.insert(fs::relative(entry.path(), source()));
  return found;
}

// "models/vision" of "models/vision/vgg.cpp"; "models" of "models/module.h".
std::string inner_folder(const std::string& file) {
  const auto last = file.rfind('/');
  return last == std::string::npos ? std::string() : file.substr(0, last);
}

TEST(Layers, TheTableListsEveryFolder) {
  for (const auto& [folder, allowed] : may_include())
    EXPECT_TRUE(folders().contains(folder)) << "src/README.md lists " << folder;
  for (const auto& folder : folders())
    EXPECT_TRUE(may_include().contains(folder))
        << "src/" << folder << " is not in the table of src/README.md";
}

TEST(Layers, IncludesPointDown) {
  for (const auto& [folder, allowed] : may_include()) {
    if (folder.find('/') != std::string::npos) continue;  // its outer folder's row holds for it
    for (const auto& include : includes_of(folder)) {
      const auto target = include.name.substr(0, include.name.find('/'));
      if (!may_include().contains(target) || include.name.find('/') == std::string::npos) continue;
      EXPECT_TRUE(target == folder || allowed.contains(target) ||
                  allowed.contains(inner_folder(include.name)))
          << include.file << " includes " << include.name << ", which is not below it";
    }
  }
}

// Sub-folders have rows of their own; the files directly in a folder are below all of them, apart
// from the catalog, which declares components of every sub-folder without including any.
TEST(Layers, IncludesBetweenSubFoldersFollowTheTable) {
  for (const auto& [folder, allowed] : may_include()) {
    if (folder.find('/') != std::string::npos) continue;
    for (const auto& include : includes_of(folder)) {
      const auto from = inner_folder(fs::relative(include.file, source()));
      const auto to = inner_folder(include.name);
      const auto outer = to.substr(0, to.find('/'));
      if (outer != folder || from == to || to == folder || !may_include().contains(to)) continue;
      const auto row = may_include().find(from);
      EXPECT_TRUE(row != may_include().end() && row->second.contains(to))
          << include.file << " includes " << include.name;
    }
  }
}

TEST(Layers, TheLowerOnesIncludeNoLibTorch) {
  static const std::regex torch("^(torch|ATen|c10|caffe2)/");
  for (const std::string folder :
       {"base", "config", "weights", "recipe", "launch", "transforms", "text", "sources",
        "metrics/scores", "callbacks", "runs", "report", "schedules", "cli", "program", "forecast"})
    for (const auto& include : includes_of(folder))
      EXPECT_FALSE(std::regex_search(include.name, torch))
          << include.file << " includes " << include.name;
}

TEST(Layers, NobodyIncludesAllOfLibTorch) {
  const Names heavy{"torch/torch.h", "torch/nn.h", "torch/all.h", "ATen/ATen.h"};
  for (const auto& [folder, unused] : may_include())
    for (const auto& include : includes_of(folder))
      EXPECT_FALSE(heavy.contains(include.name)) << include.file << " includes " << include.name;
}

TEST(Layers, OnlyTheReaderIncludesYamlCpp) {
  for (const auto& [folder, unused] : may_include())
    for (const auto& include : includes_of(folder))
      EXPECT_TRUE(!include.name.starts_with("yaml-cpp/") || include.file.filename() == "reader.cpp")
          << include.file;
}

// What a device needs, its accelerator does: another kind of device is a plug-in.
TEST(Devices, AreToldApartInTheirFolderAlone) {
  const auto in_accelerator = [](const std::string& file) {
    return file.starts_with("accelerator/");
  };
  test::expect_lines_only_where(
      in_accelerator, "\\bk(CUDA|HPU|XPU|HIP)\\b|\\bis_(cuda|hpu)\\(|DeviceType::(CUDA|HPU)",
      {"at::kCUDA", "tensor.is_cuda()", "c10::DeviceType::HPU"});
  // The recipe language has a value for each kind.
  test::expect_lines_only_where(
      [&](const std::string& file) {
        return in_accelerator(file) || file == "recipe/rules/run.cpp";
      },
      "DeviceKind::(cuda|simulated)\\b", {"kind == DeviceKind::cuda", "DeviceKind::simulated)"});
}

// A pipe or a device that is opened in another way is waited for, or fills the memory. What the
// processes of a node share is memory.
TEST(Inputs, AreOpenedByInputFileAlone) {
  test::expect_lines_only_in(
      {"base/files/files.cpp", "launch/rank_process.cpp", "distributed/control/node_table.cpp",
       "sources/image/pixel_cache.cpp"},
      "O_RDONLY|O_RDWR|\\bf(re)?open\\(|ifstream|basic_filebuf|std::fstream|"
      "gzopen\\(|archive_read_open_file|mmap\\([^,]*,[^,]*,[^,]*,[^,]*, *open",
      {"::open(path, O_RDONLY)", "::open(path, O_RDWR)", "std::fopen(path", "freopen(path",
       "std::ifstream in", "std::basic_filebuf<char>", "std::fstream file", "gzopen(path",
       "archive_read_open_filename(", "::mmap(nullptr, size, PROT_READ, MAP_SHARED, open(path"});
}

// Object stores and archives are other implementations of FileSystem. What fetches, caches or makes
// files is about this machine's.
TEST(Inputs, OfDataAreReadThroughTheirFileSystem) {
  const auto may = [](const std::string& file) {
    const auto inside = [&](const char* folder) { return file.starts_with(folder); };
    const bool data = inside("sources/") || inside("data/");
    return !data || inside("sources/files/") || inside("sources/fetch/") ||
           inside("sources/synthetic/") || file == "sources/text/text_cache.cpp" ||
           file == "sources/remote/node_cache.cpp" || file == "sources/text/packed_text.cpp" ||
           file == "sources/image/pixel_cache.cpp";
  };
  test::expect_lines_only_where(
      may,
      "directory_iterator|(fs|filesystem)::(exists|is_directory|file_size|last_write_time)\\b"
      "|\\b(InputFile|digest_file)\\b",
      {"fs::directory_iterator(path", "std::filesystem::file_size(path", "InputFile file",
       "digest_file(path"});
  // One argument: of this machine's disk. Two: of a file system.
  test::expect_lines_only_where(may, "\\bread_text\\(([^(),]|\\([^()]*\\))*\\)",
                                {"read_text(path)", "split(read_text(names(folder)), ',')"});
}

// What others wrote may steer a terminal or CI where it is printed in another way.
TEST(Output, IsPrintedByPrintAndLogAlone) {
  test::expect_lines_only_in(
      {"base/output/print.cpp", "base/output/print.h", "base/output/log.cpp", "base/error.cpp",
       "cli/documents/completion_scripts.cpp"},
      "\\b(f|v|vf)?printf\\(|\\bf?puts\\(|\\bfputc\\(|\\bfwrite\\(|putchar\\(|"
      "std::(cout|cerr|clog)\\b",
      {"std::printf(", "fprintf(stderr", "vfprintf(", "puts(", "std::fputs(", "fputc(", "fwrite(",
       "putchar(", "std::cout <<", "std::cerr <<"});
}

// One way to start, signal and collect a child process; a handler may signal its own process.
TEST(Processes, AreStartedAndEndedByChildProcessAlone) {
  test::expect_lines_only_in(
      {"launch/child_process.cpp", "launch/signals.cpp"},
      "\\bv?fork\\(|posix_spawn|\\bexec[lv]p?e?\\(|\\bwait(pid|id|3|4)\\(|"
      "::kill\\(|killpg\\(|\\bpopen\\(|::system\\(|::setpgid\\(|prctl\\(PR_SET",
      {"::fork()", "vfork()", "posix_spawnp(&pid", "::execvp(name", "::waitpid(pid, &status, 0)",
       "::kill(pid, SIGTERM)", "killpg(group", "popen(command", "std::system(command)",
       "::setpgid(0, 0)", "::prctl(PR_SET_PDEATHSIG, SIGKILL)"});
}

/// Functions `Entry<Kind> name() {` of a folder's component files, with kind, file, and the comment
/// that the file begins with.
struct Component {
  std::string kind, function, stem, caption;
};

std::string caption_of(const std::string& text) {
  std::string caption;
  for (const auto& line : split(text, '\n')) {
    if (!line.starts_with("// ")) break;
    caption += line.substr(2);
  }
  return caption;
}

std::vector<Component> components_of(const std::string& folder) {
  static const std::regex definition("Entry<(\\w+)> (\\w+)\\(\\) \\{");
  std::vector<Component> found;
  for (const auto& entry : fs::recursive_directory_iterator(source() / folder)) {
    if (entry.path().extension() != ".cpp") continue;
    const auto text = read_text(entry.path());
    for (std::sregex_iterator match(text.begin(), text.end(), definition), end; match != end;
         ++match)
      found.push_back({(*match)[1], (*match)[2], entry.path().stem(), caption_of(text)});
  }
  return found;
}

std::string catalog_text(const std::string& folder) {
  std::string text;
  for (const auto& entry : fs::directory_iterator(source() / folder))
    if (entry.path().filename().string().ends_with("catalog.cpp")) text += read_text(entry.path());
  return text;
}

const std::vector<std::string>& component_folders() {
  static const std::vector<std::string> folders{"models",    "losses",   "metrics", "optim",
                                                "schedules", "sources",  "data",    "transforms",
                                                "text",      "callbacks"};
  return folders;
}

// A file holds one component and its name, or a family that its first comment lists by name.
TEST(Components, StandInTheFileThatNamesThem) {
  for (const auto& folder : component_folders()) {
    std::map<std::string, int> count;
    const auto components = components_of(folder);
    for (const auto& component : components) ++count[component.stem];
    for (const auto& [kind, function, stem, caption] : components) {
      const auto suffix = "_" + lower(kind);
      const auto name = function.ends_with(suffix)
                            ? function.substr(0, function.size() - suffix.size())
                            : function;
      const bool listed = (caption + ",").find(" " + name + ",") != std::string::npos ||
                          caption.find(" " + name + ".") != std::string::npos;
      EXPECT_TRUE(listed || (count[stem] == 1 && (function == stem || name == stem)))
          << "src/" << folder << ": " << stem << ".cpp exports " << function;
    }
  }
}

TEST(Components, AreTheRowsOfTheirCatalog) {
  static const std::regex row("\\b(\\w+)(?:\\(\\))?,");
  for (const auto& folder : component_folders()) {
    Names defined, listed;
    for (const auto& component : components_of(folder)) defined.insert(component.function);
    const auto text = catalog_text(folder);
    const std::regex rows("(?:\\(\\s*|\\(\\) = )\\{([^{}]*)\\}[;)]");  // entries, or functions
    for (std::sregex_iterator list(text.begin(), text.end(), rows), end; list != end; ++list) {
      const std::string names = (*list)[1].str() + ",";
      for (std::sregex_iterator match(names.begin(), names.end(), row); match != end; ++match)
        listed.insert((*match)[1]);
    }
    EXPECT_FALSE(listed.empty()) << "no rows found in src/" << folder << "/*catalog.cpp";
    EXPECT_EQ(defined, listed) << "src/" << folder;
  }
}

}  // namespace
}  // namespace ddptrain
