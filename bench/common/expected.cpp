// SPDX-License-Identifier: LGPL-2.1-or-later
// Expected output bytes, from the independent definition of tests/oracle.
#include <algorithm>

#include "candidate.h"
#include "oracle/linear.h"
#include "oracle/numerics.h"
#include "oracle/tiles.h"

namespace simaai::bench {

namespace {

Bytes compute(const Case& bench_case, const std::uint8_t* input, const Bytes& before) {
  const kernels::TensorSpec& from = bench_case.input;
  const kernels::TensorSpec& to = bench_case.output;
  const oracle::Tensor source = is_tiled(from)
                                    ? oracle::untile(Bytes(input, input + bench_case.input_span),
                                                     from.shape, from.dtype, from.layout)
                                    : oracle::gather(input, from.shape, from.dtype, from.layout);
  const oracle::Tensor result = oracle::convert(source, to.dtype);
  Bytes bytes = before;
  if (is_tiled(to)) {
    const Bytes tiles =
        oracle::tile(result, to.layout, {static_cast<std::uint8_t>(bench_case.fill), 0});
    std::copy(tiles.begin(), tiles.end(), bytes.begin());
  } else {
    oracle::scatter(result, to.layout, bytes.data());
  }
  return bytes;
}

/// The last question and its answer: the candidates of a case, hot and cold, ask the same one, and
/// the oracle takes its time.
struct Answer {
  kernels::TensorSpec from;
  kernels::TensorSpec to;
  std::int8_t fill = 0;
  Bytes input;
  Bytes before;
  Bytes expected;
};

} // namespace

Bytes expected_by_contract(const Case& bench_case, const std::uint8_t* input, const Bytes& before) {
  static Answer last;
  if (last.from != bench_case.input || last.to != bench_case.output ||
      last.fill != bench_case.fill || last.before != before ||
      !std::equal(last.input.begin(), last.input.end(), input))
    last = {bench_case.input, bench_case.output,
            bench_case.fill,  Bytes(input, input + bench_case.input_span),
            before,           compute(bench_case, input, before)};
  return last.expected;
}

} // namespace simaai::bench
