#include "sources/remote/list_page.h"

#include <algorithm>
#include <cctype>
#include <charconv>
#include <optional>

#include "base/text.h"

namespace ddptrain {
namespace {

constexpr std::size_t deepest = 16;

void append_utf8(std::string& text, std::uint32_t code) {
  if (code < 0x80) {
    text += static_cast<char>(code);
    return;
  }
  const int more = code < 0x800 ? 1 : code < 0x10000 ? 2 : 3;
  constexpr unsigned char leads[] = {0, 0xc0, 0xe0, 0xf0};
  text += static_cast<char>(leads[more] | (code >> (6 * more)));
  for (int i = more - 1; i >= 0; --i) text += static_cast<char>(0x80 | ((code >> (6 * i)) & 0x3f));
}

/// "&#13;" and "&#xd;"; nothing where that is no character.
std::optional<std::uint32_t> numbered_character(std::string_view name) {
  if (!name.starts_with('#')) return {};
  name.remove_prefix(1);
  const int base = name.starts_with('x') ? 16 : 10;
  if (base == 16) name.remove_prefix(1);
  std::uint32_t code = 0;
  const auto* end = name.data() + name.size();
  const auto [stop, error] = std::from_chars(name.data(), end, code, base);
  const bool whole = error == std::errc() && stop == end && !name.empty();
  const bool is_character = code > 0 && code < 0x110000 && (code < 0xd800 || code > 0xdfff);
  return whole && is_character ? std::optional(code) : std::nullopt;
}

/// XML's five names and numbers of characters; no other: there is no document type to declare one.
bool append_entity(std::string& text, std::string_view name) {
  if (const auto code = numbered_character(name)) return append_utf8(text, *code), true;
  constexpr std::pair<std::string_view, char> known[] = {
      {"amp", '&'}, {"lt", '<'}, {"gt", '>'}, {"quot", '"'}, {"apos", '\''}};
  for (const auto& [word, character] : known)
    if (word == name) return text += character, true;
  return false;
}

std::optional<std::string> decoded(std::string_view raw) {
  std::string text;
  text.reserve(raw.size());
  while (!raw.empty()) {
    const auto at = std::min(raw.find('&'), raw.size());
    text += raw.substr(0, at);
    raw.remove_prefix(at);
    if (raw.empty()) break;
    constexpr std::size_t longest = 12;  // "&#x0010ffff;"
    const auto end = raw.substr(0, longest).find(';');
    if (end == raw.npos || !append_entity(text, raw.substr(1, end - 1))) return {};
    raw.remove_prefix(end + 1);
  }
  return text;
}

/// Reads a page from its begin to its end, an element, end or text at a time.
class ListReader {
 public:
  explicit ListReader(std::string_view xml) : rest_(xml) {}

  ListPage run() && {
    if (rest_.starts_with("\xef\xbb\xbf")) rest_.remove_prefix(3);
    while (page_.why.empty() && !rest_.empty() && !done_) step();
    if (page_.why.empty() && !done_) refuse("it is cut");
    if (page_.why.empty() && invalid_utf8_) refuse("it is not UTF-8");
    if (page_.why.empty() && page_.truncated && page_.next.empty())
      refuse("it has more pages, and does not say how to request them");
    return std::move(page_);
  }

 private:
  void refuse(const std::string& why) {
    if (page_.why.empty()) page_.why = why;
  }

  void step() {
    if (!rest_.starts_with('<')) return add_text();
    if (rest_.starts_with("<?")) return skip_past("?>");
    if (rest_.starts_with("<!--")) return skip_past("-->");
    if (rest_.starts_with("<!"))
      return refuse("it declares a document type or has marked sections");
    if (rest_.starts_with("</")) return end_element();
    begin_element();
  }

  void skip_past(std::string_view end) {
    const auto at = rest_.find(end);
    if (at == rest_.npos) return refuse("it is cut");
    rest_.remove_prefix(at + end.size());
  }

  void add_text() {
    const auto end = std::min(rest_.find('<'), rest_.size());
    const auto raw = rest_.substr(0, end);
    rest_.remove_prefix(end);
    const bool blank = trim(raw).empty();
    if (open_.empty() && !blank) return refuse("it is not XML");
    if (blank && text_.empty()) return;
    const auto text = decoded(raw);
    if (!text) return refuse("it has an '&' that begins no character");
    text_ += *text;
  }

  /// The end of a tag that begins here, outside of quotes; npos where it is cut.
  std::size_t end_of_tag() const {
    char quote = 0;
    for (std::size_t i = 1; i < rest_.size(); ++i) {
      const char c = rest_[i];
      if (quote ? c == quote : c == '"' || c == '\'')
        quote = quote ? 0 : c;
      else if (!quote && c == '>')
        return i;
      else if (!quote && c == '<')
        return rest_.npos;
    }
    return rest_.npos;
  }

  void begin_element() {
    const auto end = end_of_tag();
    if (end == rest_.npos) return refuse("it is cut or not XML");
    auto tag = rest_.substr(1, end - 1);
    rest_.remove_prefix(end + 1);
    const bool empty = tag.ends_with('/');
    if (empty) tag.remove_suffix(1);
    const auto name = tag.substr(0, tag.find_first_of(" \t\r\n"));
    if (name.empty()) return refuse("it is not XML");
    if (open_.empty() && name != "ListBucketResult")
      return refuse("it is '" + shown(std::string(name), 40) + "' and no list of a bucket");
    if (open_.size() >= deepest) return refuse("its elements are nested too deep");
    open_.push_back(name);
    text_.clear();
    if (is_at("Contents")) object_ = {};
    if (empty) close(name);
  }

  void end_element() {
    const auto end = rest_.find('>');
    if (end == rest_.npos) return refuse("it is cut");
    const auto name = trim(rest_.substr(2, end - 2));
    rest_.remove_prefix(end + 1);
    if (open_.empty() || open_.back() != name) return refuse("its elements do not match");
    close(name);
  }

  /// Whether the open elements are ListBucketResult and these.
  bool is_at(std::string_view first, std::string_view second = {}) const {
    const std::size_t depth = second.empty() ? 2 : 3;
    return open_.size() == depth && open_[1] == first && (depth == 2 || open_[2] == second);
  }

  void close(std::string_view name) {
    if (find_invalid_utf8(text_)) invalid_utf8_ = true;
    if (is_at("Contents", "Key")) object_.key = std::move(text_);
    if (is_at("Contents", "ETag")) object_.listed.tag = std::move(text_);
    if (is_at("Contents", "LastModified")) object_.listed.modified = std::move(text_);
    if (is_at("Contents", "Size")) object_.size = parse_integer(trim(text_));
    if (is_at("Contents")) add_object();
    if (is_at("CommonPrefixes", "Prefix")) page_.prefixes.push_back(std::move(text_));
    if (is_at("NextContinuationToken")) page_.next = std::move(text_);
    if (is_at("IsTruncated")) page_.truncated = trim(text_) == "true";
    text_.clear();
    open_.pop_back();
    done_ = open_.empty() && name == "ListBucketResult";
  }

  void add_object() {
    if (!object_.key || object_.key->empty()) return refuse("it lists a file without a key");
    if (!object_.size || *object_.size < 0)
      return refuse("it lists '" + shown(*object_.key, 200) + "' without a size");
    object_.listed.key = std::move(*object_.key);
    object_.listed.size = static_cast<std::uint64_t>(*object_.size);
    page_.objects.push_back(std::move(object_.listed));
  }

  struct Object {
    ListedObject listed;
    std::optional<std::string> key;
    std::optional<std::int64_t> size;
  };

  std::string_view rest_;
  std::vector<std::string_view> open_;  // names of the elements that are open, outermost first
  std::string text_;                    // of the innermost, up to here
  Object object_;
  ListPage page_;
  bool done_ = false;
  bool invalid_utf8_ = false;
};

}  // namespace

ListPage parse_list_page(std::string_view xml) { return ListReader(xml).run(); }

std::string error_code_of(std::string_view body) {
  constexpr std::string_view begin = "<Code>";
  const auto at = body.find(begin);
  if (at == body.npos) return {};
  const auto rest = body.substr(at + begin.size(), 64);
  const auto code = rest.substr(0, rest.find("</Code>"));
  const bool word =
      std::all_of(code.begin(), code.end(), [](unsigned char c) { return std::isalnum(c) != 0; });
  return word && code.size() < rest.size() ? std::string(code) : std::string();
}

}  // namespace ddptrain
