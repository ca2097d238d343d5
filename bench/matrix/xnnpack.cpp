// SPDX-License-Identifier: LGPL-2.1-or-later
// XNNPACK's quantized fully-connected operator, without a thread pool.
#include <cmath>
#include <cstdlib>
#include <memory>

#include <xnnpack.h>

#include "peers.h"

namespace matrix_bench {
namespace {

/// batch x inner elements times a kernel of outputs x inner, rescaled to int8.
class FullyConnected {
public:
  FullyConnected(const Product& product, bool is_gemv) : product_(product) {
    outputs_ = is_gemv ? product.rows : product.cols;
    batch_ = is_gemv ? 1 : product.rows;
    input_ = is_gemv ? product.b : product.a;
    Buffer<std::int8_t> kernel = product.a;
    if (!is_gemv) {
      kernel.resize(product.b.size());
      for (std::size_t k = 0; k < product.inner; ++k)
        for (std::size_t col = 0; col < product.cols; ++col)
          kernel[col * product.inner + k] = product.b[k * product.cols + col];
    }
    input_.resize(input_.size() + XNN_EXTRA_BYTES);
    elements_.resize(product.expected_elements.size());
    const auto scale =
        static_cast<float>(std::ldexp(product.multiplier, -static_cast<int>(product.shift)));
    if (xnn_create_fully_connected_nc_qs8(product.inner, outputs_, product.inner, outputs_, 0,
                                          scale, 1.0F, kernel.data(), nullptr, 0, 1.0F, -128, 127,
                                          0, &operator_) != xnn_status_success ||
        xnn_setup_fully_connected_nc_qs8(operator_, batch_, input_.data(), elements_.data(),
                                         nullptr) != xnn_status_success)
      std::abort();
  }
  ~FullyConnected() { xnn_delete_operator(operator_); }
  FullyConnected(const FullyConnected&) = delete;
  FullyConnected& operator=(const FullyConnected&) = delete;

  void run() { (void)xnn_run_operator(operator_, nullptr); }

  [[nodiscard]] Verdict verdict() const { return verdict_of(product_, elements_); }

private:
  const Product& product_;
  std::size_t outputs_ = 0;
  std::size_t batch_ = 0;
  Buffer<std::int8_t> input_;
  Buffer<std::int8_t> elements_;
  xnn_operator_t operator_ = nullptr;
};

} // namespace

std::vector<Candidate> xnnpack_candidates(const Product& product) {
  if (xnn_initialize(nullptr) != xnn_status_success)
    return {};
  const auto layer = std::make_shared<FullyConnected>(product, product.cols == 1);
  std::vector<Candidate> result;
  result.push_back(candidate(
      kXnnpack, [layer] { layer->run(); }, [layer] { return layer->verdict(); }));
  return result;
}

} // namespace matrix_bench
