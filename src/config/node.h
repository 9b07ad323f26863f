// A recipe as read: a tree of maps, lists and scalars in which every key and value knows its place.
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include "base/error.h"

namespace ddptrain {

struct Member;

/// One value of the tree. Scalars keep their text as written; `quoted` distinguishes "5" from 5. A
/// null is an empty value, `null` or `~`.
struct Node {
  enum class Kind { null, scalar, list, map };

  Kind kind = Kind::null;
  std::string text;
  bool quoted = false;
  std::string reference;        // as written, where `text` came from a secret of the environment
  std::string note;             // a comment for to_yaml
  std::vector<Node> items;      // of a list
  std::vector<Member> members;  // of a map, in written order, keys unique
  Place place;

  static Node scalar(std::string text, Place place = {});
  static Node quoted_text(std::string text, Place place = {});
  static Node list();
  static Node list(std::vector<Node> items, Place place = {});
  static Node map();
  static Node map(std::vector<Member> members, Place place = {});

  bool is_null() const { return kind == Kind::null; }
  bool is_scalar() const { return kind == Kind::scalar; }
  bool is_list() const { return kind == Kind::list; }
  bool is_map() const { return kind == Kind::map; }

  /// The value of a key of a map, or null where it is absent.
  const Node* find(std::string_view key) const;
  Node* find(std::string_view key);
  /// Sets or appends a key of a map.
  void set(std::string_view key, Node value, Place key_place = {});
};

/// A key of a map with its value; `place` is the key's.
struct Member {
  std::string key;
  Place place;
  Node value;
};

}  // namespace ddptrain
