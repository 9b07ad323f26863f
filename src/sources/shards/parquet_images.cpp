#include "sources/shards/parquet_images.h"

#include <fmt/format.h>

#include <algorithm>
#include <numeric>

#include "base/error.h"
#include "base/text.h"
#include "sources/parquet/open_parquet.h"

namespace ddptrain {
namespace {

constexpr std::size_t most_unplanned = 4;  // row groups

/// Cells as they are.
class ByteCells final : public ParquetCells {
 public:
  std::vector<std::string> cells;

  void missing() override { cells.emplace_back(); }
  void integer(std::int64_t) override { DDP_CHECK(false, "a column of bytes"); }
  void number(double) override { DDP_CHECK(false, "a column of bytes"); }
  void text(std::string_view value) override { cells.emplace_back(value); }
};

[[noreturn]] void fail_cell(const std::string& path, const std::string& why) {
  throw Error(Exit::data, "cannot read '{}': {}", path, why);
}

}  // namespace

std::string ParquetImages::row_name(std::int64_t row) { return fmt::format("{:06}", row); }

std::string ParquetImages::group_name(const std::string& path, std::size_t group) {
  return fmt::format("{}#{}", path, group);
}

const ParquetFile& ParquetImages::add(const std::string& path, const std::string& column) {
  auto& file = parquet_.try_emplace(path, files_.map(path)).first->second;
  file.parquet = open_parquet_file(path, file.bytes.bytes());
  const auto& fields = file.parquet->fields();
  const auto found = std::find_if(fields.begin(), fields.end(),
                                  [&](const ParquetField& each) { return each.name == column; });
  if (found == fields.end())
    throw Error(Exit::data, Option{"data.image"}, "{}: no column '{}'", path, column);
  if (!found->holds_bytes)
    throw Error(Exit::data, Option{"data.image"}, "{}: column '{}' holds {}, no files", path,
                column, found->type_name);
  file.column = static_cast<std::size_t>(found - fields.begin());
  file.ends = file.parquet->groups();
  std::partial_sum(file.ends.begin(), file.ends.end(), file.ends.begin());
  return *file.parquet;
}

ParquetImages::Found ParquetImages::find(const std::string& path) const {
  const auto slash = path.rfind('/');
  if (slash == path.npos) return {};
  const auto file = parquet_.find(path.substr(0, slash));
  if (file == parquet_.end()) return {};
  Found found{&file->second, file->first};
  const auto row = parse_integer(path.substr(slash + 1));
  const auto& ends = file->second.ends;
  if (!row || *row < 0 || ends.empty() || *row >= ends.back()) return found;
  const auto end = std::upper_bound(ends.begin(), ends.end(), *row);
  const auto first = end == ends.begin() ? 0 : *(end - 1);
  found.group = static_cast<std::size_t>(end - ends.begin());
  found.row = static_cast<std::size_t>(*row - first);
  found.is_there = true;
  return found;
}

FileInfo ParquetImages::info(const std::string& path) const {
  const auto found = find(path);
  if (!found.file) return files_.info(path);
  if (!found.is_there) return {FileKind::none, 0, 0, "the file has no such row"};
  return files_.info(found.path);  // the size of a cell is known where it is read
}

std::string ParquetImages::list(const std::string& folder, const VisitEntry& visit) const {
  return files_.list(folder, visit);
}

std::string ParquetImages::list_beginning(const std::string& folder, const std::string& begin,
                                          const VisitEntry& visit) const {
  return files_.list_beginning(folder, begin, visit);
}

std::string ParquetImages::read(const std::string& path, std::uint64_t offset,
                                std::uint64_t most) const {
  const auto found = find(path);
  if (!found.file) return files_.read(path, offset, most);
  if (!found.is_there) fail_cell(path, "the file has no such row");
  const auto cells = cells_of(found);
  const auto& cell = (*cells)[found.row];
  if (cell.empty()) fail_cell(path, "the cell is empty");
  return offset < cell.size() ? cell.substr(offset, most) : std::string();
}

MappedFile ParquetImages::map(const std::string& path) const {
  if (!find(path).file) return files_.map(path);
  const auto bytes = read(path, 0, std::string::npos);
  return {std::vector<std::uint8_t>(bytes.begin(), bytes.end()), path};
}

std::shared_ptr<const ParquetImages::Cells> ParquetImages::cells_of(const Found& found) const {
  const auto name = group_name(found.path, found.group);
  std::shared_ptr<const Cells> cells;
  {
    const std::lock_guard lock(mutex_);
    if (const auto kept = kept_.find(name); kept != kept_.end()) cells = kept->second;
  }
  if (!cells) {
    const std::lock_guard one(found.file->reading);
    std::unique_lock lock(mutex_);
    if (const auto kept = kept_.find(name); kept != kept_.end()) cells = kept->second;
    lock.unlock();
    if (!cells) cells = read_cells(found);
  }
  const std::lock_guard lock(mutex_);
  const bool planned = plan_.is_wanted(name);
  const bool done = planned && !plan_.did_read(name);
  others_.remove(name);
  if (done)
    kept_.erase(name);
  else
    kept_.insert_or_assign(name, cells);
  if (!planned) others_.push_front(name);
  for (; others_.size() > most_unplanned; others_.pop_back()) kept_.erase(others_.back());
  return cells;
}

std::shared_ptr<const ParquetImages::Cells> ParquetImages::read_cells(const Found& found) const {
  ByteCells bytes;
  found.file->parquet->read_group(found.group, found.file->column, bytes);
  auto cells = std::make_shared<const Cells>(std::move(bytes.cells));
  const std::lock_guard lock(mutex_);
  kept_.insert_or_assign(group_name(found.path, found.group), cells);
  return cells;
}

void ParquetImages::announce(int reader, const std::vector<std::string>& groups,
                             std::span<const std::int32_t> reads) const {
  const auto size_of = [this](const std::string& name) {
    const auto at = name.rfind('#');
    const auto& file = parquet_.at(name.substr(0, at));
    return file.bytes.bytes().size() / std::max<std::size_t>(1, file.ends.size());  // about
  };
  const auto at_once = bytes_at_once(groups, reads, size_of);
  if (at_once > memory_)
    throw Error(Exit::data, Option{"data.memory"},
                "the row groups that are read at once have {}, more than {}; a smaller 'window' of "
                "'sampler: {{type: shuffle, window: 4}}' reads fewer",
                format_bytes(static_cast<std::int64_t>(at_once)),
                format_bytes(static_cast<std::int64_t>(memory_)));
  const std::lock_guard lock(mutex_);
  plan_.announce(reader, groups, reads);
  others_.clear();
  std::erase_if(kept_, [&](const auto& each) { return !plan_.is_wanted(each.first); });
}

}  // namespace ddptrain
