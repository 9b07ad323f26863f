#include "sources/text/json_shards.h"

#include <fmt/format.h>

#include <algorithm>
#include <nlohmann/json.hpp>

#include "base/error.h"
#include "base/output/long_work.h"
#include "base/text.h"
#include "sources/brace_pattern.h"
#include "sources/shards/samples.h"
#include "sources/shards/shard_index.h"

namespace ddptrain {
namespace {

void visit_lines(const FileSystem& files, const std::string& file, const VisitJson& visit) {
  const auto mapped = files.map(file);
  const auto bytes = mapped.bytes();
  std::string_view rest(reinterpret_cast<const char*>(bytes.data()), bytes.size());
  if (rest.starts_with("\xef\xbb\xbf")) rest.remove_prefix(3);
  LongWork work("reading '" + file + "'", static_cast<std::int64_t>(rest.size()));
  std::int64_t number = 0, read = 0;
  while (!rest.empty()) {
    const auto end = std::min(rest.find('\n'), rest.size());
    ++number;
    work.did(static_cast<std::int64_t>(end) + 1);
    if (const auto line = trim(rest.substr(0, end)); !line.empty()) {
      visit(line, fmt::format("{}:{}", file, number));
      ++read;
    }
    rest.remove_prefix(std::min(end + 1, rest.size()));
  }
  if (read == 0) throw Error(Exit::data, "{}: no lines", file);
}

std::string content_of(const FileSystem& files, const std::string& shard, const TarMember& member) {
  return member.content ? *member.content : files.read(shard, member.offset, member.size);
}

/// Where a sample has a .json alone, its bytes as they are.
std::string object_of(const FileSystem& files, const std::string& shard, const ShardSample& sample,
                      const std::string& place) {
  const auto* json = sample.column("json");
  auto text = json ? content_of(files, shard, *json) : std::string("{}");
  const auto* words = sample.column("txt");
  const auto* label = sample.column("cls");
  if (!words && !label) return text;
  auto object = nlohmann::json::parse(text, nullptr, false);
  if (!object.is_object()) throw Error(Exit::data, "{}: its .json is no object", place);
  if (words) object["txt"] = content_of(files, shard, *words);
  if (label) object["cls"] = std::string(trim(content_of(files, shard, *label)));
  return object.dump(-1, ' ', false, nlohmann::json::error_handler_t::replace);
}

void visit_samples(const FileSystem& files, const std::string& shard, const VisitJson& visit) {
  const auto index = indexed(files, shard);
  const auto samples = samples_of(index.members, shard);
  if (samples.empty()) throw Error(Exit::data, "{}: no samples", shard);
  LongWork work("reading '" + shard + "'", std::ssize(samples));
  for (const auto& sample : samples) {
    const auto place = shard + "/" + sample.key;
    visit(object_of(files, shard, sample, place), place);
    work.did();
  }
}

}  // namespace

std::vector<std::string> json_files(const FileSystem& files, const std::string& pattern) {
  const bool one = !has_braces(pattern) || files.info(pattern).kind == FileKind::file;
  return one ? std::vector<std::string>{pattern} : expand_braces(pattern);
}

void visit_json(const FileSystem& files, const std::string& pattern, const VisitJson& visit) {
  for (const auto& file : json_files(files, pattern))
    file.ends_with(".tar") ? visit_samples(files, file, visit) : visit_lines(files, file, visit);
}

std::vector<std::string> json_texts(const FileSystem& files, const std::string& pattern) {
  std::vector<std::string> texts;
  visit_json(files, pattern,
             [&](std::string_view json, const std::string&) { texts.emplace_back(json); });
  return texts;
}

}  // namespace ddptrain
