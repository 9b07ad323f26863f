#include "checkpoint/saving/save.h"

#include <fmt/format.h>

#include <algorithm>
#include <filesystem>
#include <functional>
#include <map>

#include "base/error.h"
#include "base/files/files.h"
#include "base/json.h"
#include "base/text.h"
#include "checkpoint/block_checksums.h"
#include "checkpoint/checkpoint.h"
#include "checkpoint/new_folder.h"
#include "checkpoint/saving/rank_file.h"
#include "checkpoint/saving/save_plan.h"
#include "checkpoint/saving/shared_storage.h"
#include "checkpoint/verify.h"
#include "recipe/recipe.h"
#include "runs/state_json.h"

namespace ddptrain {
namespace {

namespace fs = std::filesystem;

class Alone final : public Writers {
 public:
  int rank() const override { return 0; }
  std::vector<std::string> gather(const std::string& text) override { return {text}; }
  std::string broadcast(const std::string& text) override { return text; }
};

/// What one did, or why not, as a text that travels.
struct Outcome {
  bool failed = false;
  std::string text;
};

Outcome outcome_of(const std::function<std::string()>& work) {
  try {
    return {false, work()};
  } catch (const std::exception& error) {
    return {true, error.what()};
  }
}

std::string to_text(const Outcome& outcome) { return (outcome.failed ? "-" : "+") + outcome.text; }
Outcome parsed(const std::string& text) { return {text.front() == '-', text.substr(1)}; }

/// Of a tensor's part: its place in the file of tensors, and its bytes.
struct PlacedPart {
  std::string file;
  std::int64_t begin = 0;  // in the file
  std::int64_t first = 0;  // in the tensor
  const TensorPart* part;
};

/// In the order of the files' bytes, so that what lies together is written together.
std::vector<PlacedPart> in_order(const std::vector<TensorPart>& parts, const PlannedFiles& plan) {
  const TensorPlaces places(plan.files);
  std::vector<PlacedPart> placed;
  for (const auto& part : parts) {
    const auto& [file, begin, entry] = places.at(part.name);
    const auto width = static_cast<std::int64_t>(c10::elementSize(entry.dtype));
    const auto first = part.first * width, count = part.elements.numel() * width;
    DDP_CHECK(part.elements.scalar_type() == entry.dtype && first >= 0 &&
                  first + count <= bytes_of(entry),
              "a part lies in its tensor");
    placed.push_back({file, begin + first, first, &part});
  }
  std::ranges::sort(placed, {}, [](const auto& each) { return std::tie(each.file, each.begin); });
  return placed;
}

using Ranges = std::map<std::string, std::map<std::string, std::vector<ByteRange>>>;

/// What a writer has written: checksums by file and tensor, and, with a file of its own, what lies
/// where in it.
struct Written {
  Ranges checksums;
  std::map<std::string, std::vector<FileRange>> ranges;
  std::int64_t rank_bytes = 0;
};

std::string to_text(const Written& written) {
  Json checksums = Json::object(), ranges = Json::object();
  for (const auto& [file, tensors] : written.checksums)
    for (const auto& [name, list] : tensors)
      for (const auto& range : list)
        checksums[file][name].push_back({range.first, range.count, range.crc});
  for (const auto& [file, list] : written.ranges)
    for (const auto& range : list) ranges[file].push_back({range.first, range.count, range.at});
  return json_text(Json{std::move(checksums), std::move(ranges), written.rank_bytes});
}

void add(Written& all, std::int64_t rank, const std::string& text) {
  const auto report = parse_json(text);
  for (const auto& [file, tensors] : report[0].items())
    for (const auto& [name, list] : tensors.items())
      for (const auto& each : list)
        all.checksums[file][name].push_back({each[0], each[1], each[2]});
  for (const auto& [file, list] : report[1].items())
    for (const auto& each : list) all.ranges[file].push_back({each[0], each[1], rank, each[2]});
}

class Save {
 public:
  Save(const std::string& root, const CheckpointParts& parts, Writers& writers,
       const SaveOptions& options)
      : root_(root),
        name_(checkpoint_name(parts.step)),
        parts_(parts),
        writers_(writers),
        options_(options) {}

  std::string run() {
    facts_ = parse_facts(all_do([&] { return to_text(facts_here()); }));
    plan_ = plan_of(facts_, options_.largest_file);
    const auto layout = makers_do([&] { return make_folder(); });
    per_rank_ = layout == "per rank";
    const auto written = all_do([&] { return to_text(write_parts()); });
    makers_do([&] { return finish(written); });
    return root_ + "/" + name_;
  }

 private:
  /// Of every writer; an Error on all where one failed.
  std::vector<std::string> all_do(const std::function<std::string()>& work) {
    auto texts = writers_.gather(to_text(outcome_of(work)));
    for (std::size_t rank = 0; rank < texts.size(); ++rank) {
      const auto outcome = parsed(texts[rank]);
      if (outcome.failed)
        throw Error(Exit::data, texts.size() > 1 ? fmt::format("rank {}: {}", rank, outcome.text)
                                                 : outcome.text);
      texts[rank] = outcome.text;
    }
    return texts;
  }

  /// Of rank 0, or, with a folder on each machine, of the first rank there. Returns what the first
  /// of them did.
  std::string makers_do(const std::function<std::string()>& work) {
    if (options_.on_each_machine)
      return all_do([&] { return makes_folder() ? work() : std::string(); }).front();
    const auto outcome =
        parsed(writers_.broadcast(makes_folder() ? to_text(outcome_of(work)) : ""));
    if (outcome.failed) throw Error(Exit::data, outcome.text);
    return outcome.text;
  }

  std::size_t rank() const { return static_cast<std::size_t>(writers_.rank()); }
  bool makes_folder() const {
    if (!options_.on_each_machine) return rank() == 0;
    return std::ranges::find(facts_, facts_[rank()].place, &WriterFacts::place) - facts_.begin() ==
           writers_.rank();
  }

  WriterFacts facts_here() const {
    auto facts =
        facts_of(parts_, options_.on_each_machine ? place_on_machine(root_) : machine_name());
    if (!options_.on_each_machine) facts.state.clear();  // it may be long, and stays here
    return facts;
  }

  bool on_several_machines() const {
    return std::ranges::any_of(
        facts_, [&](const WriterFacts& each) { return each.place != facts_.front().place; });
  }

  bool wants_file_per_rank() const {
    if (options_.on_each_machine) return true;
    if (options_.files) return *options_.files == CheckpointFiles::per_rank;
    return on_several_machines() && !lets_machines_share_files(root_);
  }

  /// By all that write to the same folder.
  std::int64_t bytes_here() const {
    if (!options_.on_each_machine) return bytes_of(plan_) + std::ssize(parts_.state);
    std::int64_t bytes = std::ssize(facts_.front().state) + (1 << 20);
    for (const auto& writer : facts_)
      if (writer.place == facts_[rank()].place) bytes += writer.bytes;
    return bytes;
  }

  void check_space() const {
    const auto needed = bytes_here();
    const auto free = free_space(root_);
    if (!free.unknown.empty() || free.bytes >= needed) return;
    throw Error(Exit::data,
                "no space for a checkpoint in '{}': {} are needed, {} are free; delete something, "
                "or choose another '{}'",
                root_, format_bytes(needed), format_bytes(free.bytes),
                options_.on_each_machine ? "checkpoint.local.dir" : "output.dir");
  }

  std::string make_folder() {
    make_folders(root_);
    remove_leftovers(root_);
    check_space();
    const bool per_rank = wants_file_per_rank();
    manifest_ = manifest_of(plan_, parts_.step, state());
    folder_.emplace(root_, name_);
    for (const auto& [kind, files] : plan_) {
      if (per_rank) continue;
      for (const auto& file : files) make_file(folder_->path(), file);
      if (files.size() > 1) write_text(index_name(kind->stem), index_text(files));
    }
    write_text(kStateJson, state());
    return per_rank ? "per rank" : "shared";
  }

  const std::string& state() const {
    return options_.on_each_machine ? facts_.front().state : parts_.state;
  }

  void write_text(const std::string& name, const std::string& text) const {
    write_file(folder_->path() + "/" + name, text);
  }

  Written write_parts() const {
    const auto folder = temporary_folder(root_, name_);
    if (!per_rank_) {
      SharedFiles files(folder);
      return write_parts_to(files);
    }
    RankFile file(folder, writers_.rank(), std::ssize(facts_));
    if (writers_.rank() == 0) write_headers(file);
    auto written = write_parts_to(file);
    written.ranges = file.ranges();
    written.rank_bytes = file.size();
    return written;
  }

  Written write_parts_to(PartSink& sink) const {
    Written written;
    for (const auto& files : plan_)
      for (const auto& [file, begin, first, part] : in_order(parts_.*files.kind->parts, files)) {
        const auto elements = part->elements.detach().cpu().contiguous();
        const std::string_view bytes(static_cast<const char*>(elements.const_data_ptr()),
                                     elements.nbytes());
        sink.write(file, begin, bytes);
        auto& ranges = written.checksums[file][part->name];
        for (const auto& range : ranges_of(first, bytes)) ranges.push_back(range);
      }
    sink.flush();
    return written;
  }

  /// What stands before the tensors, and the indexes of several files.
  void write_headers(RankFile& rank_file) const {
    for (const auto& [kind, files] : plan_) {
      for (const auto& file : files) rank_file.write(file.name, 0, ddptrain::to_text(file.header));
      if (files.size() > 1) rank_file.write(index_name(kind->stem), 0, index_text(files));
    }
  }

  void add_checksums(Written& all) {
    std::map<std::string, ManifestFile*> listed;
    for (auto& file : manifest_.files) listed.emplace(file.name, &file);
    for (const auto& files : plan_)
      for (const auto& file : files.files)
        for (const auto& entry : file.header.entries) {
          auto checksums = block_checksums(all.checksums[file.name][entry.name], bytes_of(entry));
          DDP_CHECK(!checksums.empty(), "the writers of a checkpoint have each element once");
          listed.at(file.name)->tensors.emplace_back(entry.name, std::move(checksums));
        }
    for (auto& [name, ranges] : all.ranges) {
      std::ranges::sort(ranges, {}, &FileRange::first);
      listed.at(name)->ranges = std::move(ranges);
    }
  }

  std::string finish(const std::vector<std::string>& reports) {
    Written all;
    for (std::size_t i = 0; i < reports.size(); ++i) {
      add(all, static_cast<std::int64_t>(i), reports[i]);
      if (per_rank_) manifest_.rank_bytes.push_back(parse_json(reports[i])[2]);
    }
    add_checksums(all);
    const auto manifest = ddptrain::to_text(manifest_);
    write_text("MANIFEST.json", manifest);
    put_in_place(manifest);
    return "";
  }

  void put_in_place(const std::string& manifest) {
    const auto place = root_ + "/" + name_;
    const bool is_there = fs::exists(place);
    const bool is_same = is_there && fs::exists(place + "/MANIFEST.json") &&
                         read_text(place + "/MANIFEST.json") == manifest;
    // The manifests hold the digests of all files.
    if (is_same && !options_.on_each_machine && damages_of(place).empty()) return;
    if (is_there && folder_->exchange_with(place)) return;
    if (is_there) discard(root_, name_);
    folder_->put_at(place);
  }

  const std::string& root_;
  std::string name_;
  const CheckpointParts& parts_;
  Writers& writers_;
  const SaveOptions& options_;
  std::vector<WriterFacts> facts_;  // of each rank
  std::vector<PlannedFiles> plan_;
  bool per_rank_ = false;
  // On who makes the folder:
  std::optional<NewFolder> folder_;
  Manifest manifest_;
};

}  // namespace

std::string save_checkpoint(const std::string& root, const CheckpointParts& parts, Writers& writers,
                            const SaveOptions& options) {
  return Save(root, parts, writers, options).run();
}

std::string save_checkpoint(const std::string& root, const CheckpointParts& parts,
                            const SaveOptions& options) {
  Alone alone;
  return save_checkpoint(root, parts, alone, options);
}

std::string save_checkpoint(const std::string& root, const Checkpoint& checkpoint,
                            const SaveOptions& options) {
  return save_checkpoint(root, parts_of(checkpoint), options);
}

}  // namespace ddptrain
