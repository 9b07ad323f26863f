// data text_folder: a text per file, a folder per class, in one folder per split (IMDB).
#include <fmt/format.h>
#include <fnmatch.h>

#include <algorithm>
#include <filesystem>

#include "base/error.h"
#include "base/names.h"
#include "base/output/long_work.h"
#include "base/text.h"
#include "data/dataset.h"
#include "data/text/language_data.h"
#include "data/text/text_dataset.h"
#include "sources/split/class_folders.h"
#include "sources/split/split.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

enum class FolderTask { classification, language_model };
std::span<const std::string_view> names(FolderTask) {
  return kNameList<"classification", "language_model">;
}

struct TextFolderOptions {
  std::string root;
  std::string train = "train";
  ValidFiles valid;
  std::vector<std::string> extensions{".txt"};
  std::vector<std::string> ignore;
  FolderTask task = FolderTask::classification;
  InvalidUtf8 invalid_utf8 = InvalidUtf8::error;
  TextOptions texts;
  void fields(Fields& f) {
    f("root", root,
      {.doc = "Folder of the data.",
       .required = true,
       .path = true,
       .address = AddressUse::folder,
       .example = "data/imdb"});
    f("task", task,
      {.doc = "'classification': each folder is a class. 'language_model': there are none, and "
              "each token is followed by the next; folders are optional."});
    f("train", train, {.doc = "Folder in root with a folder per class."});
    f("valid", valid,
      {.doc = "Folder of the validation texts (the first of val, valid, validation and test by "
              "default), a fraction of the training texts, those of a list, or a fold."});
    f("extensions", extensions, {.doc = "Files that count as texts.", .min_items = 1});
    f("ignore", ignore,
      {.doc = "Folders that are no class and files next to the class folders, as patterns: [unsup, "
              "'*.feat']."});
    f("invalid_utf8", invalid_utf8,
      {.doc = "A text that is not UTF-8 is an error, or U+FFFD replaces what is not."});
    texts.fields(f);
  }
};

/// A file, with what shows that it was modified.
struct TextFile {
  Document document;  // named by its path below the root
  std::uintmax_t size = 0;
  std::int64_t changed = 0;
};

struct TextFiles {
  const FileSystem& system;
  std::string root = {};
  std::vector<std::string> classes = {};  // as in Corpus
  std::size_t trained = 0;
  std::array<std::vector<TextFile>, 2> splits = {};
};

bool is_ignored(const TextFolderOptions& options, const std::string& name) {
  return name.starts_with('.') ||
         std::any_of(options.ignore.begin(), options.ignore.end(), [&](const auto& pattern) {
           return ::fnmatch(pattern.c_str(), name.c_str(), 0) == 0;
         });
}

[[noreturn]] void refuse_file(const fs::path& path) {
  throw Error(Exit::data, "'{}' is a file next to the class folders; list it in data.ignore",
              path.string());
}

bool has_extension(const TextFolderOptions& options, const fs::path& path) {
  const auto& wanted = options.extensions;
  return std::find(wanted.begin(), wanted.end(), path.extension().string()) != wanted.end();
}

TextFile text_file(const TextFiles& files, const fs::path& path, std::int64_t label) {
  const auto info = files.system.info(path.string());
  return {{path.lexically_relative(files.root).string(), label}, info.size, info.changed};
}

/// Whether an entry is a class folder: not an ignored one. A file is an Error (Exit::data).
bool is_class_folder(const TextFolderOptions& options, const FileEntry& entry) {
  if (is_ignored(options, fs::path(entry.path).filename().string())) return false;
  if (entry.kind == FileKind::folder) return true;
  refuse_file(entry.path);
}

std::vector<std::string> labeled_folders(const FileSystem& system, const TextFolderOptions& options,
                                         const fs::path& folder, const std::string& option) {
  const auto names = class_folders(system, folder.string(), option, [&](const FileEntry& entry) {
    return is_class_folder(options, entry);
  });
  if (names.empty()) throw Error(Exit::data, "no class folders in '{}'", folder.string());
  return names;
}

/// Every text below a folder of `files`, in order of their paths.
std::vector<TextFile> texts_below(const TextFolderOptions& options, const TextFiles& files,
                                  const fs::path& folder, std::int64_t label) {
  std::vector<TextFile> found;
  LongWork work(fmt::format("listing '{}'", folder.string()));
  walk(files.system, folder.string(), [&](const FileEntry& entry) {
    work.did();
    if (entry.kind == FileKind::file && has_extension(options, entry.path))
      found.push_back(text_file(files, entry.path, label));
    return true;
  });
  std::sort(found.begin(), found.end(),
            [](const auto& a, const auto& b) { return a.document.name < b.document.name; });
  return found;
}

/// The data of a trained model need not have texts of each class.
void add_split(const TextFolderOptions& options, TextFiles& files, std::size_t split,
               const std::string& folder, bool may_lack) {
  const auto path = fs::path(files.root) / folder;
  const std::string option = split == 0 ? "data.train" : "data.valid";
  for (const auto& name : labeled_folders(files.system, options, path, option)) {
    auto known = std::find(files.classes.begin(), files.classes.end(), name);
    if (known == files.classes.end()) known = files.classes.insert(known, name);
    auto texts = texts_below(options, files, path / name, known - files.classes.begin());
    if (texts.empty() && split == 0 && !may_lack)
      throw Error(Exit::data, "class folder '{}' has no texts", (path / name).string());
    auto& all = files.splits[split];
    all.insert(all.end(), texts.begin(), texts.end());
  }
  if (files.splits[split].empty()) throw Error(Exit::data, "no texts in '{}'", path.string());
}

/// The texts of all folders of a split, or those that lie in it, where it has no folders.
void add_documents(const TextFolderOptions& options, TextFiles& files, std::size_t split,
                   const std::string& folder) {
  const auto path = fs::path(files.root) / folder;
  const std::string option = split == 0 ? "data.train" : "data.valid";
  const auto entries = class_folders(files.system, path.string(), option, [&](const auto& entry) {
    const bool counts = entry.kind == FileKind::folder || has_extension(options, entry.path);
    return counts && !is_ignored(options, fs::path(entry.path).filename().string());
  });
  const auto is_inner = [&](const auto& name) { return is_folder(files.system, path / name); };
  const bool inner = std::any_of(entries.begin(), entries.end(), is_inner);
  auto& all = files.splits[split];
  for (const auto& name : entries) {
    if (inner && !is_inner(name)) refuse_file(path / name);
    const auto texts = inner ? texts_below(options, files, path / name, -1)
                             : std::vector{text_file(files, path / name, -1)};
    all.insert(all.end(), texts.begin(), texts.end());
  }
  if (all.empty()) throw Error(Exit::data, "no texts in '{}'", path.string());
}

void hold_out(TextFiles& files, const ValidSpec& valid) {
  const auto all = std::move(files.splits[0]);
  std::vector<std::string> paths, classes;
  for (const auto& text : all) {
    paths.push_back(text.document.name);
    if (!files.classes.empty())
      classes.push_back(files.classes[static_cast<std::size_t>(text.document.label)]);
  }
  const auto parts = hold_out(files.system, paths, valid, "text", {std::move(classes), {}});
  files.splits[0].clear();
  for (const auto i : parts.train) files.splits[0].push_back(all[static_cast<std::size_t>(i)]);
  for (const auto i : parts.valid) files.splits[1].push_back(all[static_cast<std::size_t>(i)]);
}

TextFiles list_texts(const FileSystem& system, const TextFolderOptions& options, bool may_lack) {
  require_split(system, options.root, options.train);
  TextFiles files{system, options.root};
  const bool labeled = options.task == FolderTask::classification;
  if (labeled)
    files.classes =
        labeled_folders(system, options, fs::path(options.root) / options.train, "data.train");
  files.trained = files.classes.size();
  const auto add = [&](std::size_t split, const std::string& folder) {
    labeled ? add_split(options, files, split, folder, may_lack)
            : add_documents(options, files, split, folder);
  };
  add(0, options.train);
  if (options.valid.divides()) {
    say_unused_folder(system, options.valid, options.root, options.train);
    hold_out(files, options.valid);
  } else {
    add(1, validation_folder(system, options.valid, options.root));
  }
  return files;
}

/// Every text below a folder, or one file.
TextFiles list_unlabeled(const FileSystem& system, const TextFolderOptions& options,
                         const std::string& path) {
  TextFiles files{system, path};
  if (is_folder(system, path)) {
    files.splits[1] = texts_below(options, files, path, -1);
  } else {
    const fs::path file(path);
    files.root = file.parent_path().string();
    files.splits[1] = {{{file.filename().string(), -1}, system.info(path).size, 0}};
  }
  if (files.splits[1].empty()) throw Error(Exit::data, "no texts in '{}'", path);
  return files;
}

std::string key_of(const TextFiles& files) {
  std::string key = "text_folder";
  for (const auto& name : files.classes) key += "\n" + name;
  for (const auto& split : files.splits) {
    key += "\n\n";
    for (const auto& file : split)
      key += fmt::format("{}\n{} {} {}\n", file.document.name, file.document.label, file.size,
                         file.changed);
  }
  return key;
}

Corpus corpus_of(const TextFiles& files) {
  Corpus corpus;
  corpus.classes = files.classes;
  corpus.trained = files.trained;
  for (std::size_t split = 0; split < 2; ++split)
    for (const auto& file : files.splits[split]) corpus.documents[split].push_back(file.document);
  corpus.read = [&files](std::size_t split, std::size_t index) {
    return read_text(files.system,
                     (fs::path(files.root) / files.splits[split][index].document.name).string());
  };
  return corpus;
}

}  // namespace

Entry<Dataset> text_folder_dataset() {
  return entry<Dataset, TextFolderOptions>(
      "text_folder", "Texts, a file each, in a folder per class.",
      [](const TextFolderOptions& options, const DataContext& context) {
        const auto& system = *context.file_system;
        const auto files = context.unlabeled.empty()
                               ? list_texts(system, options, context.classes.from_checkpoint())
                               : list_unlabeled(system, options, context.unlabeled);
        const auto make =
            options.task == FolderTask::language_model ? make_language_data : make_text_dataset;
        return make({key_of(files), [&files] { return corpus_of(files); }}, options.texts,
                    options.invalid_utf8, context);
      },
      {"unlabeled", "gives_texts", "gives_class", "task_by task", "file_each", "finds_valid"});
}

}  // namespace ddptrain
