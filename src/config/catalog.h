// Which components of a kind there are. A component's file returns one Entry; the folder's
// catalog.cpp lists them.
#pragma once

#include <deque>
#include <functional>
#include <iterator>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <string>
#include <string_view>
#include <type_traits>
#include <utility>
#include <vector>

#include "config/choice.h"
#include "config/decode.h"
#include "config/fields.h"

namespace ddptrain {

struct Shape;  // config/shape.h

/// The shape of a component's options, made when it is first asked for.
class LazyShape {
 public:
  explicit LazyShape(std::function<Shape()> make);
  ~LazyShape();
  const Shape& get() const;

 private:
  std::function<Shape()> make_;
  mutable std::once_flag once_;
  mutable std::unique_ptr<const Shape> shape_;
};

/// What recipes and the schema need to know of a component: its name, one sentence that ends with a
/// full stop, the shape of its options, and traits, words that rules between parts ask for
/// ("momentum").
struct EntryBase {
  std::string name;
  std::string doc;
  std::vector<std::string> traits;
  std::shared_ptr<const LazyShape> options;
  const Shape& shape() const { return options->get(); }
  bool has(std::string_view trait) const;
};

/// The components of a kind without their classes: what check, schema, describe and list read.
class CatalogBase {
 public:
  explicit CatalogBase(std::string kind) : kind_(std::move(kind)) {}
  virtual ~CatalogBase() = default;
  const std::string& kind() const { return kind_; }
  virtual std::size_t size() const = 0;
  virtual const EntryBase& at(std::size_t index) const = 0;
  const EntryBase* find(std::string_view name) const;  // null when there is none
  std::vector<std::string> names() const;

 protected:
  /// An Error (Exit::recipe) where a component has the name that a plug-in gives to one of its own.
  void require_new(const std::string& name) const;

 private:
  std::string kind_;
};

/// A file of `plugins` (recipe/plugin_spec.h).
struct PluginFile {
  std::string path;                   // absolute
  std::optional<std::string> sha256;  // that it must have; none: any
};

/// All kinds by name: floor 3 collects them once (train/catalogs.cpp) and hands them down to
/// the checks of a recipe.
struct Catalogs : std::map<std::string, const CatalogBase*, std::less<>> {
  using map::map;
  /// Adds the components of a plug-in, once; an Error (Exit::recipe) says why not. May be empty.
  std::function<void(const PluginFile&)> add_plugin;
};

namespace detail {
template <class Signature>
struct Maker;
template <class R, class... Args>
struct Maker<R(Args...)> {
  using Function = std::function<R(const Node&, Args...)>;
};
}  // namespace detail

/// An entry that can build. T::Make is the signature of building, for example
/// `using Make = std::unique_ptr<Loss>(const LossContext&);` in the interface.
template <class T>
struct Entry : EntryBase {
  typename detail::Maker<typename T::Make>::Function make;
};

/// The shape that `fields` shows when it visits fresh default options.
std::shared_ptr<const LazyShape> lazy_shape(std::function<void(Fields&)> fields);

/// The place of an option among those of a component, by its path in a recipe ("data.valid.list")
/// or in the component ("valid.list"); where it is not written, of the component.
Place place_within(const Node& component, const std::string& option);

/// Ties a component's options to its constructor: `build(options, arguments of T::Make...)`.
template <class T, class Options, class Build>
Entry<T> entry(std::string name, std::string doc, Build build,
               std::vector<std::string> traits = {}) {
  Entry<T> made;
  made.name = std::move(name);
  made.doc = std::move(doc);
  made.traits = std::move(traits);
  made.options = lazy_shape([](Fields& f) {
    Options fresh;
    fresh.fields(f);
  });
  made.make = [build](const Node& node, auto&&... arguments) {
    return build(decode<Options>(node), std::forward<decltype(arguments)>(arguments)...);
  };
  return made;
}

/// Options of a component that has none.
struct NoOptions {
  void fields(Fields&) {}
};

namespace detail {
template <class Component>
struct OptionsOf {
  using Type = NoOptions;
};
template <class Component>
requires requires { typename Component::Options; }
struct OptionsOf<Component> {
  using Type = typename Component::Options;
};
}  // namespace detail

/// The same for a class whose constructor does it all: from the options, where there are any, and
/// the arguments of T::Make, where it takes them.
template <class T, class Component, class Options = typename detail::OptionsOf<Component>::Type>
Entry<T> entry_of(std::string name, std::string doc, std::vector<std::string> traits = {}) {
  const auto build = []<class... Args>(const Options& options,
                                       Args&&... arguments) -> std::unique_ptr<T> {
    if constexpr (std::is_constructible_v<Component, const Options&, Args...>)
      return std::make_unique<Component>(options, std::forward<Args>(arguments)...);
    else if constexpr (std::is_constructible_v<Component, const Options&>)
      return std::make_unique<Component>(options);
    else if constexpr (std::is_constructible_v<Component, Args...>)
      return std::make_unique<Component>(std::forward<Args>(arguments)...);
    else
      return std::make_unique<Component>();
  };
  return entry<T, Options>(std::move(name), std::move(doc), build, std::move(traits));
}

template <class T>
class Catalog final : public CatalogBase {
 public:
  explicit Catalog(std::vector<Entry<T>> entries)
      : CatalogBase(kind_name<T>),
        entries_(std::make_move_iterator(entries.begin()), std::make_move_iterator(entries.end())) {
  }
  std::size_t size() const override { return entries_.size(); }
  const Entry<T>& at(std::size_t index) const override { return entries_[index]; }

  /// A plug-in's, before a recipe is checked that names it.
  void add(Entry<T> added) const {
    require_new(added.name);
    entries_.push_back(std::move(added));
  }

  /// Builds what was chosen; the choice has passed check(), so its name is one of ours. An Error
  /// about the recipe gets the place of its option in the choice, or else of the choice.
  template <class... Args>
  auto build(const ChoiceBase& choice, Args&&... arguments) const {
    const auto* found = static_cast<const Entry<T>*>(find(choice.type()));
    DDP_CHECK(found != nullptr, "no " + kind() + " is called '" + choice.type() + "'");
    try {
      return found->make(choice.node(), std::forward<Args>(arguments)...);
    } catch (const Error& error) {
      if (error.code() != Exit::recipe || error.place().known()) throw;
      throw error.at(place_within(choice.node(), error.option()));
    }
  }

 private:
  mutable std::deque<Entry<T>> entries_;  // whose places stay when a plug-in adds some
};

/// The one catalog of a kind, defined in that folder's catalog.cpp.
template <class T>
const Catalog<T>& catalog();

/// Of a trait that says more than yes, "named top_{k}" for the trait `named`, the rest: "top_{k}".
/// Nothing where the component has no such trait.
std::optional<std::string> trait_argument(const EntryBase& entry, std::string_view trait);

}  // namespace ddptrain
