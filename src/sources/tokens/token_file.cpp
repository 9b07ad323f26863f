#include "sources/tokens/token_file.h"

#include <fmt/format.h>

#include <algorithm>
#include <cstring>

#include "base/error.h"
#include "base/files/atomic_file.h"
#include "base/files/digest.h"
#include "base/json.h"
#include "base/output/log.h"
#include "base/output/long_work.h"
#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::string_view kTokenMagic = "ddptoks1";
constexpr std::uint64_t kHeaderAt = 16, kTrailer = 8;
constexpr std::size_t kPieceBytes = std::size_t{16} << 20;  // that are read or written at once
constexpr std::size_t kShortVocabulary = 65536;

constexpr std::uint64_t whole_words(std::uint64_t bytes) { return (bytes + 7) / 8 * 8; }

std::uint64_t word_at(std::string_view bytes, std::uint64_t at) {
  std::uint64_t value = 0;
  std::memcpy(&value, bytes.data() + at, sizeof value);
  return value;
}

template <class T>
std::string_view bytes_of(const std::vector<T>& values) {
  return {reinterpret_cast<const char*>(values.data()), values.size() * sizeof(T)};
}

std::string header_of(const TokenVocabulary& vocabulary, std::int64_t documents,
                      std::int64_t tokens) {
  const Json header{{"tokens", tokens},
                    {"documents", documents},
                    {"id_bytes", vocabulary.tokens.size() <= kShortVocabulary ? 2 : 4},
                    {"tokenizer", vocabulary.tokenizer},
                    {"tokenizer_options", parse_json(vocabulary.tokenizer_options)},
                    {"padding", vocabulary.padding},
                    {"unknown", vocabulary.unknown},
                    {"vocabulary", vocabulary.tokens},
                    {"bytes", vocabulary.bytes}};
  auto text = lossy_json_text(header);
  text.resize(whole_words(text.size()), ' ');
  return text;
}

/// Writes and keeps the checksum of what was written.
class CheckedFile {
 public:
  explicit CheckedFile(const std::string& path) : file_(path) {}
  void write(std::string_view bytes) {
    file_.write(bytes);
    checksum_ = crc32c(bytes, checksum_);
    written_ += bytes.size();
  }
  void write(std::uint64_t value) {
    write(std::string_view(reinterpret_cast<const char*>(&value), sizeof value));
  }
  void finish() {
    write(std::string(whole_words(written_) - written_, '\0'));
    write(std::uint64_t{checksum_});
    file_.commit();
  }

 private:
  AtomicFile file_;
  std::uint32_t checksum_ = 0;
  std::uint64_t written_ = 0;
};

template <class Id>
void write_ids(CheckedFile& file, const TokenSource& source) {
  LongWork work("writing tokens", source.documents());
  std::vector<std::int64_t> wide;
  std::vector<Id> ids;
  for (std::int64_t i = 0; i < source.documents(); work.did(), ++i) {
    wide.resize(static_cast<std::size_t>(source.length(i)));
    source.copy({i, 0, std::ssize(wide)}, wide);
    for (const auto id : wide) ids.push_back(static_cast<Id>(id));
    if (ids.size() * sizeof(Id) < kPieceBytes) continue;
    file.write(bytes_of(ids));
    ids.clear();
  }
  file.write(bytes_of(ids));
}

}  // namespace

void write_token_file(const std::string& path, const TokenSource& source,
                      const TokenVocabulary& vocabulary) {
  std::vector<std::uint64_t> ends;
  std::uint64_t tokens = 0;
  for (std::int64_t i = 0; i < source.documents(); ++i)
    ends.push_back(tokens += static_cast<std::uint64_t>(source.length(i)));
  const auto header = header_of(vocabulary, source.documents(), static_cast<std::int64_t>(tokens));
  CheckedFile file(path);
  file.write(kTokenMagic);
  file.write(std::uint64_t{header.size()});
  file.write(header);
  file.write(bytes_of(ends));
  if (vocabulary.tokens.size() <= kShortVocabulary)
    write_ids<std::uint16_t>(file, source);
  else
    write_ids<std::uint32_t>(file, source);
  file.finish();
}

TokenFile::TokenFile(const std::string& path, const FileSystem& files)
    : file_(files.map(path)), path_(path) {
  read();
}

void TokenFile::fail(const std::string& why) const {
  throw Error(Exit::data, "'{}': {}", path_, why);
}

void TokenFile::read_header(std::string_view text) {
  const auto header = json_or_null(text);
  if (!header.is_object()) fail("its header is not JSON; write the file again");
  const auto read = [&](const char* key, auto& to) {
    try {
      header.at(key).get_to(to);
    } catch (const Json::exception&) {
      fail(fmt::format("its header has no usable '{}'; write the file again", key));
    }
  };
  Json options;
  read("tokens", header_tokens_);
  read("documents", header_documents_);
  read("id_bytes", id_bytes_);
  read("vocabulary", vocabulary_.tokens);
  read("bytes", vocabulary_.bytes);
  read("padding", vocabulary_.padding);
  read("unknown", vocabulary_.unknown);
  read("tokenizer", vocabulary_.tokenizer);
  read("tokenizer_options", options);
  const auto is_text = [](const Json& value) { return value.is_string(); };
  if (!options.is_object() || !std::all_of(options.begin(), options.end(), is_text))
    fail("'tokenizer_options' of its header is no map of texts; write the file again");
  vocabulary_.tokenizer_options = json_text(options);
  if (id_bytes_ != 2 && id_bytes_ != 4) fail("'id_bytes' of its header is neither 2 nor 4");
  if (vocabulary_.bytes.size() != vocabulary_.tokens.size())
    fail("'bytes' of its header are not those of its vocabulary");
  if (vocabulary_.padding < -1 || vocabulary_.padding >= std::ssize(vocabulary_.tokens))
    fail("'padding' of its header is no token of the vocabulary");
}

void TokenFile::read() {
  const auto mapped = file_.bytes();
  const std::string_view all(reinterpret_cast<const char*>(mapped.data()), mapped.size());
  if (!all.starts_with(kTokenMagic)) fail("no token file, which 'ddptrain data tokens' writes");
  const auto torn = [&](const std::string& wanted) {
    fail(fmt::format("torn or added to: {} by its header, and it has {}; write it again", wanted,
                     plural(std::ssize(mapped), "byte")));
  };
  if (all.size() < kHeaderAt + kTrailer || word_at(all, 8) > all.size() - kHeaderAt - kTrailer)
    torn("it is longer");
  const auto header_bytes = word_at(all, 8), ends_at = kHeaderAt + whole_words(header_bytes);
  read_header(all.substr(kHeaderAt, header_bytes));
  if (header_documents_ > all.size() / 8 || header_tokens_ > all.size()) torn("it is longer");
  const auto ids_at = ends_at + 8 * header_documents_;
  const auto trailer_at = ids_at + whole_words(id_bytes_ * header_tokens_);
  if (trailer_at + kTrailer != all.size())
    torn(fmt::format("it has {} bytes", trailer_at + kTrailer));
  const auto* data = all.data();
  ends_ = {reinterpret_cast<const std::uint64_t*>(data + ends_at), header_documents_};
  if (id_bytes_ == 2)
    short_ids_ = {reinterpret_cast<const std::uint16_t*>(data + ids_at), header_tokens_};
  else
    ids_ = {reinterpret_cast<const std::uint32_t*>(data + ids_at), header_tokens_};
  check_bytes(all, trailer_at);
  check_ends();
  check_ids();
}

void TokenFile::check_bytes(std::string_view all, std::uint64_t trailer_at) {
  LongWork work("reading '" + path_ + "'", static_cast<std::int64_t>(trailer_at));
  std::uint32_t checksum = 0;
  for (std::uint64_t at = 0; at < trailer_at; at += kPieceBytes) {
    const auto count = std::min<std::uint64_t>(kPieceBytes, trailer_at - at);
    checksum = crc32c(all.substr(at, count), checksum);
    work.did(static_cast<std::int64_t>(count));
  }
  if (checksum != word_at(all, trailer_at))
    fail("damaged: its checksum is another one; write it again");
  digest_ = fmt::format("{:08x} {}", checksum, all.size());
}

void TokenFile::check_ends() {
  std::uint64_t before = 0;
  std::int64_t first_empty = -1;
  for (std::size_t i = 0; i < ends_.size(); before = ends_[i], ++i) {
    if (ends_[i] < before || ends_[i] > header_tokens_)
      fail(fmt::format("document {} ends before it begins, or behind the last token", i));
    if (ends_[i] > before) continue;
    if (empty_++ == 0) first_empty = static_cast<std::int64_t>(i);
  }
  if (before != header_tokens_) fail("tokens behind its last document");
  if (header_tokens_ == 0)
    fail(ends_.empty() ? "it has no documents" : "all of its documents are empty");
  if (empty_ > 0)
    log::warning("'{}': {} {} skipped; the first is document {}", path_,
                 plural(empty_, "empty document"), empty_ == 1 ? "is" : "are", first_empty);
}

void TokenFile::check_ids() const {
  const auto size = vocabulary_.tokens.size();
  const auto check = [&](const auto& ids) {
    const auto found = std::find_if(ids.begin(), ids.end(), [size](auto id) { return id >= size; });
    if (found == ids.end()) return;
    const auto token = static_cast<std::uint64_t>(found - ids.begin());
    const auto document = std::upper_bound(ends_.begin(), ends_.end(), token) - ends_.begin();
    fail(fmt::format("token {} (document {}) is {}, and the vocabulary has {}", token, document,
                     *found, plural(static_cast<std::int64_t>(size), "token")));
  };
  check(short_ids_);
  check(ids_);
}

std::int64_t TokenFile::tokens() const { return static_cast<std::int64_t>(header_tokens_); }

std::int64_t TokenFile::begin(std::int64_t document) const {
  return document == 0 ? 0
                       : static_cast<std::int64_t>(ends_[static_cast<std::size_t>(document) - 1]);
}

std::int64_t TokenFile::length(std::int64_t document) const {
  return static_cast<std::int64_t>(ends_[static_cast<std::size_t>(document)]) - begin(document);
}

void TokenFile::copy(const Piece& piece, std::span<std::int64_t> ids) const {
  const auto first = static_cast<std::size_t>(begin(piece.document) + piece.first);
  const auto count = static_cast<std::size_t>(piece.length);
  if (id_bytes_ == 2)
    std::ranges::copy(short_ids_.subspan(first, count), ids.begin());
  else
    std::ranges::copy(ids_.subspan(first, count), ids.begin());
}

std::string TokenFile::name(std::int64_t document) const {
  return fmt::format("{} document {}", path_, document);
}

}  // namespace ddptrain
