// SPDX-License-Identifier: LGPL-2.1-or-later
// Rescale and wire form beside the loops that they are compared with, and the list of all cases.
#include "cases.h"

#include <simaai/kernels/matrix/dyn_matrix.h>

#include "loops.h"
#include "matrix/backends.h"
#include "matrix/reference.h"
#include "product_cases.h"

namespace matrix_bench {
namespace {

namespace km = simaai::kernels::matrix;

struct Rescale {
  Buffer<std::int32_t> sums;
  Buffer<std::int8_t> expected;
  km::Requant requant{38'997'123, 27};
};

Case requantize_case() {
  reference::Random random(7);
  const auto data = std::make_shared<Rescale>();
  for (std::size_t n = 0; n < 256; ++n) {
    data->sums.push_back(random.word() >> 22);
    data->expected.push_back(static_cast<std::int8_t>(reference::requantized(
        data->sums.back(), data->requant.multiplier(), data->requant.shift())));
  }
  std::vector<Candidate> candidates;
  const auto add = [&](std::string name, auto call) {
    const auto out = std::make_shared<Buffer<std::int8_t>>(data->sums.size());
    candidates.push_back(candidate(
        std::move(name), [call, data, out] { call(*data, *out); },
        [data, out] { return *out == data->expected ? Verdict::Exact : Verdict::Inexact; }, true));
  };
  add(kOurs, [](const Rescale& from, Buffer<std::int8_t>& to) {
    km::requantize_into(from.sums, from.requant, to);
  });
  for (const km::detail::Backend* level : km::detail::available_backends())
    add(std::string("level_") + level->name, [level](const Rescale& from, Buffer<std::int8_t>& to) {
      level->requantize(from.sums.data(), from.sums.size(), from.requant, to.data());
    });
  for (const auto& [name, loops] :
       {std::pair("flat", &flat_loops), std::pair("plain", &plain_loops)})
    add(name, [loops = loops](const Rescale& from, Buffer<std::int8_t>& to) {
      loops->requantize(from.sums.data(), to.data(), from.sums.size(), from.requant.multiplier(),
                        from.requant.shift());
    });
  return {"requantize 256", 256, "element", std::move(candidates), data};
}

constexpr std::size_t kRows = 64;
constexpr std::size_t kCols = 256;

struct Wire {
  km::Matrix<kRows, kCols, km::RowMajor> by_rows;
  km::Matrix<kRows, kCols, km::ColMajor> by_cols;
  Buffer<std::uint8_t> stream;
};

std::shared_ptr<Wire> random_wire() {
  reference::Random random(8);
  const reference::Rows rows = random.rows(kRows, kCols);
  const auto wire = std::make_shared<Wire>();
  for (std::size_t row = 0; row < kRows; ++row)
    for (std::size_t col = 0; col < kCols; ++col)
      wire->by_rows.set(row, col, static_cast<std::int8_t>(rows[row][col]));
  wire->by_cols = km::Matrix<kRows, kCols, km::ColMajor>::relocated(wire->by_rows);
  const auto stream = reference::wire(rows);
  wire->stream.assign(stream.begin(), stream.end());
  return wire;
}

Case encode_case() {
  const auto wire = random_wire();
  std::vector<Candidate> candidates;
  const auto add = [&](std::string name, auto call) {
    const auto out = std::make_shared<Buffer<std::uint8_t>>(wire->stream.size());
    candidates.push_back(candidate(
        std::move(name), [call, wire, out] { call(*wire, *out); },
        [wire, out] { return *out == wire->stream ? Verdict::Exact : Verdict::Inexact; }, true));
  };
  using Bytes = Buffer<std::uint8_t>;
  add(kOurs, [](const Wire& from, Bytes& to) {
    (void)from.by_rows.encode(std::as_writable_bytes(std::span(to)));
  });
  add("ours_col_major", [](const Wire& from, Bytes& to) {
    (void)from.by_cols.encode(std::as_writable_bytes(std::span(to)));
  });
  for (const auto& [name, loops] :
       {std::pair("flat", &flat_loops), std::pair("plain", &plain_loops)}) {
    add(name, [loops = loops](const Wire& from, Bytes& to) {
      loops->encode(from.by_rows.storage().data(), to.data(), kRows, kCols, kCols, 1);
    });
    add(std::string(name) + "_col_major", [loops = loops](const Wire& from, Bytes& to) {
      loops->encode(from.by_cols.storage().data(), to.data(), kRows, kCols, 1, kRows);
    });
  }
  return {"wire encode 64x256", kRows * kCols, "element", std::move(candidates), wire};
}

Case decode_case() {
  const auto wire = random_wire();
  std::vector<Candidate> candidates;
  const auto add = [&](std::string name, auto matrix, auto call) {
    const auto out = at_line(matrix);
    candidates.push_back(candidate(
        std::move(name), [call, wire, out] { call(wire->stream, *out); },
        [wire, out] {
          return same_elements(*out, wire->by_rows) ? Verdict::Exact : Verdict::Inexact;
        },
        true));
  };
  const auto ours = [](const Buffer<std::uint8_t>& from, auto& to) {
    (void)km::decode_into(std::as_bytes(std::span(from)), to);
  };
  const km::Matrix<kRows, kCols, km::RowMajor> by_rows;
  const km::Matrix<kRows, kCols, km::ColMajor> by_cols;
  add(kOurs, by_rows, ours);
  add("ours_col_major", by_cols, ours);
  for (const auto& [name, loops] :
       {std::pair("flat", &flat_loops), std::pair("plain", &plain_loops)}) {
    add(name, by_rows, [loops = loops](const Buffer<std::uint8_t>& from, auto& to) {
      (void)loops->decode(from.data(), to.storage_mut().data(), kRows, kCols, kCols, 1);
    });
    add(std::string(name) + "_col_major", by_cols,
        [loops = loops](const Buffer<std::uint8_t>& from, auto& to) {
          (void)loops->decode(from.data(), to.storage_mut().data(), kRows, kCols, 1, kRows);
        });
  }
  return {"wire decode 64x256", kRows * kCols, "element", std::move(candidates), wire};
}

} // namespace

std::vector<std::function<Case()>> all_cases(bool small) {
  std::vector<std::function<Case()>> cases{
      [] { return gemv_case<64, 256>("gemv 64x256"); },
      [] { return gemv_case<1024, 1024>("gemv 1024x1024"); },
      [] { return matmul_case(64); },
      [] { return matmul_case(256); },
      requantize_case,
      encode_case,
      decode_case,
  };
  if (!small)
    cases.insert(cases.begin() + 4, [] { return matmul_case(1024); });
  return cases;
}

} // namespace matrix_bench
