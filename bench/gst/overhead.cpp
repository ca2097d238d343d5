// SPDX-License-Identifier: LGPL-2.1-or-later
// What an element costs a buffer beyond core identity, on tensors so small that its work is nothing.
#include <bit>
#include <memory>
#include <string>
#include <vector>

#include <gst/gst.h>

#include "candidate.h"
#include "dense.h"
#include "gst-matrix/weights.h"
#include "oracle/numerics.h"
#include "oracle/random_tensor.h"
#include "oracle/tiles.h"

namespace {

using simaai::bench::Candidate;
using simaai::bench::dense;
using namespace simaai::kernels;
namespace oracle = simaai::oracle;

// Short slices in many rounds.
constexpr int kRounds = 401;
constexpr int kBuffers = 1500;
const Shape kShape{2, 8};
const MlaTiled kTiled{{-1, -1, 0, 1}, {1, 1, 2, 8}, ChannelStorage::Compact};
constexpr const char* kTiledFields =
    "layout=mla-tiled,tile-axes=<-1,-1,0,1>,tile-shape=<1,1,2,8>,channel-storage=compact";

using Candidates = std::vector<std::unique_ptr<Candidate>>;

/// Elements in a row, of the same input and output.
Candidate& add_row(Candidates& all, const char* name, const std::vector<const char*>& factories,
                   const std::string& caps, const oracle::Bytes& bytes) {
  std::vector<GstElement*> elements;
  for (const char* factory : factories)
    elements.push_back(gst_element_factory_make(factory, nullptr));
  all.push_back(std::make_unique<Candidate>(name, elements, caps, bytes, bytes));
  return *all.back();
}

/// `setting`: a property with its value, or null.
void add(Candidates& all, const char* factory, const char* setting, const std::string& value,
         const std::string& caps, const oracle::Bytes& input, const oracle::Bytes& expected) {
  GstElement* element = gst_element_factory_make(factory, nullptr);
  if (element != nullptr && setting != nullptr)
    gst_util_set_object_arg(G_OBJECT(element), setting, value.c_str());
  all.push_back(std::make_unique<Candidate>(factory, element, caps, input, expected));
}

void add_ops(Candidates& all) {
  const auto wide = oracle::random_tensor(kShape, DType::Float32, 1);
  const auto narrow = oracle::convert(wide, DType::BFloat16);
  const auto back = oracle::convert(narrow, DType::Float32);
  const auto tiles = oracle::tile(narrow, kTiled);
  const std::string tensor = "application/vnd.simaai.tensor,shape=<2,8>,";
  const std::string linear32 = tensor + "dtype=float32,layout=contiguous";
  const std::string linear16 = tensor + "dtype=bfloat16,layout=contiguous";
  const std::string tiled16 = tensor + "dtype=bfloat16," + kTiledFields;
  add(all, "identity", nullptr, "", linear32, dense(wide), dense(wide));
  add(all, "simaaicast", "backend", "a65", linear32, dense(wide), dense(narrow));
  add(all, "simaaidetess", "backend", "a65", tiled16, tiles, dense(narrow));
  add(all, "simaaidetesscast", "backend", "a65", tiled16, tiles, dense(back));
  // Default tiles of this shape, except that channels are padded to 16.
  MlaTiled padded = kTiled;
  padded.channels = ChannelStorage::PadTo16;
  add(all, "simaaitess", "backend", "a65", linear16, dense(narrow), oracle::tile(narrow, padded));
  add(all, "simaaicasttess", "backend", "a65", linear32, dense(wide), oracle::tile(narrow, padded));
  add(all, "simaaitensorbridge", nullptr, "", linear32, dense(wide), dense(wide));
}

/// A set of one tensor. The multiplexer has a thread of its own, which waits for each buffer of its pads: so does that of a queue
/// with room for one.
void add_sets(Candidates& all) {
  const auto bytes = dense(oracle::random_tensor(kShape, DType::Float32, 4));
  const std::string tensor =
      "application/vnd.simaai.tensor,shape=(int)<2,8>,dtype=float32,layout=contiguous";
  const std::string set = "application/vnd.simaai.tensor-set,tensors=(structure)<[" + tensor + "]>";
  add_row(all, "simaaitensordemux", {"simaaitensordemux"}, set, bytes);
  const Candidate& two = add_row(all, "identity x 2", {"identity", "identity"}, tensor, bytes);
  GstElement* queue = gst_element_factory_make("queue", nullptr);
  if (queue != nullptr)
    g_object_set(queue, "max-size-buffers", 1U, nullptr);
  all.push_back(std::make_unique<Candidate>(
      "queue, identity x 2",
      std::vector<GstElement*>{queue, gst_element_factory_make("identity", nullptr),
                               gst_element_factory_make("identity", nullptr)},
      tensor, bytes, bytes));
  all.back()->compare_with(two);
  add_row(all, "mux, demux", {"simaaitensormux", "simaaitensordemux"}, tensor, bytes)
      .compare_with(two);
}

void add_others(Candidates& all, const std::string& weights_file, const reference::Rows& weights) {
  const auto pixels = oracle::random_tensor({1, 2, 4, 3}, DType::UInt8, 2);
  oracle::Tensor floats{pixels.shape, DType::Float32, {}};
  for (const std::uint32_t pixel : pixels.bits)
    floats.bits.push_back(std::bit_cast<std::uint32_t>(static_cast<float>(pixel)));
  const std::string picture = ",shape=<1,2,4,3>,video-format=RGB,framerate=0/1";
  add(all, "simaaivideototensor", nullptr, "",
      "video/x-raw,format=RGB,width=4,height=2,framerate=0/1", dense(pixels), dense(floats));
  add(all, "simaaitensortovideo", nullptr, "",
      "application/vnd.simaai.tensor,dtype=uint8,layout=contiguous" + picture, dense(pixels),
      dense(pixels));
  const auto vectors = oracle::random_tensor(kShape, DType::Int8, 3);
  add(all, "simaaimatmul", "weights", weights_file,
      "application/vnd.simaai.tensor,shape=<2,8>,dtype=int8,layout=contiguous", dense(vectors),
      dense(simaai::test::multiplied(vectors, weights)));
  const auto rows = reference::Random(6).rows(2, 8);
  oracle::Bytes elements;
  for (const reference::Row& row : rows)
    for (const auto value : row)
      elements.push_back(static_cast<std::uint8_t>(value));
  add(all, "simaaitgmxenc", nullptr, "",
      "application/vnd.simaai.tensor,shape=<2,8>,dtype=int8,layout=contiguous", elements,
      reference::wire(rows));
  add(all, "simaaitgmxdec", nullptr, "", "application/x-tgmx", reference::wire(rows), elements);
}

} // namespace

int main(int argc, char** argv) {
  gst_init(&argc, &argv);
  {
    const auto weights = reference::Random(5).rows(3, 8);
    const simaai::test::TemporaryFile file(reference::wire(weights));
    Candidates candidates;
    add_ops(candidates);
    add_others(candidates, file.path(), weights);
    add_sets(candidates);
    simaai::bench::measure_in_rounds(candidates, kRounds, kBuffers);
    std::printf("ns a buffer, %d rounds of %d buffers, in random order within a round; over core\n"
                "and ratio compare slices of one round; rows behind two identities with those\n",
                kRounds, kBuffers);
    std::printf("%-20s %8s %8s %10s %18s %8s\n", "element", "min", "median", "over core",
                "quartiles", "ratio");
    for (const auto& candidate : candidates)
      candidate->report(*candidates.front());
  }
  gst_deinit();
  return 0;
}
