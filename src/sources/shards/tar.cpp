#include "sources/shards/tar.h"

#include <archive.h>
#include <archive_entry.h>
#include <fmt/format.h>

#include <algorithm>
#include <exception>
#include <memory>
#include <unordered_set>

#include "base/error.h"
#include "base/text.h"
#include "sources/fetch/utf8_names.h"

namespace ddptrain {
namespace {

constexpr std::uint64_t header_block = 512;
constexpr std::uint64_t read_ahead = 4096;  // a header or two: what is between them is skipped

/// libarchive's view of a file. What reading throws crosses C as `error`.
struct Input {
  const FileSystem& files;
  const std::string& path;
  std::uint64_t size;
  std::uint64_t at = 0;
  std::string bytes = {};
  std::exception_ptr error = nullptr;
};

la_ssize_t read_piece(archive*, void* data, const void** buffer) {
  auto& input = *static_cast<Input*>(data);
  try {
    input.bytes = input.files.read(input.path, input.at, read_ahead);
  } catch (...) {
    input.error = std::current_exception();
    return -1;
  }
  input.at += input.bytes.size();
  *buffer = input.bytes.data();
  return static_cast<la_ssize_t>(input.bytes.size());
}

la_int64_t skip_bytes(archive*, void* data, la_int64_t request) {
  auto& input = *static_cast<Input*>(data);
  const auto left = input.size - std::min(input.at, input.size);
  const auto skipped = std::min(static_cast<std::uint64_t>(std::max<la_int64_t>(0, request)), left);
  input.at += skipped;
  return static_cast<la_int64_t>(skipped);
}

class TarReader {
 public:
  TarReader(const FileSystem& files, const std::string& path)
      : files_(files), path_(path), info_(files.info(path)), input_{files, path, info_.size} {
    if (info_.kind != FileKind::file) refuse("cannot be read: " + info_.why);
    require_plain();
    auto* a = reader_.get();
    archive_read_support_format_tar(a);
    archive_read_set_read_callback(a, read_piece);
    archive_read_set_skip_callback(a, skip_bytes);
    archive_read_set_callback_data(a, &input_);
    if (archive_read_open1(a) != ARCHIVE_OK) fail();
  }

  std::vector<TarMember> run(const std::function<bool(const TarMember&)>& wanted) {
    archive_entry* entry = nullptr;
    while (true) {
      const int result = archive_read_next_header(reader_.get(), &entry);
      if (result == ARCHIVE_EOF) break;
      if (result != ARCHIVE_OK && result != ARCHIVE_WARN) fail();
      const auto offset = static_cast<std::uint64_t>(archive_filter_bytes(reader_.get(), 0));
      const bool file = archive_entry_filetype(entry) == AE_IFREG && !archive_entry_hardlink(entry);
      const auto size = static_cast<std::uint64_t>(archive_entry_size(entry));
      end_ = offset + (file ? (size + header_block - 1) / header_block * header_block : 0);
      if (file) add(entry, {name_of(entry), offset, size}, wanted);
    }
    require_end();
    return std::move(members_);
  }

 private:
  void require_plain() const {
    const auto begin = files_.read(path_, 0, 4);
    const bool gzip = begin.starts_with("\x1f\x8b"), zstd = begin == "\x28\xb5\x2f\xfd";
    if (gzip || zstd)
      refuse(fmt::format("is compressed ({}); samples are read at random, so write it as plain tar",
                         gzip ? "gzip" : "zstd"));
    if (begin.empty()) refuse("is empty");
  }

  static std::string name_of(archive_entry* entry) {
    const char* name = archive_entry_pathname(entry);
    if (name == nullptr) name = archive_entry_pathname_utf8(entry);
    return name ? name : "";
  }

  void add(archive_entry* entry, TarMember member,
           const std::function<bool(const TarMember&)>& wanted) {
    if (member.name.empty()) refuse("has a file without a name, or with one that is not UTF-8");
    if (archive_entry_sparse_count(entry) > 0)
      refuse("has a sparse file, '" + shown(member.name) + "'");
    if (member.size > info_.size || member.offset > info_.size - member.size)
      refuse(fmt::format("is cut: '{}' ends at byte {}, the archive at {}", shown(member.name),
                         member.offset + member.size, info_.size));
    if (!names_.insert(member.name).second) refuse("has '" + shown(member.name) + "' twice");
    if (wanted(member)) member.content = content_of(member);
    members_.push_back(std::move(member));
  }

  std::string content_of(const TarMember& member) {
    std::string content(member.size, '\0');
    const auto read = archive_read_data(reader_.get(), content.data(), content.size());
    if (read != static_cast<la_ssize_t>(member.size)) fail();
    return content;
  }

  /// An archive that was cut between two files lacks the blocks of zeros that end it.
  void require_end() const {
    const auto last = files_.read(path_, end_, header_block);
    const auto zeros = std::count(last.begin(), last.end(), '\0');
    if (last.size() == header_block && zeros == static_cast<std::ptrdiff_t>(header_block)) return;
    refuse(fmt::format("is cut: no end-of-archive block at byte {}", end_));
  }

  [[noreturn]] void refuse(const std::string& why) const {
    throw Error(Exit::data, "shard '{}' {}", path_, why);
  }

  [[noreturn]] void fail() const {
    if (input_.error) std::rethrow_exception(input_.error);
    const char* why = archive_error_string(reader_.get());
    refuse(std::string("cannot be read as tar: ") + (why ? why : "damaged"));
  }

  Utf8Names utf8_;
  const FileSystem& files_;
  const std::string& path_;
  FileInfo info_;
  Input input_;
  std::unique_ptr<archive, int (*)(archive*)> reader_{archive_read_new(), archive_read_free};
  std::unordered_set<std::string> names_;
  std::vector<TarMember> members_;
  std::uint64_t end_ = 0;
};

}  // namespace

std::vector<TarMember> read_tar(const FileSystem& files, const std::string& path,
                                const std::function<bool(const TarMember&)>& wanted) {
  return TarReader(files, path).run(wanted);
}

}  // namespace ddptrain
