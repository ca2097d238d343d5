// SPDX-License-Identifier: LGPL-2.1-or-later
// Judges a build of the firmware in a shared library: 0 where nothing is found wrong with it, 1
// where the oracle or the deferred model objects. mutants.py expects 1 of every mutant.
#include <cstdio>
#include <functional>
#include <string>

#include <dlfcn.h>

#include "firmware/cast/cast_cases.h"
#include "firmware/detess/reader_cases.h"
#include "firmware/tiles/tile_cases.h"

namespace simaai::test {
namespace {

using kernels::ChannelStorage;
using kernels::DType;
using kernels::Strided;
using kernels::wire::EntryStatus;

constexpr std::uint64_t kCases = 75;

/// An operation of the library and cases that reach each of its paths.
struct Subject {
  const char* operation;
  std::uint64_t cases;
  std::function<DeviceCase(std::uint64_t)> make;
};

/// What random views seldom are: pitches beyond 16 bits, packed pairs, columns without a proof.
DeviceCase special_cast(std::uint64_t number) {
  const std::int64_t far = 65536;
  const Case cases[] = {
      cast_case({5, 30}, DType::BFloat16, {far, 2}),
      cast_case({30}, DType::BFloat16, {far}),
      cast_case({64, 16}, DType::BFloat16, {far, 2}, {4, 256}),
      cast_case({4, 64}, DType::BFloat16, {}, {far, 4}),
      cast_case({64, 4}, DType::BFloat16, {}, {4, far}),
      cast_case({4, 64}, DType::BFloat16, {}, {264, 4}),
      cast_case({64, 20}, DType::BFloat16, {}, {4, 264}),
      cast_case({5000, 2}, DType::BFloat16, {}, {4, 20000}),
      cast_case({5000, 2}, DType::BFloat16, {}, {4, 20004}),
      cast_case({2, 256, 16}, DType::Float32, {}, {16 * 512 + 8, 2, 512}),
      cast_case({2, 256, 16}, DType::Float32, {}, {16 * 512, 2, 512}),
      cast_case({1300, 40}, DType::Float32, {}, {2, 2602}),
      cast_case({300, 7}, DType::Float32, {}, {18, 2}),
      cast_case({20000}, DType::Float32),
  };
  constexpr std::uint64_t kCount = sizeof cases / sizeof cases[0];
  return {&encode_cast,
          cases[number % kCount],
          {0, number < kCount ? 0U : static_cast<std::uint32_t>(number % 16)}};
}
constexpr std::uint64_t kSpecialCasts = 42;

DeviceCase special_tiles(const TileWriter& writer, std::uint64_t number) {
  const DTypePair dtypes = writer.dtypes[number % writer.dtypes.size()];
  const std::int64_t width = kernels::scalar_bytes(dtypes.from);
  const std::int64_t far = 65536;
  const std::int64_t strides[][4] = {
      {8 * far, 4 * far, far, width},      // pixels far apart
      {16 * far, 8 * far, width, far},     // planes far apart
      {16 * far, 8 * far, 2 * width, far}, // gathered, pixels near
      {8 * far, 4 * far, far, 2 * width},  // gathered, channels near
      {64 * far, 32 * far, 8 * far, far},  // gathered, both far
  };
  const auto& chosen = strides[number % 5];
  Case c = image_case(dtypes, {1, 2, 4, 8}, {1, 2, 3, 7}, ChannelStorage::Compact);
  c.input.layout = Strided{{chosen[0], chosen[1], chosen[2], chosen[3]}};
  if (number % 10 == 9) { // more rows than columns, and the rows far apart
    c = image_case(dtypes, {1, 4, 4, 8}, {1, 4, 2, 8}, ChannelStorage::Compact);
    c.input.layout = Strided{{4 * far, far, 16 * width, width}};
  }
  return {writer.encode, c};
}

const TileWriter kTess{&encode_tess,
                       {{DType::Int8, DType::Int8}, {DType::BFloat16, DType::BFloat16}}};
const TileWriter kCastTess{&encode_casttess,
                           {{DType::Float32, DType::BFloat16},
                            {DType::Float16, DType::BFloat16},
                            {DType::BFloat16, DType::BFloat16}}};

const TileReader kDetess{
    &encode_detess, nullptr, {{DType::Int8, DType::Int8}, {DType::BFloat16, DType::BFloat16}}};
const TileReader kDetessCast{
    &encode_detesscast,
    nullptr,
    {{DType::BFloat16, DType::Float32}, {DType::BFloat16, DType::BFloat16}}};

/// Pixels beyond 4 KiB, rows beyond 16-bit pitches, pitched output, every phase.
DeviceCase special_reader(const TileReader& reader, std::uint64_t number) {
  const DTypePair dtypes = reader.dtypes[number % reader.dtypes.size()];
  const std::int64_t width = kernels::scalar_bytes(dtypes.to);
  const auto rows = tiled_case(dtypes, {4, 64}, {-1, -1, 0, 1}, {1, 1, 2, 64});
  const Case cases[] = {
      tiled_case(dtypes, {3, 4500}, {-1, -1, 0, 1}, {1, 1, 3, 4500}),
      tiled_case(dtypes, {16, 2, 4100}, {-1, 1, 2, 0}, {1, 2, 4100, 16}),
      strided_case(rows, {65536, width}),
      strided_case(rows, {64 * width + 8, width}),
      tiled_case(dtypes, {300, 32}, {-1, -1, 0, 1}, {1, 1, 300, 32}),
      tiled_case(dtypes, {40, 50, 48}, {-1, 0, 1, 2}, {1, 4, 16, 16}),
      tiled_case(dtypes, {40, 16, 48}, {-1, 0, 1, 2}, {1, 8, 16, 16}),
      tiled_case(dtypes, {2100, 2, 2}, {-1, 1, 0, 2}, {1, 2, 2100, 2}),
      tiled_case(dtypes, {2100, 1, 2}, {-1, 2, 0, 1}, {1, 2, 2100, 1}),
      tiled_case(dtypes, {2100, 2, 3, 1}, {1, 2, 0, 3}, {2, 2, 2100, 1}),
      tiled_case(dtypes, {60, 30, 17}, {-1, 0, 1, 2}, {1, 7, 11, 17}),
  };
  constexpr std::uint64_t kCount = sizeof cases / sizeof cases[0];
  return {
      reader.encode, cases[number / 2 % kCount], {0, static_cast<std::uint32_t>(number / 22 * 4)}};
}

const Subject kSubjects[] = {
    {"detess", 44, [](std::uint64_t n) { return special_reader(kDetess, n); }},
    {"detess", kCases, [](std::uint64_t n) { return generated_case(kDetess, n); }},
    {"detesscast", 44, [](std::uint64_t n) { return special_reader(kDetessCast, n); }},
    {"detesscast", kCases, [](std::uint64_t n) { return generated_case(kDetessCast, n); }},
    {"cast", kSpecialCasts, &special_cast},
    {"cast", kCases, &generated_cast},
    {"tess", 10, [](std::uint64_t n) { return special_tiles(kTess, n); }},
    {"tess", kCases, [](std::uint64_t n) { return generated_tiles(kTess, n); }},
    {"casttess", 10, [](std::uint64_t n) { return special_tiles(kCastTess, n); }},
    {"casttess", kCases, [](std::uint64_t n) { return generated_tiles(kCastTess, n); }},
};

Ev74Entry current_entry = nullptr;
std::uint32_t refuse_after = 0;
const Ev74Services* real_services = nullptr;

Ev74Ticket maybe(bool reads, void* context, std::uint32_t worker, const Ev74Transfer* transfer,
                 Ev74Ticket after) {
  if (refuse_after == 0)
    return 0;
  --refuse_after;
  return (reads ? real_services->dma_read : real_services->dma_write)(context, worker, transfer,
                                                                      after);
}

/// The entry with a DMA queue that stops to take transfers.
std::uint32_t with_refused_transfers(const void* packet, std::uint32_t bytes,
                                     const Ev74Services* services) {
  Ev74Services changed = *services;
  real_services = services;
  changed.dma_read = [](void* c, std::uint32_t w, const Ev74Transfer* t, Ev74Ticket a) {
    return maybe(true, c, w, t, a);
  };
  changed.dma_write = [](void* c, std::uint32_t w, const Ev74Transfer* t, Ev74Ticket a) {
    return maybe(false, c, w, t, a);
  };
  return current_entry(packet, bytes, &changed);
}

std::uint32_t without_workers(const void* packet, std::uint32_t bytes, const Ev74Services* s) {
  Ev74Services changed = *s;
  changed.workers = 0;
  return current_entry(packet, bytes, &changed);
}
std::uint32_t with_little_memory(const void* packet, std::uint32_t bytes, const Ev74Services* s) {
  Ev74Services changed = *s;
  changed.local_bytes = 1024;
  return current_entry(packet, bytes, &changed);
}
std::uint32_t with_memory_refused(const void* packet, std::uint32_t bytes, const Ev74Services* s) {
  Ev74Services changed = *s;
  changed.acquire_local = [](void*, std::uint32_t, std::uint32_t) -> void* { return nullptr; };
  return current_entry(packet, bytes, &changed);
}
std::uint32_t with_misaligned_packet(const void* packet, std::uint32_t bytes,
                                     const Ev74Services* s) {
  alignas(8) std::byte copy[256 + 8];
  for (std::uint32_t i = 0; i < bytes; ++i)
    copy[4 + i] = static_cast<const std::byte*>(packet)[i];
  return current_entry(copy + 4, bytes, s);
}

bool found(const std::string& what) {
  std::printf("%s\n", what.c_str());
  return true;
}

/// One status that an entry must return, without a fault and without output.
bool wrong_refusal(DeviceCase& c, Ev74Entry entry, EntryStatus status, const char* what) {
  model::DeviceModel device(immediate(1));
  const bool untouched = c.run_leaves_output(device, entry);
  return (!untouched || c.result().status != status || c.result().fault_count != 0) &&
         found(std::string(what) + ": " + describe(c.result()));
}

bool wrong_refusals(const Subject& subject) {
  DeviceCase c = subject.make(0);
  if (wrong_refusal(c, &without_workers, EntryStatus::NoWorker, "no worker") ||
      wrong_refusal(c, &with_little_memory, EntryStatus::LocalMemory, "little memory") ||
      wrong_refusal(c, &with_memory_refused, EntryStatus::LocalMemory, "no memory") ||
      wrong_refusal(c, &with_misaligned_packet, EntryStatus::MisalignedPacket, "misaligned"))
    return true;
  const auto spoil = [&](std::size_t offset, EntryStatus status) {
    const auto good = c.packet();
    for (std::size_t i = 0; i < 8; ++i)
      c.packet()[offset + i] = std::byte{0};
    const bool wrong = wrong_refusal(c, current_entry, status, "spoiled packet");
    c.packet() = good;
    return wrong;
  };
  return spoil(56, EntryStatus::BadExtent) || spoil(24, EntryStatus::UnboundAddress) ||
         spoil(0, EntryStatus::UnknownMagic);
}

/// After a refused transfer: reported, and everything retired.
bool wrong_abort(const Subject& subject) {
  for (std::uint64_t number = 4; number < 30; number += 5)
    for (std::uint32_t transfers = 0; transfers < 6; ++transfers) {
      DeviceCase c = subject.make(number);
      model::DeviceModel device(deferred(1, number + transfers));
      refuse_after = transfers;
      (void)c.run_leaves_output(device, &with_refused_transfers);
      const model::RunResult& result = c.result();
      const bool reported =
          result.status == EntryStatus::TransferFault || refuse_after != 0 || result.clean();
      if (!reported || result.fault_count != 0)
        return found("after a refused transfer: " + describe(result));
    }
  return false;
}

bool wrong_bytes(const Subject& subject) {
  for (std::uint64_t number = 0; number < subject.cases; ++number) {
    DeviceCase c = subject.make(number);
    for (const std::uint32_t workers : {1U, 3U, 4U}) {
      model::DeviceModel at_once(immediate(workers));
      if (auto result = c.run(at_once, current_entry); !result)
        return found(result.message());
      for (std::uint64_t seed = 0; seed < 2; ++seed) {
        model::DeviceModel late(deferred(workers, number * 2 + seed));
        if (auto result = c.run(late, current_entry); !result)
          return found(result.message());
      }
    }
  }
  return false;
}

int judge(const char* library) {
  void* handle = dlopen(library, RTLD_NOW | RTLD_LOCAL);
  if (handle == nullptr) {
    std::printf("%s\n", dlerror());
    return 2;
  }
  for (const Subject& subject : kSubjects) {
    const std::string symbol = std::string("simaai_kernels_ev74_") + subject.operation + "_v1";
    current_entry = reinterpret_cast<Ev74Entry>(dlsym(handle, symbol.c_str()));
    if (current_entry == nullptr) {
      std::printf("%s is missing\n", symbol.c_str());
      return 2;
    }
    if (wrong_refusals(subject) || wrong_bytes(subject) || wrong_abort(subject))
      return 1;
  }
  return 0;
}

} // namespace
} // namespace simaai::test

int main(int argc, char** argv) {
  if (argc != 2) {
    std::printf("usage: %s LIBRARY\n", argv[0]);
    return 2;
  }
  return simaai::test::judge(argv[1]);
}
