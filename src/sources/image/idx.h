// The head of an IDX file (http://yann.lecun.com/exdb/mnist/).
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

namespace ddptrain {

/// Sizes along each dimension of a file of unsigned bytes, none of them 0; what follows the head
/// has exactly as many bytes. Throws an Error (Exit::data) that names the file.
std::vector<std::size_t> idx_sizes(std::span<const std::uint8_t> bytes, std::size_t dimensions,
                                   const std::string& file);

}  // namespace ddptrain
