// A part of a run that changes as the run goes on.
#pragma once

#include <experimental/propagate_const>
#include <memory>

namespace ddptrain {

/// std::unique_ptr whose object is const where the pointer is: a `const Training&` cannot change
/// it (library fundamentals TS v2, 3.2).
template <class T>
using Part = std::experimental::propagate_const<std::unique_ptr<T>>;

}  // namespace ddptrain
