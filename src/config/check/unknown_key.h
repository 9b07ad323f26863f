// Messages for keys that no record declares.
#pragma once

#include <optional>
#include <string>

#include "config/shape.h"
#include "config/suggest.h"

namespace ddptrain {

/// The key and where it stands: in `map` at `path`, which has the keys of `shape`. `component` is
/// the one whose options these are, of kind `kind`; both are empty in a plain section.
struct UnknownKey {
  const Member& member;
  const Node& map;
  const Shape& shape;
  const std::string& path;
  const std::string& component;
  const std::string& kind;
};

/// `sure` is whether a key of ours, or its place, was recognized; `meant` the key of this map that
/// was misspelled, where it is that.
struct KeyAdvice {
  std::string rule;
  std::string message;
  bool sure = false;
  std::string meant = {};
};

/// Guesses the key that was meant: another tool's, one nearby, another component's, or another
/// section's.
class KeyAdvisor {
 public:
  KeyAdvisor(const Node& tree, const Shape& root, const Catalogs& catalogs)
      : tree_(tree), root_(root), catalogs_(catalogs) {}

  KeyAdvice advise(const UnknownKey& key);

 private:
  struct Guess {
    double cost;
    std::string name;             // as the message shows it
    const Home* other = nullptr;  // an option of other components of this kind
    bool here = false;            // a key of this map
    bool part = false;            // of which only a part was written
  };

  void guess_here(const UnknownKey& key, std::vector<Guess>& guesses) const;
  static void add_whole_name(const std::vector<Guess>& guesses, std::vector<std::string>& names);
  void guess_elsewhere(const UnknownKey& key, std::vector<Guess>& guesses);
  double cost_of(const UnknownKey& key, const Home& home, std::size_t distance) const;
  double closeness(const UnknownKey& key, const Home& home) const;
  const Homes& homes();

  const Node& tree_;
  const Shape& root_;
  const Catalogs& catalogs_;
  std::optional<Homes> homes_;  // collected when the first key is not known
};

}  // namespace ddptrain
