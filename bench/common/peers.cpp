// SPDX-License-Identifier: LGPL-2.1-or-later
// The list of peers; memcpy, the rooflines and the plain loop as candidates.
#include "peers.h"

#include <cstring>
#include <stdexcept>
#include <string>
#include <vector>

#include "plain.h"
#include "shaped.h"

namespace simaai::bench {
namespace {

std::string never_refuses(const Case& /*bench_case*/) { return {}; }

std::unique_ptr<Candidate> make_nothing(const Case& bench_case) {
  throw std::logic_error("a refused peer was asked for in " + bench_case.name);
}

std::unique_ptr<Candidate> make_memcpy(const Case& bench_case) {
  const std::size_t bytes = bench_case.copy_bytes();
  return make_loop(
      [bytes](const BufferSet& set) { std::memcpy(set.output[0].data, set.input[0].data, bytes); },
      Check::None);
}

template <Stores kStores> std::unique_ptr<Candidate> make_shaped(const Case& bench_case) {
  const std::size_t read_bytes = bench_case.read_bytes;
  const std::size_t write_bytes = bench_case.write_bytes;
  return make_loop(
      [=, shaped = shaped_function(kStores)](const BufferSet& set) {
        shaped(static_cast<const std::byte*>(set.input[0].data), read_bytes,
               static_cast<std::byte*>(set.output[0].data), write_bytes);
      },
      Check::None);
}

std::unique_ptr<Candidate> make_plain(const Case& bench_case) {
  if (tiled_side(bench_case) == nullptr) {
    const PlainLinear linear = plain_linear(bench_case);
    return make_loop(
        [linear, loop = plain_linear_function(bench_case)](const BufferSet& set) {
          loop(linear, set.input[0].data, set.output[0].data);
        },
        Check::Contract);
  }
  const PlainTiles tiles = plain_tiles(bench_case);
  return make_loop(
      [tiles, loop = plain_tiles_function(bench_case, tiles)](const BufferSet& set) {
        loop(tiles, set.input[0].data, set.output[0].data);
      },
      Check::Contract);
}

std::vector<Peer> make_list() {
  std::vector<Peer> list{{"memcpy", never_refuses, make_memcpy},
                         {"shaped", never_refuses, make_shaped<Stores::Temporal>}};
  if (shaped_function(Stores::Streaming) != nullptr)
    list.push_back({"shaped_nt", never_refuses, make_shaped<Stores::Streaming>});
  else
    list.push_back({"shaped_nt",
                    [](const Case&) { return std::string("no non-temporal stores here"); },
                    make_nothing});
  list.push_back({"plain", never_refuses, make_plain});
#ifdef SIMAAI_BENCH_ONEDNN
  list.push_back({"onednn", onednn_refusal, make_onednn});
#else
  list.push_back(
      {"onednn", [](const Case&) { return std::string("built without oneDNN"); }, make_nothing});
#endif
#ifdef SIMAAI_BENCH_EIGEN
  list.push_back({"eigen", eigen_refusal, make_eigen});
#else
  list.push_back(
      {"eigen", [](const Case&) { return std::string("built without Eigen"); }, make_nothing});
#endif
  return list;
}

} // namespace

std::span<const Peer> peers() {
  static const std::vector<Peer> list = make_list();
  return list;
}

} // namespace simaai::bench
