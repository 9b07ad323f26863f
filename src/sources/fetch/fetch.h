// Fetching of files.
#pragma once

#include <cstdint>
#include <string>

namespace ddptrain {

/// The largest download unless a caller says otherwise; ImageNet's archives have 150 GB.
constexpr std::int64_t most_fetched = std::int64_t{256} << 30;

/// Fetches an https URL into a file, continuing what an earlier attempt left there. Runs the
/// program `curl`, without a shell and without its user's .curlrc; the URL travels on its standard
/// input, since all users of a machine see arguments. On a terminal it shows size and progress.
/// Of what has more than `most` bytes nothing is kept. Throws an Error: Exit::recipe where the URL
/// is not https, otherwise Exit::data.
void fetch(const std::string& url, const std::string& path, std::int64_t most = most_fetched);

/// Copies a file of this machine to `path`, or leaves nothing there. Throws an Error (Exit::data).
void fetch_copy(const std::string& file, const std::string& path);

}  // namespace ddptrain
