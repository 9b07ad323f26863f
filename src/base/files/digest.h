// Digests of text and files as lower-case hexadecimal, and checksums.
#pragma once

#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

namespace ddptrain {

enum class DigestKind { sha256, md5 };

/// Takes bytes in pieces; finish() once.
class Digest {
 public:
  explicit Digest(DigestKind kind);
  ~Digest();
  void add(std::string_view bytes);
  std::string finish();

 private:
  struct State;
  std::unique_ptr<State> state_;
};

std::string sha256(std::string_view text);
std::string md5(std::string_view text);
/// Throws an Error (Exit::data) that names the file.
std::string digest_file(DigestKind kind, const std::string& path);

/// CRC-32C (Castagnoli, RFC 3720 appendix B.4), the checksum of TensorBoard records and of tensors
/// in a checkpoint: of `bytes`, continuing from the checksum of what came before them.
std::uint32_t crc32c(std::string_view bytes, std::uint32_t before = 0);

/// That of bytes and of `count` others behind them, from the checksums of both (zlib's
/// crc32_combine).
std::uint32_t crc32c_of_both(std::uint32_t first, std::uint32_t second, std::uint64_t count);

}  // namespace ddptrain
