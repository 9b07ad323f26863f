#include "recipe/layers/history.h"

#include <algorithm>
#include <optional>

#include "config/encode.h"
#include "recipe/layers/merge.h"

namespace ddptrain {
namespace {

using Address = std::vector<Step>;

Address first_steps(const Address& address, std::size_t count) {
  return {address.begin(), address.begin() + static_cast<std::ptrdiff_t>(count)};
}

/// Whether the value or anything in it was written at a place.
bool written_at(const Node& node, const Place& place) {
  const auto same = [&](const Place& p) { return p.file == place.file && p.line == place.line; };
  return same(node.place) ||
         std::any_of(node.items.begin(), node.items.end(),
                     [&](const Node& item) { return written_at(item, place); }) ||
         std::any_of(node.members.begin(), node.members.end(),
                     [&](const Member& m) { return same(m.place) || written_at(m.value, place); });
}

/// Of a map the members that were written at a place.
Node part_written_at(const Node& node, const Place& place) {
  Node part = node;
  std::erase_if(part.members, [&](const Member& m) { return !written_at(m.value, place); });
  for (auto& member : part.members) member.value = part_written_at(member.value, place);
  return part;
}

std::string type_of(const Node& node) {
  const auto* type = node.is_scalar() ? &node : node.find("type");
  return type ? type->text : "";
}

Event became(const std::string& component, const std::string& before, const std::string& now,
             const Place& place) {
  return {Event::Kind::lost,
          place,
          {},
          "'" + component + "' became " + now + ": the options of " + before + " fell away"};
}

/// Whether the key, an option of the component that its first steps name, outlives its type.
bool outlives_type(const Address& address, std::size_t count) {
  return count < address.size() &&
         is_of_section(to_text(first_steps(address, count)), address[count].name);
}

/// The outermost value above (or at) the key that a layer replaced as a whole.
std::optional<Event> replaced(const Address& address, const Merging& step) {
  for (std::size_t count = 1; count <= address.size(); ++count) {
    const auto above = first_steps(address, count);
    const auto* strong = find_at(*step.layer, above);
    const auto* weak = find_at(step.before, above);
    if (!strong || !weak) return {};
    const auto name = to_text(above);
    const auto* after = find_at(step.after, address);
    const bool word = strong->is_scalar() && weak->is_map() && names_component(name);
    if (!strong->is_map() && !word && after && !after->is_map())
      return {};  // the new value says it
    if (!strong->is_map() && !word)
      return Event{Event::Kind::lost, strong->place, {}, "'" + name + "' was replaced as a whole"};
    const auto before = type_of(*weak), now = type_of(*strong);
    const bool differ = !before.empty() && !now.empty() && before != now;
    if (differ && !outlives_type(address, count))
      return became(name, before, now, word ? strong->place : strong->find("type")->place);
  }
  return {};
}

/// What an override that is no removal did to a value that is gone.
Event gone(const Address& address, const Merging& step, const std::string& word) {
  for (std::size_t count = 1; count < address.size(); ++count) {
    const auto above = first_steps(address, count);
    const auto* weak = find_at(step.before, above);
    const auto* strong = find_at(step.after, above);
    const auto before = weak ? type_of(*weak) : "", now = strong ? type_of(*strong) : "";
    if (!before.empty() && !now.empty() && before != now)
      return became(to_text(above), before, now, step.place);
  }
  return {Event::Kind::lost, step.place, {}, "replaced as a whole by " + word};
}

class History {
 public:
  History(const Address& address, const std::vector<std::string>& overrides)
      : address_(address), overrides_(overrides) {}

  void see(const Merging& step) {
    const auto* before = find_at(step.before, address_);
    const auto* after = find_at(step.after, address_);
    if (!step.layer) return override_seen(before, after, step);
    if (before) {
      if (auto lost = replaced(address_, step)) events.push_back(std::move(*lost));
    }
    if (!step.by_itself) return;
    if (const auto* value = find_at(*step.layer, address_))
      events.push_back({Event::Kind::set, value->place, *value, ""});
  }

  std::vector<Event> events;

 private:
  void override_seen(const Node* before, const Node* after, const Merging& step) {
    const auto& place = step.place;
    const auto& word = overrides_.at(static_cast<std::size_t>(place.line - 1));
    if (before && !after) {
      const bool removed = word.starts_with('~');
      events.push_back(removed ? Event{Event::Kind::lost, place, {}, "removed by " + word}
                               : gone(address_, step, word));
    } else if (after && written_at(*after, place)) {
      events.push_back({Event::Kind::set, place, part_written_at(*after, place), ""});
    } else if (before && after && to_yaml(*before) != to_yaml(*after)) {
      events.push_back({Event::Kind::lost, place, {}, "changed by " + word});
    }
  }

  const Address& address_;
  const std::vector<std::string>& overrides_;
};

}  // namespace

std::vector<Event> history_of(const Address& address, const std::vector<std::string>& files,
                              const std::vector<std::string>& overrides) {
  History history(address, overrides);
  read_layers(files, overrides, [&](const Merging& step) { history.see(step); });
  return std::move(history.events);
}

}  // namespace ddptrain
