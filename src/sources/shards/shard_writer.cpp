#include "sources/shards/shard_writer.h"

#include <fmt/format.h>

#include "base/error.h"
#include "sources/shards/samples.h"

namespace ddptrain {
namespace {

constexpr std::size_t tar_block = 512;
constexpr std::size_t end_blocks = 2;                                // of zeros
constexpr std::uint64_t most_member = (std::uint64_t{1} << 33) - 1;  // 11 octal digits

std::size_t padded_size(std::size_t size) { return (size + tar_block - 1) / tar_block * tar_block; }

/// A field of a header: octal digits and a zero byte.
void put_octal(std::string& header, std::size_t at, std::size_t digits, std::uint64_t value) {
  header.replace(at, digits, fmt::format("{:0{}o}", value, digits));
}

/// The ustar header (POSIX.1-1988) of a file that anyone may read, from 1970.
std::string tar_header_of(const std::string& name, std::size_t size) {
  DDP_CHECK(name.size() <= 100, "a name that fits");
  if (size > most_member) throw Error(Exit::data, "'{}' is larger than a tar holds", name);
  std::string header(tar_block, '\0');
  header.replace(0, name.size(), name);
  put_octal(header, 100, 7, 0644);
  put_octal(header, 108, 7, 0);
  put_octal(header, 116, 7, 0);
  put_octal(header, 124, 11, size);
  put_octal(header, 136, 11, 0);
  header.replace(148, 8, "        ");
  header[156] = '0';
  header.replace(257, 8, std::string("ustar\00000", 8));
  std::uint64_t sum = 0;
  for (const char c : header) sum += static_cast<unsigned char>(c);
  put_octal(header, 148, 6, sum);
  header[154] = '\0';
  return header;
}

std::uint64_t tar_bytes_of(const std::vector<ShardColumn>& columns) {
  std::uint64_t bytes = 0;
  for (const auto& column : columns) bytes += tar_block + padded_size(column.content.size());
  return bytes;
}

}  // namespace

ShardWriter::ShardWriter(std::string folder, std::string prefix, std::uint64_t most)
    : folder_(std::move(folder)), prefix_(std::move(prefix)), most_(most) {
  skip_written();
}

void ShardWriter::Open::write(std::string_view bytes) {
  file.write(bytes);
  digest.add(bytes);
  index.size += bytes.size();
}

std::string ShardWriter::next_name() const {
  return fmt::format("{}-{:06}.tar", prefix_, written_.size());
}

void ShardWriter::skip_written() {
  const auto name = next_name();
  const auto path = folder_ + "/" + name;
  const auto& files = local_files();
  const auto there = files.info(path);
  if (there.kind != FileKind::file || files.info(shard_index_path(path)).kind != FileKind::file)
    return;
  const auto index = ShardIndex::decode(read_text(files, shard_index_path(path)));
  const bool whole = index && !index->digest.empty() && index->size == there.size &&
                     index->changed == there.changed;
  if (!whole) return;
  skip_ = std::ssize(samples_of(index->members, path));
  written_.push_back({name, index->size, skip_, index->digest});
}

void ShardWriter::add(const std::string& key,
                      const std::function<std::vector<ShardColumn>()>& columns) {
  if (skip_ > 0) {
    if (--skip_ == 0) skip_written();
    return;
  }
  const auto all = columns();
  const auto bytes = tar_bytes_of(all) + end_blocks * tar_block;
  if (open_ && open_->index.size + bytes > most_) close();
  if (!open_) open_ = std::make_unique<Open>(folder_ + "/" + next_name());
  for (const auto& [extension, content] : all) {
    const auto name = key + "." + extension;
    open_->write(tar_header_of(name, content.size()));
    TarMember member{name, open_->index.size, content.size(), {}};
    if (is_indexed_whole(member)) member.content = content;
    open_->index.members.push_back(std::move(member));
    open_->write(content);
    open_->write(std::string(padded_size(content.size()) - content.size(), '\0'));
  }
  ++open_->samples;
}

void ShardWriter::close() {
  auto& open = *open_;
  open.write(std::string(end_blocks * tar_block, '\0'));
  open.file.commit();
  const auto name = next_name();
  const auto path = folder_ + "/" + name;
  open.index.digest = open.digest.finish();
  open.index.changed = local_files().info(path).changed;
  AtomicFile index(shard_index_path(path));
  index.write(open.index.encode());
  index.commit();
  written_.push_back({name, open.index.size, open.samples, open.index.digest});
  open_.reset();
}

std::vector<WrittenShard> ShardWriter::finish() {
  DDP_CHECK(skip_ == 0, "the samples of an interrupted call");
  if (open_) close();
  return std::move(written_);
}

}  // namespace ddptrain
