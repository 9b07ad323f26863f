// The bytes of .pth files that torch.save would not write: pickles opcode by opcode, zip files
// entry by entry.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <string>
#include <vector>

namespace ddptrain::torch_bytes {

template <class Number>
std::string little_endian(Number number) {
  return {reinterpret_cast<const char*>(&number), sizeof number};
}

inline std::string text(const std::string& text) {
  return "X" + little_endian(static_cast<std::uint32_t>(text.size())) + text;
}
inline std::string integer(const std::string& digits) { return "L" + digits + "L\n"; }
inline std::string tuple(const std::vector<std::string>& digits) {
  std::string all = "(";
  for (const auto& each : digits) all += integer(each);
  return all + "t";
}
inline std::string storage(const std::string& type, const std::string& elements,
                           const std::string& key = "0") {
  return "(" + text("storage") + "ctorch\n" + type + "Storage\n" + text(key) + text("cpu") +
         integer(elements) + "tQ";
}
/// torch._utils._rebuild_tensor_v2(storage, 0, sizes, strides, False, OrderedDict())
inline std::string tensor(const std::string& storage, const std::vector<std::string>& sizes,
                          const std::vector<std::string>& strides) {
  return "ctorch._utils\n_rebuild_tensor_v2\n(" + storage + "K" + std::string(1, '\0') +
         tuple(sizes) + tuple(strides) + "\x89" + "ccollections\nOrderedDict\n)RtR";
}
/// A pickle of one object.
inline std::string pickled(const std::string& object) { return "\x80\x02" + object + "."; }
/// Of a dict whose keys and values follow each other.
inline std::string dict(const std::string& items) { return pickled("}(" + items + "u"); }

struct ZipEntry {
  std::string name, content;
  bool compressed = false;
};

inline std::string deflated(const std::string& content) {
  z_stream stream{};
  ::deflateInit2(&stream, 9, Z_DEFLATED, -MAX_WBITS, 9, Z_DEFAULT_STRATEGY);
  std::string packed(::deflateBound(&stream, content.size()), '\0');
  stream.next_in = reinterpret_cast<unsigned char*>(const_cast<char*>(content.data()));
  stream.avail_in = static_cast<unsigned>(content.size());
  stream.next_out = reinterpret_cast<unsigned char*>(packed.data());
  stream.avail_out = static_cast<unsigned>(packed.size());
  ::deflate(&stream, Z_FINISH);
  packed.resize(stream.total_out);
  ::deflateEnd(&stream);
  return packed;
}

/// What local header and directory share, from the flags on.
inline std::string facts(const ZipEntry& entry, const std::string& packed) {
  const auto sum = ::crc32_z(0, reinterpret_cast<const unsigned char*>(entry.content.data()),
                             entry.content.size());
  return std::string(2, '\0') + little_endian(std::uint16_t(entry.compressed ? 8 : 0)) +
         std::string(4, '\0') + little_endian(static_cast<std::uint32_t>(sum)) +
         little_endian(static_cast<std::uint32_t>(packed.size())) +
         little_endian(static_cast<std::uint32_t>(entry.content.size())) +
         little_endian(static_cast<std::uint16_t>(entry.name.size())) + std::string(2, '\0');
}

inline std::string zip(const std::vector<ZipEntry>& entries) {
  std::string bytes, directory;
  for (const auto& entry : entries) {
    const auto packed = entry.compressed ? deflated(entry.content) : entry.content;
    directory += std::string("PK\1\2") + std::string(4, '\0') + facts(entry, packed) +
                 std::string(10, '\0') + little_endian(static_cast<std::uint32_t>(bytes.size())) +
                 entry.name;
    bytes +=
        std::string("PK\3\4") + std::string(2, '\0') + facts(entry, packed) + entry.name + packed;
  }
  const auto count = little_endian(static_cast<std::uint16_t>(entries.size()));
  return bytes + directory + "PK\5\6" + std::string(4, '\0') + count + count +
         little_endian(static_cast<std::uint32_t>(directory.size())) +
         little_endian(static_cast<std::uint32_t>(bytes.size())) + std::string(2, '\0');
}

/// A file with this pickle and one storage.
inline std::string file(const std::string& pickle, const std::string& storage = "") {
  return zip({{"a/data.pkl", pickle}, {"a/data/0", storage}});
}

}  // namespace ddptrain::torch_bytes
