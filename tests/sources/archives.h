// Small tar and zip files, made byte by byte so that they may hold what no tool would write.
#pragma once

#include <zlib.h>

#include <cstdint>
#include <cstdio>
#include <string>
#include <vector>

namespace ddptrain {

enum class ItemType : char {
  file = '0',
  hard_link = '1',
  link = '2',
  character_device = '3',
  folder = '5',
  pipe = '6'
};

struct Item {
  std::string path;
  std::string content;  // of a link its target
  ItemType type = ItemType::file;
};

inline std::string octal(std::size_t value, int digits) {
  char text[32];
  std::snprintf(text, sizeof text, "%0*zo", digits, value);
  return std::string(text) + '\0';
}

inline std::string padded(std::string text, std::size_t size) {
  text.resize(size);
  return text;
}

/// The ustar form (POSIX.1-1988).
inline std::string tar_of(const std::vector<Item>& items) {
  std::string tar;
  for (const auto& item : items) {
    const bool is_file = item.type == ItemType::file;
    auto head = padded(item.path, 100) + octal(0644, 7) + octal(0, 7) + octal(0, 7);
    head += octal(is_file ? item.content.size() : 0, 11) + octal(0, 11) + std::string(8, ' ');
    head += static_cast<char>(item.type);
    head += padded(is_file ? "" : item.content, 100) + std::string("ustar\00000", 8);
    head.resize(512);
    std::size_t sum = 0;
    for (const char c : head) sum += static_cast<unsigned char>(c);
    head.replace(148, 8, octal(sum, 6) + ' ');
    tar += head;
    if (is_file) tar += padded(item.content, (item.content.size() + 511) / 512 * 512);
  }
  return tar + std::string(1024, '\0');
}

inline void write_gzip(const std::string& path, const std::string& content) {
  gzFile file = gzopen(path.c_str(), "wb");
  gzwrite(file, content.data(), static_cast<unsigned>(content.size()));
  gzclose(file);
}

inline std::string little_endian(std::size_t value, int bytes) {
  std::string text;
  for (int i = 0; i < bytes; ++i, value >>= 8) text += static_cast<char>(value & 255);
  return text;
}

constexpr std::size_t utf8_name = 1 << 11;  // of ZIP's general purpose flags

/// Files only, stored without compression (PKWARE's APPNOTE).
inline std::string zip_of(const std::vector<Item>& items, std::size_t flags = 0) {
  std::string zip, directory;
  for (const auto& item : items) {
    const auto sum = crc32(0, reinterpret_cast<const Bytef*>(item.content.data()),
                           static_cast<uInt>(item.content.size()));
    const auto size = little_endian(item.content.size(), 4);
    const auto about = little_endian(flags, 2) + little_endian(0, 6) + little_endian(sum, 4) +
                       size + size + little_endian(item.path.size(), 2) + little_endian(0, 2);
    directory += "PK\1\2" + little_endian(20, 2) + little_endian(20, 2) + about +
                 little_endian(0, 10) + little_endian(zip.size(), 4) + item.path;
    zip += "PK\3\4" + little_endian(20, 2) + about + item.path + item.content;
  }
  const auto count = little_endian(items.size(), 2);
  return zip + directory + "PK\5\6" + little_endian(0, 4) + count + count +
         little_endian(directory.size(), 4) + little_endian(zip.size(), 4) + little_endian(0, 2);
}

}  // namespace ddptrain
