#include "cuda_stand_in/core/memory.h"

#include <iterator>
#include <set>

namespace ddptrain::stand_in {
namespace {

bool ended(const PlacedOperation& operation, const VectorClock& clock) {
  return operation.stream < 0 || clock.of(operation.stream) >= operation.time;
}

std::string described(const PlacedOperation& operation) {
  return std::string(operation.name) + " on " + stream_name(operation.stream);
}

std::string conflict(const MemoryAccess& access, const PlacedOperation& late, const char* what,
                     const PlacedOperation& early) {
  return described(late) + (access.writes ? " writes " : " reads ") + std::to_string(access.bytes) +
         " bytes at " + hexadecimal(access.address) + ", which " + described(early) +
         " may still " + what + ": no event orders the two";
}

}  // namespace

AccessHistory::Spans::iterator AccessHistory::split(std::uintptr_t at) {
  auto after = spans_.upper_bound(at);
  if (after == spans_.begin()) return after;
  const auto before = std::prev(after);
  if (before->first == at) return before;
  if (before->second.end <= at) return after;
  Span right = before->second;
  before->second.end = at;
  return spans_.emplace_hint(after, at, std::move(right));
}

// Spans that lie without a gap.
void AccessHistory::cover(std::uintptr_t begin, std::uintptr_t end) {
  split(end);
  auto span = split(begin);
  for (auto at = begin; at < end;) {
    if (span == spans_.end() || span->first > at) {
      const auto until = span == spans_.end() ? end : std::min(end, span->first);
      span = spans_.emplace_hint(span, at, Span{until, {"", -1, 0}, {}});
    }
    at = span->second.end;
    ++span;
  }
}

std::optional<std::string> AccessHistory::note(const MemoryAccess& access,
                                               const PlacedOperation& operation,
                                               const VectorClock& clock) {
  const auto begin = access.address, end = begin + access.bytes;
  if (begin == end) return std::nullopt;
  cover(begin, end);
  const auto first = spans_.find(begin), last = spans_.lower_bound(end);
  for (auto span = first; span != last; ++span) {
    const auto& known = span->second;
    if (!ended(known.written, clock)) return conflict(access, operation, "write", known.written);
    if (!access.writes) continue;
    for (const auto& reader : known.readers)
      if (!ended(reader, clock)) return conflict(access, operation, "read", reader);
  }
  if (access.writes) {
    spans_.erase(std::next(first), last);
    first->second = {end, operation, {}};
    return std::nullopt;
  }
  for (auto span = first; span != last; ++span) {
    auto& readers = span->second.readers;
    std::erase_if(readers, [&](const auto& reader) { return reader.stream == operation.stream; });
    readers.push_back(operation);
  }
  return std::nullopt;
}

std::optional<std::string> AccessHistory::pending(std::uintptr_t begin, std::size_t bytes,
                                                  const VectorClock& clock) const {
  auto span = spans_.upper_bound(begin);
  if (span != spans_.begin() && std::prev(span)->second.end > begin) --span;
  for (; span != spans_.end() && span->first < begin + bytes; ++span) {
    if (!ended(span->second.written, clock))
      return described(span->second.written) + " may still write";
    for (const auto& reader : span->second.readers)
      if (!ended(reader, clock)) return described(reader) + " may still read";
  }
  return std::nullopt;
}

void AccessHistory::forget(std::uintptr_t begin, std::size_t bytes) {
  split(begin + bytes);
  const auto first = split(begin);
  spans_.erase(first, spans_.lower_bound(begin + bytes));
}

const Allocation* Allocations::find(std::uintptr_t address) const {
  auto after = all_.upper_bound(address);
  if (after == all_.begin()) return nullptr;
  const auto& found = std::prev(after)->second;
  return address < found.begin + found.bytes ? &found : nullptr;
}

bool Allocations::holds(std::uintptr_t begin, std::size_t bytes) const {
  const auto* found = find(begin);
  const auto* first = found;
  while (found != nullptr && found->device == first->device) {
    if (begin + bytes <= found->begin + found->bytes) return true;
    found = find(found->begin + found->bytes);
  }
  return false;
}

std::size_t Allocations::bytes_of(int device) const {
  std::size_t sum = 0;
  for (const auto& [begin, allocation] : all_)
    if (allocation.device == device) sum += allocation.bytes;
  return sum;
}

std::string hexadecimal(std::uintptr_t address) {
  constexpr const char* kDigits = "0123456789abcdef";
  std::string text;
  do text.insert(text.begin(), kDigits[address % 16]);
  while (address /= 16);
  return "0x" + text;
}

const char* interned(const std::string& text) {
  static std::set<std::string> all;
  return all.insert(text).first->c_str();
}

}  // namespace ddptrain::stand_in
