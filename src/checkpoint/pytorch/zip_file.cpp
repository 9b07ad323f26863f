#include "checkpoint/pytorch/zip_file.h"

#include <fmt/format.h>
#include <zlib.h>

#include <algorithm>
#include <cstring>
#include <limits>

#include "base/error.h"
#include "base/text.h"

namespace ddptrain {
namespace {

/// Compressed weights are rarely a tenth smaller; this is far beyond, and little enough to hold.
constexpr std::uint64_t most_growth = 32, always_allowed = 16 << 20;
constexpr std::uint32_t not_here = 0xffffffff;  // the field is in the zip64 part

template <class Number>
Number number_at(std::string_view bytes, std::size_t at) {
  Number number;  // little-endian, like every machine that we run on
  std::memcpy(&number, bytes.data() + at, sizeof number);
  return number;
}

std::uint16_t short_at(std::string_view bytes, std::size_t at) {
  return number_at<std::uint16_t>(bytes, at);
}
std::uint32_t int_at(std::string_view bytes, std::size_t at) {
  return number_at<std::uint32_t>(bytes, at);
}

/// Where a zip64 part of an entry's additional fields begins and ends; empty where there is none.
std::string_view zip64_of(std::string_view fields) {
  while (fields.size() >= 4) {
    const auto size = std::size_t{short_at(fields, 2)};
    if (size > fields.size() - 4) break;
    if (short_at(fields, 0) == 1) return fields.substr(4, size);
    fields.remove_prefix(4 + size);
  }
  return {};
}

/// The newest version of the format that an entry may need, 6.3 (APPNOTE 4.4.3).
constexpr std::uint16_t newest_version = 63;

constexpr std::uint16_t stored = 0, deflated = 8;  // methods (APPNOTE 4.4.5)

/// What the end of the file says about the directory.
struct Directory {
  std::uint64_t at = 0, size = 0;
};

constexpr std::size_t end_bytes = 22, locator_bytes = 20, zip64_end_bytes = 56;

/// The last record that reaches exactly to the end with its comment; npos where there is none.
std::size_t find_end(std::string_view tail) {
  for (auto at = tail.rfind("PK\5\6"); at != std::string_view::npos && tail.size() >= end_bytes;
       at = at == 0 ? std::string_view::npos : tail.rfind("PK\5\6", at - 1))
    if (tail.size() - at >= end_bytes && tail.size() - at - end_bytes == short_at(tail, at + 20))
      return at;
  return std::string_view::npos;
}

}  // namespace

void ZipFile::refuse(const std::string& what) const {
  throw Error(Exit::data, "'{}' is no sound zip file: {}", file_.path(), what);
}

ZipFile::ZipFile(const InputFile& file) : file_(file) {
  const auto most = std::uint64_t{locator_bytes + end_bytes + 65535};
  std::string tail(std::min(file.size(), most), '\0');
  file.read(tail.data(), tail.size(), file.size() - tail.size());
  const auto end = find_end(tail);
  if (end == std::string::npos) refuse("its directory is missing; is it cut short?");
  Directory directory{int_at(tail, end + 16), int_at(tail, end + 12)};
  if (end >= locator_bytes && std::string_view(tail).substr(end - locator_bytes, 4) == "PK\6\7") {
    const auto at = number_at<std::uint64_t>(tail, end - locator_bytes + 8);
    if (file.size() < zip64_end_bytes || at > file.size() - zip64_end_bytes)
      refuse("its directory is cut short");
    std::string record(zip64_end_bytes, '\0');
    file.read(record.data(), record.size(), at);
    if (!record.starts_with("PK\6\6")) refuse("its directory is damaged");
    directory = {number_at<std::uint64_t>(record, 48), number_at<std::uint64_t>(record, 40)};
  }
  read_directory(directory.at, directory.size);
  check_sizes();
}

void ZipFile::read_directory(std::uint64_t at, std::uint64_t size) {
  if (at > file_.size() || size > file_.size() - at || size > kLongestText)
    refuse("its directory is cut short");
  directory_.resize(size);
  file_.read(directory_.data(), size, at);
  for (std::string_view rest = directory_; !rest.empty();) rest.remove_prefix(add_entry(rest));
}

/// Reads the entry that a part of the directory begins with; its bytes there.
std::size_t ZipFile::add_entry(std::string_view rest) {
  constexpr std::size_t fixed = 46;
  if (rest.size() < fixed || !rest.starts_with("PK\1\2")) refuse("its directory is damaged");
  const std::size_t name_size = short_at(rest, 28), fields_size = short_at(rest, 30);
  const auto all = fixed + name_size + fields_size + short_at(rest, 32);
  if (all > rest.size()) refuse("its directory is cut short");
  auto name = rest.substr(fixed, name_size);
  const auto quoted = fmt::format("'{}'", shown(name, 200));
  name.remove_prefix(std::min(name.size(), name.find('/') + 1));
  Entry entry{int_at(rest, 24), int_at(rest, 20), int_at(rest, 42), int_at(rest, 16)};
  read_zip64(rest.substr(fixed + name_size, fields_size), quoted, entry);
  entry.compressed = short_at(rest, 10) == deflated;
  check_entry(rest, quoted, entry);
  if (!name.empty() && !entries_.emplace(name, entry).second) refuse(quoted + " comes twice");
  unchecked_ = unchecked_ || (entry.checksum == 0 && entry.size > 0);
  return all;
}

/// Sets the numbers of an entry that are in the zip64 part of its additional fields.
void ZipFile::read_zip64(std::string_view fields, const std::string& quoted, Entry& entry) const {
  auto zip64 = zip64_of(fields);
  for (auto* field : {&entry.size, &entry.packed, &entry.header}) {
    if (*field != not_here) continue;
    if (zip64.size() < 8) refuse(quoted + " has no size");
    *field = number_at<std::uint64_t>(zip64, 0);
    zip64.remove_prefix(8);
  }
}

/// Refuses what cannot be read of an entry, by its record in the directory.
void ZipFile::check_entry(std::string_view record, const std::string& quoted,
                          const Entry& entry) const {
  constexpr auto most = std::uint64_t{std::numeric_limits<unsigned>::max()};  // zlib's numbers
  if (entry.compressed && std::max(entry.packed, entry.size) > most)
    refuse(quoted + " is too large to be compressed");
  if (short_at(record, 28) == 0) refuse("an entry has no name");
  if (short_at(record, 6) > newest_version)
    refuse(fmt::format("{} needs version {} of the zip format, which does not exist", quoted,
                       short_at(record, 6)));
  if ((short_at(record, 8) & 1) != 0) refuse(quoted + " is encrypted");
  const auto method = short_at(record, 10);
  if (method != stored && method != deflated)
    refuse(fmt::format("{} is packed by method {}, which is not read", quoted, method));
  if (!entry.compressed && entry.size != entry.packed) refuse(quoted + " has two sizes");
}

/// Whatever the entries claim, they are no more than the file, or than it could be unpacked to.
void ZipFile::check_sizes() const {
  const auto size = file_.size();
  auto packed_left = size;
  auto left = size > std::numeric_limits<std::uint64_t>::max() / most_growth
                  ? size
                  : std::max(size * most_growth, always_allowed);
  for (const auto& [name, entry] : entries_) {
    if (entry.packed > packed_left)
      refuse(fmt::format("'{}' claims more bytes than the file has", shown(name, 200)));
    if (entry.size > left)
      refuse(fmt::format(
          "it would unpack to more than {} times its size; torch writes without compression",
          most_growth));
    packed_left -= entry.packed;
    left -= entry.size;
  }
}

void ZipFile::read(std::string_view name, char* to) const {
  const auto& entry = entries_.at(name);
  const auto quoted = fmt::format("'{}'", shown(name, 200));
  constexpr std::size_t fixed = 30;
  std::string header(fixed, '\0');
  if (entry.header > file_.size() || file_.size() - entry.header < fixed)
    refuse(quoted + " is cut short");
  file_.read(header.data(), fixed, entry.header);
  if (!header.starts_with("PK\3\4")) refuse(quoted + " is not where the directory says");
  if (short_at(header, 4) > newest_version)
    refuse(quoted + " needs a version of the zip format that does not exist");
  const auto at = entry.header + fixed + short_at(header, 26) + short_at(header, 28);
  if (at > file_.size() || entry.packed > file_.size() - at) refuse(quoted + " is cut short");
  if (entry.compressed) {
    std::string packed(entry.packed, '\0');
    file_.read(packed.data(), packed.size(), at);
    inflate(packed, quoted, to, entry.size);
  } else {
    file_.read(to, entry.size, at);
  }
  const auto sum = ::crc32_z(0, reinterpret_cast<const unsigned char*>(to), entry.size);
  if (entry.checksum != 0 && sum != entry.checksum)
    refuse(quoted + " is damaged: its checksum (CRC-32) is another");
}

std::string ZipFile::read(std::string_view name) const {
  std::string content(size(name), '\0');
  read(name, content.data());
  return content;
}

void ZipFile::inflate(const std::string& packed, const std::string& name, char* to,
                      std::uint64_t size) const {
  if (size == 0) return;
  z_stream stream{};
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(packed.data()));
  stream.avail_in = static_cast<unsigned>(packed.size());
  stream.next_out = reinterpret_cast<unsigned char*>(to);
  stream.avail_out = static_cast<unsigned>(size);
  if (::inflateInit2(&stream, -MAX_WBITS) != Z_OK) throw std::bad_alloc();
  const int result = ::inflate(&stream, Z_FINISH);
  ::inflateEnd(&stream);
  if (result != Z_STREAM_END || stream.total_out != size) refuse(name + " is damaged");
}

}  // namespace ddptrain
